import { sweepQueue } from '../platform/queues.ts'
import { sealedTable } from '../platform/secrets/index.ts'

/**
 * Raises alerts about certificates of actions that are about to expire. Singleton; the next run resumes where this
 * one stopped.
 */
export const CERTIFICATE_CHECK = sweepQueue('certificates.check', 600, '23 * * * *')

/** Secrets that the noun stores. */
export const SEALED_ACTIONS = sealedTable('actions', [
  'signingSecret',
  'previousSigningSecret',
  'authSecrets',
  'tlsClientKey',
])
