import { z } from 'zod'
import { byName, endpointId, Int64Filter, optional, Timestamp } from '../api/values.ts'
import { FAULT_CODES, ruleJsonSchema, STEP_OPS } from '../engine/rules/index.ts'
import { DecodedBody } from '../requests/index.ts'

/**
 * A rule document in inputs and outputs. It is described by the schema of the rule language, which also decodes it;
 * `/api/v1/transformations/schema` serves the same schema.
 */
const { $schema: _dialect, ...language } = ruleJsonSchema()
const document = z.unknown().meta({ ...language, id: 'TransformationRule' })

export const TransformationRuleView = z
  .object({
    id: z.uuid(),
    position: z.int().describe('1-based; rules run in this order'),
    name: z.string(),
    enabled: z.boolean(),
    disabledReason: z.string().nullable().describe('Set when the service switched the rule off'),
    holdsDeliveries: z
      .boolean()
      .describe(
        'The service switched off a rule that removes data. Deliveries wait until the rule is fixed, enabled or deleted',
      ),
    condition: z.string().describe('`when` in words; "Always" when it has none'),
    rule: document,
    version: z.int().describe('A new rule is version 1'),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'TransformationRuleView' })

/** Output of the singular routes: the first rule of the set. */
export const FirstTransformationRule = TransformationRuleView.extend({
  ruleId: z.uuid().describe('The same as `id`'),
  ruleCount: z.int().describe('Rules of the set'),
}).meta({ id: 'FirstTransformationRule' })

export const TransformationSet = z
  .object({
    endpointId: z.uuid(),
    destinationId: z.uuid().nullable().describe('The forward action; null when there is none'),
    destinationUrl: z.string().nullable(),
    rules: z.array(TransformationRuleView),
    maxRules: z.int(),
    featureInPlan: z.boolean(),
    schemaUrl: z.string(),
  })
  .meta({ id: 'TransformationSet' })

/** The versions of a rule, newest first; `restoredFrom` is the number of the restored version. */
export const RuleVersions = z.object({
  items: z.array(
    z.object({
      version: z.int(),
      rule: document,
      createdAt: Timestamp,
      restoredFrom: z.int().nullable(),
    }),
  ),
})

const fault = z.object({ stepIndex: z.int(), code: z.enum(FAULT_CODES), detail: z.string() })

/** Result of rules on a request, step by step; nothing was saved or sent. */
export const TransformationPreview = z
  .object({
    matched: z.boolean().describe('Whether some rule applied'),
    faulted: z.boolean(),
    note: z.string(),
    rules: z.array(
      z.object({
        ruleId: z.uuid().nullable(),
        name: z.string(),
        version: z.int().nullable(),
        matched: z.boolean(),
        note: z.string().nullable().describe('Lists the paths of `when` that this request does not have'),
        steps: z.array(
          z.object({
            index: z.int(),
            op: z.enum(STEP_OPS),
            changed: z.boolean(),
            note: z.string().nullable(),
          }),
        ),
        fault: fault.nullable(),
      }),
    ),
    output: z
      .object({
        method: z.string(),
        headers: byName(z.string()),
        body: z.string().nullable(),
        bodyIsBinary: z.boolean().describe('Then `body` is base64'),
        decodedBody: DecodedBody.describe(
          'The body as it is read, if no rule changed an encoded one. Null for others',
        ),
        contentType: z.string().nullable(),
      })
      .nullable()
      .describe('Null when a rule faulted: nothing would be sent'),
  })
  .meta({ id: 'TransformationPreview' })

const ruleId = z.string().meta({ format: 'uuid', description: 'Id of the rule' })

/** The destination; by default the first forward action by position. */
const actionId = optional(z.guid()).describe(
  'A forward action of the endpoint; default the first by position',
)

/** In a sample null is a JSON value, so its members may be absent but not null. */
const madeUpRequest = z
  .object({
    method: z.string().min(1).max(32).default('POST'),
    headers: z.record(z.string(), z.string()).default({}),
    query: z.record(z.string(), z.union([z.string(), z.array(z.string())])).default({}),
    path: z.string().default(''),
    body: z.unknown().optional().describe('Text, or any JSON value, which is then serialised'),
    bodyIsBinary: z.boolean().default(false).describe('Then `body` is base64'),
    contentType: z.string().optional(),
  })
  .describe('A sample request for the preview; a value without these members is its body')

/** A made-up request after parsing, defaults filled in. */
export type Sample = z.output<typeof madeUpRequest>

/** A value without any member of a request is the body itself; null counts as absent. */
const sample = z
  .preprocess(
    (value) => (isMadeUpRequest(value) ? (value ?? undefined) : { body: value }),
    madeUpRequest.optional(),
  )
  .meta(withoutDialect(z.toJSONSchema(madeUpRequest, { io: 'input', unrepresentable: 'any' })))

function isMadeUpRequest(value: unknown): boolean {
  if (value === undefined || value === null) return true
  return (
    typeof value === 'object' && Object.keys(madeUpRequest.shape).some((name) => Object.hasOwn(value, name))
  )
}

function withoutDialect({ $schema: _dialect, ...schema }: z.core.JSONSchema.BaseSchema) {
  return schema
}

const requestId = optional(Int64Filter).describe('A stored request of the endpoint')

export const previewedRequestInput = { sample: sample.optional(), requestId }

export const setInput = z.object({ endpointId, actionId })
export const ruleInput = z.object({ endpointId, ruleId, actionId })
/** Input of the create route; the document is checked by the decoder of rules. */
export const createInput = z.object({ endpointId, actionId, rule: document })
/** Input of the update route; absent members are unchanged. */
export const updateInput = z.object({
  endpointId,
  ruleId,
  actionId,
  rule: document.optional(),
  enabled: optional(z.boolean()),
})
export const updateFirstInput = updateInput.omit({ ruleId: true })
/** Input of the order route; an order with missing or repeated rules is refused. */
export const orderInput = z.object({
  endpointId,
  actionId,
  order: z.array(z.string()).describe('Every rule id of the set exactly once'),
})
/** Input of the restore route: restores version `n` as a new version. */
export const restoreInput = z.object({
  endpointId,
  ruleId,
  n: z.int().describe('Version'),
  actionId,
})
export const previewInput = z.object({
  rule: document,
  endpointId: optional(z.guid()).describe('With `requestId`'),
  ...previewedRequestInput,
})
export const previewSetInput = z.object({
  endpointId,
  actionId,
  rules: optional(z.array(z.unknown())).describe(
    'Documents, or {"ruleId":…} for saved ones; left out, the saved rules that are enabled',
  ),
  ...previewedRequestInput,
})
