import { sweepQueue } from '../platform/queues.ts'
import { type SecretBox, sealedTable } from '../platform/secrets/index.ts'

/**
 * Raises alerts about certificates of actions that are about to expire. Singleton; the next run resumes where this
 * one stopped.
 */
export const CERTIFICATE_CHECK = sweepQueue('certificates.check', 600, '23 * * * *')

/** The box that seals the secrets of an action, and the time at which they are set. */
export interface Sealing {
  readonly secrets: SecretBox
  readonly workspaceId: string
  readonly now: Date
}

/** Secrets that the noun stores. */
export const SEALED_ACTIONS = sealedTable('actions', [
  'signingSecret',
  'previousSigningSecret',
  'authSecrets',
  'tlsClientKey',
])
