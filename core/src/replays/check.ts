import { findAction } from '../actions/index.ts'
import type { Context } from '../api/context.ts'
import { type EndpointRow, storedSettings } from '../endpoints/index.ts'
import type { InputIssue } from '../engine/issues.ts'
import { decodeRule } from '../engine/rules/index.ts'
import { PER_SECOND_DEFAULT, RUN_MS_MAX } from './bounds.ts'
import type { StartInput } from './schema.ts'

/** Checks of an input that the schema cannot express; every wrong part is named. */
export async function checkStart(
  ctx: Context & { readonly endpoint: EndpointRow },
  input: Partial<StartInput>,
): Promise<InputIssue[]> {
  const issues: InputIssue[] = []
  const { select, edit, sign, compare, faults, concurrency = 1 } = input
  if (!ctx.endpoint.allowRehearsal)
    issues.push(notAllowed(['endpointId'], 'The endpoint forbids replays of many requests.'))
  if (select !== undefined && (select.requestIds === undefined) === (select.filter === undefined))
    issues.push(notAllowed(['select'], 'Give either requestIds or filter.'))
  if (edit !== undefined && edit !== null) {
    const decoded = decodeRule(edit)
    if ('issues' in decoded)
      issues.push(...decoded.issues.map((issue) => ({ ...issue, path: ['edit', ...issue.path] })))
  }
  issues.push(...(await targetIssues(ctx, input)))
  if (sign === 'provider' && storedSettings(ctx.endpoint, ctx.secrets).signingSecret === null)
    issues.push(notAllowed(['sign'], 'The endpoint has no signing secret, so its provider cannot sign.'))
  if (compare?.with === 'first' && (faults?.duplicate ?? 0) === 0)
    issues.push(
      notAllowed(['compare', 'with'], 'first compares duplicates, so faults.duplicate must be over 0.'),
    )
  if (compare !== undefined && compare.with !== 'first' && compare.with !== 'recorded') {
    const found = await ctx.db
      .selectFrom('replays')
      .where('endpointId', '=', ctx.endpoint.id)
      .where('id', '=', compare.with)
      .select('id')
      .executeTakeFirst()
    if (found === undefined)
      issues.push({ path: ['compare', 'with'], code: 'unknown_value', detail: 'There is no such replay.' })
  }
  if (concurrency > 1 && (faults?.reorder ?? 0) > 0)
    issues.push(
      notAllowed(['concurrency'], 'Reordered requests need a concurrency of 1: more would mix the order.'),
    )
  return issues
}

async function targetIssues(
  ctx: Context & { readonly endpoint: EndpointRow },
  { to, sign }: Partial<StartInput>,
): Promise<InputIssue[]> {
  if (to === undefined) return []
  if ('actionId' in to) {
    const action = await findAction(ctx.db, ctx.endpoint.id, to.actionId)
    const path = ['to', 'actionId']
    if (action === undefined) return [{ path, code: 'unknown_value', detail: 'There is no such action.' }]
    if (action.kind !== 'forward')
      return [notAllowed(path, 'The action notifies a channel. Choose a forward action.')]
    if (!action.isActive || action.suspendedByPlan) return [notAllowed(path, 'The action is switched off.')]
    if (sign === 'creel' && action.signingSecret === null)
      return [notAllowed(['sign'], 'The action has no signing secret.')]
    return []
  }
  const issues = 'url' in to ? await ctx.outbound.checkDestination(to.url, ['to', 'url']) : []
  if (sign === 'creel')
    issues.push(notAllowed(['sign'], 'creel signs with the secret of an action: give to.actionId.'))
  return issues
}

/** The issue of a plan that takes too long. */
export function tooLong(plannedMs: number): InputIssue[] {
  if (plannedMs <= RUN_MS_MAX) return []
  const hours = Math.ceil(plannedMs / 3_600_000)
  const detail = `The replay would take ${hours} hours; at most 24 are allowed. Without a pace it sends ${PER_SECOND_DEFAULT} requests a second.`
  return [{ path: ['pace'], code: 'out_of_range', detail }]
}

const notAllowed = (path: readonly string[], detail: string): InputIssue => ({
  path: [...path],
  code: 'not_allowed',
  detail,
})
