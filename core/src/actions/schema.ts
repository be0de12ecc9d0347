import { z } from 'zod'
import { optional, Timestamp } from '../api/values.ts'
import { DeliveryPolicy } from '../deliveries/index.ts'
import { ConditionDocument } from '../engine/conditions/index.ts'
import { SIGNING_SCHEMES } from '../engine/signing/index.ts'
import { Auth, AuthInput } from './auth.ts'
import { Tls, TlsInput } from './tls.ts'

/** Every kind of action, whether or not a plan has it. */
export const ACTION_KINDS = ['forward', 'notify'] as const

export type ActionKind = (typeof ACTION_KINDS)[number]

/** Bounds of a signing secret; '' stops signing. */
export const SIGNING_SECRET = { min: 16, max: 512 } as const

/** A write-only signing secret: '' or 16 to 512 characters. */
const signingSecretInput = z
  .string()
  .max(SIGNING_SECRET.max)
  .refine((secret) => secret === '' || [...secret].length >= SIGNING_SECRET.min, {
    params: { code: 'too_short' },
    message: `A signing secret has at least ${SIGNING_SECRET.min} characters.`,
  })

const writable = {
  name: optional(z.string().min(1).max(100)).describe(
    'Shown to people; default the host of `url`, or the name of the channel',
  ),
  isActive: optional(z.boolean()).describe('Default true'),
  condition: ConditionDocument.optional().describe('When it runs; `{}` = always, which is the default'),
  position: optional(z.int().min(1)).describe('1-based; default last. Others move to make room'),
  url: optional(z.string()).describe('forward: where to, http or https'),
  appendPath: optional(z.boolean()).describe(
    'forward: the captured path after `/hook/{id}` follows the path of `url`; default false',
  ),
  appendQuery: optional(z.boolean()).describe(
    'forward: the captured query follows the query of `url`; default false',
  ),
  signingSecret: optional(signingSecretInput).describe(
    'forward; write-only. 16 to 512 characters, "" stops signing',
  ),
  signing: optional(z.object({ scheme: optional(z.enum(SIGNING_SCHEMES)) })).describe(
    'forward: how it signs; its secret is `signingSecret`. Default `creel`',
  ),
  auth: AuthInput,
  tls: TlsInput,
  delivery: DeliveryPolicy.nullish().describe(
    'forward: delivery policy; null = the defaults of the installation, which is the default',
  ),
  alertChannelId: optional(z.string().toLowerCase()).meta({
    format: 'uuid',
    description: 'notify: the channel to notify',
  }),
  messageTemplate: optional(z.string().min(1)).describe(
    'notify: text with placeholders like `{{ body.id }}`, 1 to 4000 characters',
  ),
}

/** Input of the create route. The members that each kind needs are checked after parsing. */
export const createInput = z.object({
  endpointId: z.string(),
  kind: z.string().describe('One of `options.kinds`'),
  ...writable,
})

/** Input of the update route. An absent member does not change. */
export const updateInput = z.object({
  endpointId: z.string(),
  actionId: z.string(),
  kind: optional(z.string()).describe('Cannot change'),
  ...writable,
})

/** {@link createInput} after parsing. */
export type CreateInput = z.output<typeof createInput>
/** {@link updateInput} after parsing. */
export type UpdateInput = z.output<typeof updateInput>

/** An action in the API. No member has its secrets. */
export const Action = z
  .object({
    id: z.uuid(),
    kind: z.string(),
    name: z.string(),
    position: z.int(),
    url: z.string().nullable(),
    appendPath: z.boolean().describe('Always false for notify'),
    appendQuery: z.boolean().describe('Always false for notify'),
    isActive: z.boolean(),
    suspendedByPlan: z.boolean(),
    condition: ConditionDocument.describe('As it was written; `{}` = always'),
    conditionDescription: z.string(),
    signing: z.object({
      scheme: z.enum(SIGNING_SCHEMES),
      signed: z.boolean(),
      setAt: Timestamp.nullable().describe('When the secret or its scheme was set'),
    }),
    auth: Auth.describe('Credentials for the receiver; `none` for notify'),
    tls: Tls.nullable().describe('Null without any, and for notify'),
    pausedAt: Timestamp.nullable().describe('Start of the pause; null = not paused'),
    delivery: DeliveryPolicy.meta({ id: 'DeliveryPolicy' })
      .nullable()
      .describe('Null = the defaults of the installation, and for notify'),
    ruleCount: z.int(),
    alertChannelId: z.uuid().nullable(),
    alertChannelName: z.string().nullable(),
    messageTemplate: z.string().nullable(),
    channelUnavailable: z.boolean(),
    apiRequestId: z.null().describe('Always null in v1'),
    apiRequestName: z.null().describe('Always null in v1'),
    slotMapping: z.record(z.string(), z.string()).describe('Always {} in v1'),
    requestUnavailable: z.boolean().describe('Always false in v1'),
    warnings: z
      .array(z.string())
      .optional()
      .describe(
        'Only in the answer to a change, if the action reads what the endpoint takes out before storing. It still works when a request is captured',
      ),
  })
  .meta({ id: 'Action' })

/** The list of an endpoint's actions, and the options for new ones. */
export const ActionList = z
  .object({
    actions: z.array(Action),
    limit: z.int().describe('Actions of all kinds that the plan has room for'),
    canAddMore: z.boolean(),
    options: z.object({
      kinds: z.array(z.enum(ACTION_KINDS)),
      channels: z.array(
        z.object({
          id: z.uuid(),
          name: z.string(),
          kind: z.string(),
          isEnabled: z.boolean(),
          isConfigured: z.boolean(),
        }),
      ),
      canCreateChannel: z.boolean(),
      planName: z.string(),
    }),
  })
  .meta({ id: 'ActionList' })
