export {
  authenticate,
  isHere,
  isLive,
  type Presented,
  recheckKey,
  requireApi,
  requireHere,
} from './authenticate.ts'
export { fingerprint, type NewKey, newKey } from './key.ts'
export { knownKeys } from './knownKeys.ts'
