import { NO_PAYLOAD, queue } from '../platform/queues.ts'
import { sealedTable } from '../platform/secrets/index.ts'

/**
 * Raises alerts about certificates of actions that are about to expire. Singleton; the next run resumes where this
 * one stopped.
 */
export const CERTIFICATE_CHECK = queue({
  name: 'certificates.check',
  payload: NO_PAYLOAD,
  options: { policy: 'singleton', retryLimit: 0, expireInSeconds: 600, deleteAfterSeconds: 3600 },
  cron: '23 * * * *',
})

/** Secrets that the noun stores. */
export const SEALED_ACTIONS = sealedTable('actions', [
  'signingSecret',
  'previousSigningSecret',
  'authSecrets',
  'tlsClientKey',
])
