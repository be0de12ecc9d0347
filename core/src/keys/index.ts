export * from './authenticate.ts'
export { addKey, requireRoomForKey } from './create.ts'
export { fingerprint, isKeyShaped, knownKeys, type NewKey, newKey, randomText } from './key.ts'

export {
  deleteUnusedTokenKeys,
  findKey,
  findTokenKey,
  hasEnded,
  isLive,
  type KeyRow,
  replaceToken,
} from './queries.ts'
export { revokeKeyIn } from './revoke.ts'
