import { z } from 'zod'
import type { Context } from '../api/context.ts'
import { EXAMPLE_IDS } from '../api/examples.ts'
import { requireFeature } from '../api/planGates.ts'
import { get, post, put, remove, router } from '../api/route.ts'
import { findsNamedEndpoint } from '../endpoints/index.ts'
import type { InputIssue } from '../engine/issues.ts'
import { ruleJsonSchema } from '../engine/rules/index.ts'
import { findsFirstRule, findsFirstRuleToWrite, findsRule, findsSet, findsVersion } from './find.ts'
import { firstRuleView, ruleView, setView, versionsView } from './outcomes.ts'
import { issuesOfRules, preview, rulesToPreview } from './preview.ts'
import { findDestination, listVersions } from './queries.ts'
import { issuesOfSource, previewRequest } from './sample.ts'
import {
  changeRule,
  createRule,
  documentOf,
  firstRuleOf,
  issuesOfChanges,
  issuesOfDocument,
  orderRules,
  removeRule,
  restoreVersion,
} from './save.ts'
import {
  createInput,
  FirstTransformationRule,
  orderInput,
  previewInput,
  previewSetInput,
  RuleVersions,
  restoreInput,
  ruleInput,
  setInput,
  TransformationPreview,
  TransformationRuleView,
  TransformationSet,
  updateFirstInput,
  updateInput,
} from './schema.ts'

const gate = (ctx: Context) => requireFeature(ctx.plan, 'transformations')

const SET_WORDS =
  'Rules belong to a forward action: the one that `actionId` names, or the first by position. Moving actions changes which set is meant.'

const EXAMPLE_RULE = {
  version: 1,
  name: 'Slim',
  when: { all: [{ path: 'body.type', op: 'startsWith', value: 'invoice.' }] },
  steps: [
    { op: 'keep', paths: ['body.id', 'body.data.amount'] },
    { op: 'redact', paths: ['headers.Authorization'], with: '***' },
  ],
}

const EXAMPLE_SAMPLE = {
  headers: { 'Content-Type': 'application/json' },
  body: '{"id":"evt_1","type":"invoice.paid","data":{"amount":12.5}}',
}

/** Declared by both routes that add a rule. */
const CREATION = {
  input: createInput,
  body: 'rule',
  query: ['actionId'],
  example: { rule: EXAMPLE_RULE },
  status: 201,
  errors: ['feature_not_in_plan', 'limit_reached', 'no_destination'],
  finds: findsSet,
  gate,
  check: (ctx: Context, { rule }: { readonly rule?: unknown }) => issuesOfDocument(ctx, rule, 'body'),
} as const

