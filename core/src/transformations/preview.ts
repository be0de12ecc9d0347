import type { z } from 'zod'
import type { Context } from '../api/context.ts'
import type { InputIssue } from '../engine/issues.ts'
import { forwardableHeaders, joinedHeaders, textOf } from '../engine/message/index.ts'
import { type RunResult, type RunRule, runRules } from '../engine/rules/execution/index.ts'
import { decodeRule, type Rule, storedRule } from '../engine/rules/index.ts'
import { countLong, decodedView, previewing } from '../requests/index.ts'
import type { FoundSet } from './find.ts'
import { findRule, listRules } from './queries.ts'
import { createRuleTurns } from './ruleTurns.ts'
import type { PreviewRequest } from './sample.ts'
import { destinationOf } from './save.ts'
import type { TransformationPreview } from './schema.ts'

/** A rule in a preview: saved, or an unsaved document. */
export interface PreviewRule {
  readonly ruleId: string | null
  readonly version: number | null
  readonly rule: Rule
}

/**
 * Previews sign with this dummy key, because not even a signature of the real secret may be shown. It is valid Base64,
 * too.
 */
const DUMMY_SECRET = Buffer.from('cHJldmlldy1zZWNyZXQ=')

/** Separate from the queue of deliveries, so that previews never delay those. */
const ruleTurns = createRuleTurns()

/**
 * Runs rules on a request and reports every step; nothing is saved or sent. Previews of a workspace run one at a time,
 * and long ones with pauses, in which the process serves other work.
 *
 * @param find reads the request when it is the preview's turn
 * @throws DomainError `request_invalid` when a batch answers too many long bodies; LineTooLong when earlier previews
 *   take too long; the error of `find`
 */
export async function preview(
  ctx: Context,
  rules: readonly PreviewRule[],
  find: () => Promise<PreviewRequest>,
): Promise<z.input<typeof TransformationPreview>> {
  return await previewing(ctx, 'rules', async () => previewOn(ctx, rules, await find()))
}

async function previewOn(
  ctx: Context,
  rules: readonly PreviewRule[],
  { request, facts }: PreviewRequest,
): Promise<z.input<typeof TransformationPreview>> {
  countLong(ctx, request.body.length)
  let usesSecret = false
  const evaluate = () =>
    runRules(
      rules.map(({ ruleId, rule }, index): RunRule => ({ key: ruleId ?? `preview-${index}`, rule })),
      {
        request,
        facts,
        now: ctx.clock.now(),
        explains: true,
        secret: () => {
          usesSecret = true
          return DUMMY_SECRET
        },
      },
    )
  const result = await ruleTurns.run(ctx.workspace.id, ctx.workspace.id, evaluate)
  const reports = rules.map(({ ruleId, version, rule }, index) => {
    const report = result.rules[index]
    return {
      ruleId,
      name: rule.name,
      version,
      matched: report?.matched ?? false,
      note: report?.note ?? null,
      steps: [...(report?.steps ?? [])],
      fault: report?.fault ?? null,
    }
  })
  return {
    matched: reports.some(({ matched }) => matched),
    faulted: result.output === null,
    note: noteOf(reports, usesSecret),
    rules: reports,
    output: outputOf(result, request.method),
  }
}

function noteOf(reports: z.input<typeof TransformationPreview>['rules'], usesSecret: boolean): string {
  const faulted = reports.find(({ fault }) => fault !== null)
  const applied = reports.filter(({ matched, fault }) => matched && fault === null).length
  const notes = [
    `${applied} of ${reports.length} rules applied`,
    ...(faulted === undefined ? [] : [`rule '${faulted.name}' faulted: ${faulted.fault?.code}`]),
    ...(usesSecret
      ? ['the signing secret was replaced by a dummy, so signatures differ from those of deliveries']
      : []),
  ]
  return notes.join('; ')
}

/** The request that a forward would send, without the fields that only an attempt knows. */
function outputOf({ output }: RunResult, method: string): z.input<typeof TransformationPreview>['output'] {
  if (output === null) return null
  const { body } = output
  const text = textOf(body)
  return {
    method,
    headers: joinedHeaders(forwardableHeaders(output.headers, output.writtenHeaders)),
    body: body.length === 0 ? null : (text ?? Buffer.from(body).toString('base64')),
    bodyIsBinary: body.length > 0 && text === undefined,
    decodedBody: decodedView({ body, bodyTruncated: false, headers: output.headers }),
    contentType: output.contentType,
  }
}

/** Limit of rules in a preview if the plan has no practical one. */
const PREVIEWED_RULES_MAX = 100

/**
 * Every wrong part of the rules in a set's preview. The limit on every plan is the largest plan's set, up to 100 rules.
 */
export async function issuesOfRules(
  ctx: Context,
  set: FoundSet,
  rules: readonly unknown[] | undefined,
): Promise<InputIssue[]> {
  if (rules === undefined) return []
  const largestSet = Math.max(...Object.values(ctx.plans).map(({ limits }) => limits.rulesMax))
  const rulesMax = Math.min(PREVIEWED_RULES_MAX, largestSet)
  if (rules.length > rulesMax) {
    return [{ path: ['rules'], code: 'too_many', detail: `A preview takes at most ${rulesMax} rules.` }]
  }
  const read = await Promise.all(rules.map((rule, index) => readRule(ctx, set, rule, index)))
  return read.flatMap((each) => ('issues' in each ? each.issues : []))
}

/**
 * The rules of a set's preview: those in the request, as documents or `{"ruleId":…}`, or the enabled saved ones.
 *
 * @throws DomainError `no_destination` when the saved set is requested and there is no forward action
 */
export async function rulesToPreview(
  ctx: Context,
  set: FoundSet,
  rules: readonly unknown[] | undefined,
): Promise<PreviewRule[]> {
  if (rules === undefined) {
    const saved = await listRules(ctx.db, destinationOf(set).id)
    return saved
      .filter(({ enabled }) => enabled)
      .map(({ id, version, rule }) => ({ ruleId: id, version, rule: storedRule(rule) }))
  }
  const read = await Promise.all(rules.map((rule, index) => readRule(ctx, set, rule, index)))
  return read.flatMap((each) => ('issues' in each ? [] : [each]))
}

async function readRule(
  ctx: Context,
  { endpoint }: FoundSet,
  rule: unknown,
  index: number,
): Promise<PreviewRule | { issues: InputIssue[] }> {
  const path = ['rules', index]
  if (typeof rule === 'object' && rule !== null && 'ruleId' in rule) {
    const saved = UUID.test(String(rule.ruleId))
      ? await findRule(ctx.db, endpoint.id, String(rule.ruleId))
      : undefined
    if (saved !== undefined) return { ruleId: saved.id, version: saved.version, rule: storedRule(saved.rule) }
    const detail = 'This is not the id of a rule of the endpoint.'
    return { issues: [{ path: [...path, 'ruleId'], code: 'unknown_value', detail }] }
  }
  const decoded = decodeRule(rule, ctx.rawBody?.part(path))
  if ('rule' in decoded) return { ruleId: null, version: null, rule: decoded.rule }
  return { issues: decoded.issues.map((issue) => ({ ...issue, path: [...path, ...issue.path] })) }
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
