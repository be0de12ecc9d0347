import { z } from 'zod'
import { withExample } from '../api/examples.ts'
import { endpointId, namedInput, optional, Timestamp } from '../api/values.ts'
import { COLUMNS_MAX } from '../engine/columns/index.ts'
import { MAX_PATH_LENGTH } from '../engine/conditions/index.ts'
import { networkOf } from '../engine/networks.ts'
import { SIGNATURE_ALGORITHMS, SIGNATURE_ENCODINGS } from '../engine/verification/index.ts'
import { Dedupe } from './dedupe.ts'
import { ANSWER_LIMITS, AnswerFrom, ScriptedResponse } from './responses.ts'
import { DropHeaders, ORIGINAL_HOURS, StoreRules, StoreRulesInput } from './storing.ts'

/** The bounds of an endpoint's members; part of the API. */
const TTL_SECONDS = { min: 60, max: 86_400 } as const

/** The response members of an endpoint that was created without them. */
export const DEFAULT_RESPONSE = {
  responseStatusCode: 200,
  responseContentType: 'application/json',
  responseHeaders: {},
  responseBody: '{"ok":true}',
} as const

const headerToken = z.string().max(100)

/** A CIDR or an address, in its canonical spelling. */
const Network = z
  .string()
  .max(100)
  .transform((text, context) => {
    const network = networkOf(text)
    if (network !== undefined) return network
    context.addIssue({ code: 'custom', message: `"${text}" is not a network or an address.` })
    return z.NEVER
  })

/** Members that create and update share; bounds of the response members are evaluated by responseRules.ts. */
const writable = {
  name: optional(z.string().min(1).max(100)).describe('Shown to people; 1 to 100 characters'),
  isActive: optional(z.boolean()).describe('Off: senders get 404'),
  provider: optional(z.string().max(100)).describe('Slug of the provider catalog; "" for none'),
  responseStatusCode: optional(z.number()).describe('200-299 or 400-599'),
  responseContentType: optional(z.string()),
  responseHeaders: optional(namedInput(z.string())).describe('{} clears'),
  responseBody: optional(z.string()).describe('At most 65536 bytes'),
  responses: optional(z.array(ScriptedResponse).max(ANSWER_LIMITS.responsesMax)).describe(
    'Answers in place of the endpoint’s own: the first whose `when` holds and that has `times` left. [] clears. Another list starts its counts from 0',
  ),
  answerFrom: AnswerFrom.nullish().describe(
    'The receiver of this action answers the sender, by its first attempt, if no response does; null, the default, lets the endpoint answer',
  ),
  signingSecret: optional(z.string().max(8192)).describe(
    'Write-only; "" clears. For rsa and ed25519: the public key',
  ),
  handshakeToken: optional(z.string().max(512)).describe('Write-only; "" clears'),
  signatureHeader: optional(headerToken).describe('Makes the scheme manual; "" goes back to the preset'),
  signatureAlgorithm: optional(z.enum([...SIGNATURE_ALGORITHMS, ''])).describe(
    'Hash of a manual scheme; "" is the default, sha256',
  ),
  signatureEncoding: optional(z.enum([...SIGNATURE_ENCODINGS, ''])).describe(
    'Encoding of a manual scheme; "" is the default, hex',
  ),
  signaturePrefix: optional(z.string().max(32)),
  eventIdPath: optional(z.string().max(MAX_PATH_LENGTH * 2)).describe(
    'Path of the event id, such as `body.data.id`, `headers.x-event-id` or `query.id`; "" restores the path of the provider',
  ),
  columns: optional(z.array(z.string().max(MAX_PATH_LENGTH)).max(COLUMNS_MAX)).describe(
    'Paths of values in the body, such as `body.data.amount`, which lists of requests show as `columns`; [] clears. The newest 100 stored requests get the values of new paths at once',
  ),
  dedupe: Dedupe.nullish().describe(
    'Marks, skips or discards an event that its sender sends again; null, the default, captures it each time',
  ),
  rejectUnverified: optional(z.boolean()).describe(
    'Captures that are not `verified` are answered 401 and not stored; needs verification to be set up',
  ),
  allowRehearsal: optional(z.boolean()).describe(
    'Whether replays of many requests may be started; default true',
  ),
  allowCors: optional(z.boolean()).describe(
    'Lets pages of any origin send and read the answers: a CORS preflight is answered 204 and not captured, and every answer has `Access-Control-Allow-Origin: *` unless `responseHeaders` set another; default false',
  ),
  allowedSenders: optional(z.array(Network).max(100)).describe(
    'Networks (CIDR) or addresses; captures from elsewhere are answered 403 and not stored. [] clears',
  ),
  storeRules: optional(StoreRulesInput),
  dropHeaders: optional(DropHeaders).describe(
    'Names of headers that are not stored, like `Authorization`; [] clears',
  ),
  forwardOriginal: optional(z.boolean()).describe(
    'Forwards send the original although less is stored: it is kept, sealed, until its deliveries have ended, or for `originalHours`. Needs `storeRules`, `dropHeaders` or `encryptBodies`',
  ),
  encryptBodies: optional(z.boolean()).describe(
    'Path, query, header values and body of captures, and whatever repeats them, are encrypted at rest with a key of the endpoint, which `…/shred` destroys. Searches of text do not find them: use method, label, event id and the other filters. Requests that are stored already are encrypted in the background',
  ),
  originalHours: z
    .int()
    .min(ORIGINAL_HOURS.min)
    .max(ORIGINAL_HOURS.max)
    .nullish()
    .describe(
      `With \`forwardOriginal\`: hours after which the original is gone at the latest; default ${ORIGINAL_HOURS.default}`,
    ),
  forwardUrl: optional(z.string().max(2048)).meta({
    deprecated: true,
    description: 'URL of the first forward action; "" deletes it',
  }),
  forwardingEnabled: optional(z.boolean()).meta({
    deprecated: true,
    description: 'Switches the first forward action',
  }),
  forwardSigningSecret: optional(z.string().max(512)).meta({
    deprecated: true,
    description: 'Write-only; "" stops signing',
  }),
}

