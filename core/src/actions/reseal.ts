import { sealedTable } from '../platform/secrets/index.ts'

/** Secrets that the noun stores. */
export const SEALED_ACTIONS = sealedTable('actions', [
  'signingSecret',
  'previousSigningSecret',
  'authSecrets',
  'tlsClientKey',
])