/** Routes of rules: the sets of destinations, their rules, versions and previews. */
export const transformationRoutes = router({
  getSet: get('/api/v1/endpoints/{endpointId}/transformations', {
    summary: 'Read the rules of a destination, in the order they run',
    description: SET_WORDS,
    input: setInput,
    output: TransformationSet,
    finds: findsSet,
  }).query(({ ctx }) => setView(ctx, ctx)),

  create: post('/api/v1/endpoints/{endpointId}/transformations', {
    summary: 'Add a rule; it runs last',
    tool: {
      name: 'save_rule',
      title: 'Save a transformation rule',
      description:
        'Adds a rule to an endpoint; it changes the requests that are forwarded from now on. Preview it first.',
      effect: 'adds',
      members: ['endpointId', 'rule'],
    },
    description: `${SET_WORDS} The new rule is version 1 and enabled.`,
    ...CREATION,
    output: TransformationRuleView,
  }).mutation(async ({ ctx, input }) => ruleView(await createRule(ctx, ctx, input.rule, 'body'))),

  order: put('/api/v1/endpoints/{endpointId}/transformations/order', {
    summary: 'Put the rules of a destination in another order',
    input: orderInput,
    query: ['actionId'],
    example: { order: [EXAMPLE_IDS.rule] },
    output: TransformationSet,
    errors: ['no_destination'],
    finds: findsSet,
  }).mutation(async ({ ctx, input }) => {
    await orderRules(ctx, ctx, input.order)
    return await setView(ctx, ctx)
  }),

  previewSet: post('/api/v1/endpoints/{endpointId}/transformations/preview-set', {
    summary: 'Try a set of rules on a sample or a stored request',
    description:
      'Without `rules`, the saved rules that are enabled. Nothing is saved or sent; a fault is a 200. A signing secret is replaced by a dummy.',
    input: previewSetInput,
    scope: 'read',
    query: ['actionId'],
    example: { sample: EXAMPLE_SAMPLE },
    output: TransformationPreview,
    errors: ['no_destination', 'shredded'],
    finds: findsSet,
    check: async (ctx, input) => [
      ...issuesOfSource(input, true),
      ...(await issuesOfRules(ctx, ctx, input.rules)),
    ],
  }).mutation(async ({ ctx, input }) => {
    const rules = await rulesToPreview(ctx, ctx, input.rules)
    return await preview(ctx, rules, () => previewRequest(ctx, input, ctx.endpoint, ctx.destination))
  }),

  get: get('/api/v1/endpoints/{endpointId}/transformations/{ruleId}', {
    summary: 'Read a rule',
    input: ruleInput,
    output: TransformationRuleView,
    finds: findsRule,
  }).query(({ ctx }) => ruleView(ctx.rule)),

  update: put('/api/v1/endpoints/{endpointId}/transformations/{ruleId}', {
    summary: 'Save a new version of a rule, switch it on or off, or both',
    description:
      'An unchanged document creates no new version. Switching on clears `disabledReason`; a new document alone does not switch on.',
    input: updateInput,
    query: ['actionId'],
    example: { enabled: false },
    output: TransformationRuleView,
    errors: ['feature_not_in_plan', 'limit_reached'],
    finds: findsRule,
    check: (ctx, input) => issuesOfChanges(ctx, input),
  }).mutation(async ({ ctx, input }) => ruleView(await changeRule(ctx, ctx.rule, input))),

  remove: remove('/api/v1/endpoints/{endpointId}/transformations/{ruleId}', {
    summary: 'Delete a rule with its versions; those after it move up',
    input: ruleInput,
    output: z.null(),
    finds: findsRule,
  }).mutation(async ({ ctx }) => {
    await removeRule(ctx, ctx.rule)
    return null
  }),

  versions: get('/api/v1/endpoints/{endpointId}/transformations/{ruleId}/versions', {
    summary: 'List every version of a rule, newest first',
    input: ruleInput,
    output: RuleVersions,
    finds: findsRule,
  }).query(async ({ ctx }) => versionsView(await listVersions(ctx.db, ctx.rule.id))),

  restore: post('/api/v1/endpoints/{endpointId}/transformations/{ruleId}/versions/{n}/restore', {
    summary: 'Restore an old version of a rule, as a new version',
    description:
      'History is never rewritten: every restore creates a version, also for a document equal to the current one.',
    input: restoreInput,
    query: ['actionId'],
    output: TransformationRuleView,
    errors: ['feature_not_in_plan', 'limit_reached'],
    finds: findsVersion,
    gate,
  }).mutation(async ({ ctx }) => ruleView(await restoreVersion(ctx, ctx.rule, ctx.restored))),

  getFirst: get('/api/v1/endpoints/{endpointId}/transformation', {
    summary: 'Read the first rule of a destination',
    input: setInput,
    output: FirstTransformationRule,
    finds: findsFirstRule,
  }).query(({ ctx }) => firstRuleView(ctx, ctx.rule)),

  createFirst: post('/api/v1/endpoints/{endpointId}/transformation', {
    summary: 'Add a rule, like POST on the set',
    ...CREATION,
    output: FirstTransformationRule,
  }).mutation(async ({ ctx, input }) => firstRuleView(ctx, await createRule(ctx, ctx, input.rule, 'body'))),

  updateFirst: put('/api/v1/endpoints/{endpointId}/transformation', {
    summary: 'Change the first rule of a destination, like PUT on it',
    input: updateFirstInput,
    query: ['actionId'],
    example: { enabled: false },
    output: FirstTransformationRule,
    errors: ['feature_not_in_plan', 'limit_reached', 'no_destination'],
    finds: findsFirstRuleToWrite,
    check: (ctx, input) => issuesOfChanges(ctx, input),
  }).mutation(async ({ ctx, input }) => firstRuleView(ctx, await changeRule(ctx, firstRuleOf(ctx), input))),

  removeFirst: remove('/api/v1/endpoints/{endpointId}/transformation', {
    summary: 'Delete the first rule of a destination',
    input: setInput,
    output: z.null(),
    errors: ['no_destination'],
    finds: findsFirstRuleToWrite,
  }).mutation(async ({ ctx }) => {
    await removeRule(ctx, firstRuleOf(ctx))
    return null
  }),

  schema: get('/api/v1/transformations/schema', {
    summary: 'Read the JSON Schema 2020-12 of rule documents',
    tool: {
      name: 'rule_schema',
      title: 'Read the grammar of rules',
      description: 'The JSON Schema of transformation rules and their conditions.',
      effect: 'reads',
    },
    description:
      'Saving and preview also check rules that the schema cannot express: arity, bytes, places of secrets.',
    input: z.object({}),
    narrows: true,
    output: z.record(z.string(), z.unknown()),
    contentType: 'application/schema+json',
  }).query(() => ruleJsonSchema()),

  preview: post('/api/v1/transformations/preview', {
    summary: 'Try one rule on a sample or a stored request',
    tool: {
      name: 'preview_rule',
      title: 'Preview a transformation rule',
      description:
        'Shows the result of a transformation rule on a captured request. Saves nothing. Read the grammar with rule_schema.',
      effect: 'reads',
      quotesRequest: true,
      members: ['endpointId', 'requestId', 'rule'],
    },
    description: 'Nothing is saved or sent; a fault is a 200. A signing secret is replaced by a dummy.',
    input: previewInput,
    scope: 'read',
    example: { rule: EXAMPLE_RULE, sample: EXAMPLE_SAMPLE },
    output: TransformationPreview,
    errors: ['not_found', 'shredded'],
    finds: findsNamedEndpoint,
    check: (ctx, input): InputIssue[] => [
      ...issuesOfDocument(ctx, input.rule, 'rule'),
      ...issuesOfSource(input, ctx.namedEndpoint !== undefined),
    ],
  }).mutation(async ({ ctx, input }) => {
    const endpoint = ctx.namedEndpoint ?? null
    const destination = endpoint === null ? undefined : await findDestination(ctx.db, endpoint.id)
    const rules = [{ ruleId: null, version: null, rule: documentOf(ctx, input.rule, 'rule') }]
    return await preview(ctx, rules, () => previewRequest(ctx, input, endpoint, destination ?? null))
  }),
})
