export { authenticate, recheckKey, requireApi } from './authenticate.ts'
export { fingerprint, KEY_PREFIX, type NewKey, newKey } from './key.ts'
export { knownKeys } from './knownKeys.ts'
