export * from './authenticate.ts'
export { addKey, requireRoomForKey } from './create.ts'
export { isKeyShaped, knownKeys, type NewKey, newKey, randomText } from './key.ts'

export {
  deleteUnusedTokenKeys,
  findKey,
  findLiveKey,
  findTokenKey,
  isLive,
  type KeyRow,
  liveKeys,
  replaceToken,
} from './queries.ts'
export { revokeKeyIn } from './revoke.ts'
