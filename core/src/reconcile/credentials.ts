import { z } from 'zod'
import type { SecretBox } from '../platform/secrets/index.ts'
import type { StartInput } from './schema.ts'
import type { SenderCredentials } from './senders/index.ts'

const Sealed = z.union([
  z.object({ sender: z.literal('stripe'), apiKey: z.string() }),
  z.object({ sender: z.literal('github'), token: z.string(), hookUrl: z.string() }),
])

/** The credentials of an input, for a sender; undefined where one is lacking. */
export function credentialsFor(
  sender: SenderCredentials['sender'],
  { apiKey, token, hookUrl }: StartInput['credentials'],
): SenderCredentials | undefined {
  if (sender === 'stripe') return apiKey === undefined ? undefined : { sender, apiKey }
  return token === undefined || hookUrl === undefined ? undefined : { sender, token, hookUrl }
}

/** Credentials as a run stores them. */
export function sealCredentials(box: SecretBox, credentials: SenderCredentials, workspaceId: string): Buffer {
  return box.seal(JSON.stringify(credentials), workspaceId)
}

/** @throws Error when no key of this process sealed them */
export function openCredentials(box: SecretBox, sealed: Uint8Array, workspaceId: string): SenderCredentials {
  return Sealed.parse(JSON.parse(box.open(sealed, workspaceId)))
}