/** Input of the create route. No member is required; `ttlSeconds` can be set here only. */
export const createInput = z.object({
  ...writable,
  ttlSeconds: optional(z.int().min(TTL_SECONDS.min).max(TTL_SECONDS.max)).describe('Makes it ephemeral'),
})

/** Bounds for the time for which a replaced capture URL works. */
const OVERLAP_SECONDS = { max: 2_592_000, default: 86_400 } as const

export const rotateUrlInput = z.object({
  endpointId,
  overlapSeconds: z
    .int()
    .min(0)
    .max(OVERLAP_SECONDS.max)
    .default(OVERLAP_SECONDS.default)
    .describe('Seconds that the old URL keeps working; 0 ends it at once'),
})

/** Input of the update route. An absent member does not change. */
export const updateInput = z.object({
  endpointId: z.string(),
  ...writable,
  ttlSeconds: z.unknown().optional().describe('Not allowed: the lifetime is set on create'),
})

export type CreateInput = z.output<typeof createInput>
export type UpdateInput = z.output<typeof updateInput>

const Verification = z.object({
  source: z.enum(['none', 'preset', 'manual']),
  scheme: z.string().nullable(),
  family: z.string().nullable(),
  secretLabel: z.string().nullable(),
  secretSet: z.boolean(),
  secretSetAt: Timestamp.nullable(),
  handshakeTokenSet: z.boolean(),
  handshakeTokenNeeded: z.boolean(),
  manual: z
    .object({ header: z.string(), algorithm: z.string(), encoding: z.string(), prefix: z.string() })
    .nullable(),
})

export const Endpoint = withExample(
  'Endpoint',
  z.object({
    id: z.uuid(),
    name: z.string(),
    url: z.url(),
    isActive: z.boolean(),
    suspendedByPlan: z.boolean(),
    createdAt: Timestamp,
    lastRequestAt: Timestamp.nullable(),
    expiresAt: Timestamp.nullable(),
    expired: z.boolean().describe('Past `expiresAt`: senders get 404; swept some minutes later'),
    storedRequestCount: z.int(),
    responseStatusCode: z.int(),
    responseContentType: z.string(),
    responseHeaders: z.record(z.string(), z.string()),
    responseBody: z.string(),
    responses: z.array(
      ScriptedResponse.extend({
        used: z.int().nullable().describe('Answers given so far; null without `times`'),
      }).meta({ id: 'ScriptedResponse' }),
    ),
    answerFrom: AnswerFrom.meta({ id: 'AnswerFrom' }).nullable(),
    provider: z.string().nullable(),
    eventIdPath: z.string().nullable().describe('Null: the path of the provider'),
    columns: z.array(z.string()).describe('Paths whose values lists of requests show'),
    dedupe: Dedupe.meta({ id: 'Dedupe' })
      .nullable()
      .describe('Null: every event is captured each time that it comes'),
    rejectUnverified: z.boolean(),
    allowRehearsal: z.boolean(),
    allowCors: z.boolean(),
    allowedSenders: z.array(z.string()),
    storeRules: StoreRules,
    dropHeaders: z.array(z.string()),
    forwardOriginal: z.boolean(),
    encryptBodies: z.boolean(),
    originalHours: z.int().nullable().describe('Null: the default'),
    warnings: z
      .array(z.string())
      .optional()
      .describe(
        'Only in the answer to a change: what reads a value that is taken out before it is stored. It still works when a request is captured',
      ),
    forwardingEnabled: z.boolean().meta({ deprecated: true }),
    forwardUrl: z.string().nullable().meta({ deprecated: true }),
    forwardSigning: z.object({ signed: z.boolean(), setAt: Timestamp.nullable() }).meta({ deprecated: true }),
    verification: Verification,
    previousUrlUntil: Timestamp.nullable().describe(
      'Until this time the previous capture URL keeps working; null: it does not',
    ),
  }),
)
