import { z } from 'zod'
import { Timestamp } from '../api/values.ts'
import { KEY_SCOPES } from '../engine/words/index.ts'

const Role = z.enum(['key', 'owner']).meta({
  description: '`key`: may what the key may that it was made with; `owner`: also keys, contacts and sessions',
})

/** A signed-in browser. */
export const Session = z.object({
  id: z.uuid(),
  role: Role,
  keyName: z.string().nullable(),
  userAgent: z.string().nullable(),
  createdAt: Timestamp,
  seenAt: Timestamp.meta({ description: 'Last used, to the minute' }),
  expiresAt: Timestamp,
  isCurrent: z.boolean(),
})

export const CurrentSession = z.object({
  session: z.object({ id: z.uuid(), role: Role }).nullable(),
  key: z.object({ name: z.string(), prefix: z.string() }).nullable(),
  scope: z.enum(KEY_SCOPES).meta({ description: 'Scope of the caller' }),
  endpointId: z.uuid().nullable().meta({ description: 'The one endpoint that the caller sees; null: all' }),
  workspace: z.object({ id: z.uuid(), name: z.string() }),
  plan: z.object({ key: z.string(), displayName: z.string() }),
  limits: z.record(z.string(), z.int()),
  urls: z.object({ baseUrl: z.string(), captureUrl: z.string() }),
})

/** A link that signs a browser in once, until `expiresAt`. */
export const SignInLinkView = z.object({ url: z.string(), expiresAt: Timestamp }).meta({ id: 'SignInLink' })
