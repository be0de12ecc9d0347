import { z } from 'zod'
import { InstantInput, optional, Timestamp } from '../api/values.ts'
import { networkOf } from '../engine/networks.ts'
import { KEY_KINDS, KEY_SCOPES } from '../engine/words/index.ts'

/** Time for which a replaced key stays valid: a day by default, 30 days at most. */
const OVERLAP_SECONDS = { default: 86_400, max: 2_592_000 } as const

const NETWORKS_MAX = 50

const Scope = z
  .enum(KEY_SCOPES)
  .describe('`read` reads, `write` also changes, `admin` also manages keys and reads the audit log')

/** A key as its workspace and operators see it, without the key itself. */
export const ApiKey = z.object({
  id: z.uuid(),
  name: z.string(),
  prefix: z.string(),
  scope: Scope,
  endpointId: z.uuid().nullable().describe('The endpoint that the key is limited to; null: none'),
  allowedNetworks: z.array(z.string()).nullable().describe('CIDRs that may use the key; null: all'),
  createdAt: Timestamp,
  expiresAt: Timestamp.nullable().describe('Expiry of the key; null: never'),
  revokedAt: Timestamp.nullable(),
  lastUsedAt: Timestamp.nullable().describe('To the minute; null for never'),
  replacedById: z.uuid().nullable().describe('The key that replaced it by rotation'),
  kind: z
    .enum(KEY_KINDS)
    .describe('`key`: made by its owner; `oauth`: of an agent that signed in, for `/mcp` only'),
  clientId: z
    .string()
    .nullable()
    .describe("URL of the agent's client metadata document; null for the kind `key`"),
})

/** The only answer to an operator that contains the whole key. */
export const CreatedKey = z.object({
  key: z.string(),
  prefix: z.string(),
  name: z.string(),
  scope: Scope,
  endpointId: z.uuid().nullable(),
  expiresAt: Timestamp.nullable(),
})

/** The only answer of the API that contains the whole key, with its id. */
export const NewApiKey = ApiKey.omit({ revokedAt: true, lastUsedAt: true, replacedById: true }).extend({
  key: z.string().describe('The key itself, shown only once'),
})

/** Name of a key: trimmed, 1 to 100 characters. */
const KeyName = z.string().trim().min(1).max(100)

/** An operator's reference to a key: its id or its prefix. */
export const KeyReference = z.string().trim().min(1).max(100)

const Network = z
  .string()
  .trim()
  .max(64)
  .transform((text, context) => {
    const network = networkOf(text)
    if (network !== undefined) return network
    context.addIssue({
      code: 'custom',
      params: { code: 'bad_format' },
      message: 'The value must be a CIDR or an address, like 203.0.113.0/24 or 2001:db8::1.',
    })
    return z.NEVER
  })

const Networks = z.array(Network).min(1).max(NETWORKS_MAX)

export const createInput = z.object({
  name: KeyName,
  scope: optional(Scope).describe('Default `admin`'),
  endpointId: optional(z.guid().toLowerCase()).describe('Limits the key to this endpoint; not for `admin`'),
  expiresAt: optional(InstantInput).describe('Expiry of the key; default never'),
  allowedNetworks: optional(Networks).describe('CIDRs and addresses that may use the key; default all'),
})

/** Changeable members of a key; `null` removes a limit. */
export const updateMembers = {
  name: optional(KeyName),
  expiresAt: InstantInput.nullable().optional().describe('Null: never'),
  allowedNetworks: Networks.nullable().optional().describe('Null: from anywhere'),
}

export const rotateMembers = {
  overlapSeconds: z
    .int()
    .min(0)
    .max(OVERLAP_SECONDS.max)
    .default(OVERLAP_SECONDS.default)
    .describe('Seconds that the old key keeps working, unless it expires before'),
  expiresAt: optional(InstantInput).describe('Expiry of the new key; default never'),
}
