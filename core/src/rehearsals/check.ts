import { findAction, isOn, listActions } from '../actions/index.ts'
import type { Accepted } from '../api/checks.ts'
import type { Context } from '../api/context.ts'
import { type EndpointRow, storedSettings } from '../endpoints/index.ts'
import { type InputIssue, issue } from '../engine/issues.ts'
import { decodeRule } from '../engine/rules/index.ts'
import type { Db } from '../platform/db/index.ts'
import { HOUR_MS } from '../platform/time/index.ts'
import { isComparedPath } from './compare.ts'
import { PER_SECOND_DEFAULT, RUN_MS_MAX } from './declarations.ts'
import { baselineAction } from './options.ts'
import { findRun } from './queries.ts'
import type { StartInput } from './schema.ts'

type Asked = Context & { readonly endpoint: EndpointRow }

/** Checks of an input that the schema cannot express; every wrong part is named. */
export async function checkStart(ctx: Asked, input: Accepted<StartInput>): Promise<InputIssue[]> {
  const issues: InputIssue[] = []
  const { select, edit, sign, faults, concurrency = 1 } = input
  if (!ctx.endpoint.allowRehearsal)
    issues.push(refused(['endpointId'], 'The endpoint forbids replays of many requests.'))
  if (isAmbiguous(select)) issues.push(refused(['select'], 'Give either requestIds or filter.'))
  if (edit !== undefined && edit !== null) {
    const decoded = decodeRule(edit)
    if ('issues' in decoded)
      issues.push(...decoded.issues.map((one) => ({ ...one, path: ['edit', ...one.path] })))
  }
  issues.push(...(await targetIssues(ctx, input)))
  if (sign === 'provider' && storedSettings(ctx.endpoint, ctx.secrets).signingSecret === null)
    issues.push(refused(['sign'], 'The endpoint has no signing secret, so its provider cannot sign.'))
  issues.push(...(await compareIssues(ctx, input)))
  if (concurrency > 1 && (faults?.reorder ?? 0) > 0)
    issues.push(
      refused(['concurrency'], 'Reordered requests need a concurrency of 1: more would mix the order.'),
    )
  return issues
}

/** Whether a selection has neither of its two forms, or both. A form that is wrong is absent. */
function isAmbiguous(select: Accepted<StartInput['select']> | undefined): boolean {
  if (select === undefined || !('requestIds' in select && 'filter' in select)) return false
  return (select.requestIds === undefined) === (select.filter === undefined)
}

async function compareIssues(ctx: Asked, input: Accepted<StartInput>): Promise<InputIssue[]> {
  const { compare, faults } = input
  if (compare === undefined) return []
  const unknown =
    'This is no path of an answer. Write one like status, headers.date, body.id or body.items[].id.'
  const paths = (compare.ignore ?? []).flatMap((path, at) =>
    isComparedPath(path) ? [] : [refused(['compare', 'ignore', at], unknown)],
  )
  if (compare.with === 'recorded') return [...paths, ...(await recordedIssues(ctx, input))]
  if (compare.actionId !== undefined)
    paths.push(refused(['compare', 'actionId'], 'Only `recorded` takes the answers of an action.'))
  if (compare.with === 'first') {
    const detail = 'first compares duplicates, so faults.duplicate must be over 0.'
    return (faults?.duplicate ?? 0) > 0 ? paths : [...paths, refused(['compare', 'with'], detail)]
  }
  if (compare.with === undefined) return paths
  const found = await findRun(ctx.db, ctx.endpoint.id, compare.with)
  if (found !== undefined) return paths
  return [...paths, issue(['compare', 'with'], 'unknown_value', 'There is no such replay.')]
}

/** Recorded answers are those of one action: two actions answer the same request differently. */
async function recordedIssues({ db, endpoint }: Asked, input: Accepted<StartInput>): Promise<InputIssue[]> {
  const { compare } = input
  const path = ['compare', 'actionId']
  const forwards = await forwardActions(db, endpoint.id)
  if (compare?.actionId !== undefined)
    return forwards.some(({ id }) => id === compare.actionId)
      ? []
      : [issue(path, 'unknown_value', 'There is no such forward action.')]
  if (baselineAction(input) !== undefined || forwards.length < 2) return []
  const names = forwards.map(({ id, name }) => `${name} (${id})`).join(', ')
  return [refused(path, `Several actions have recorded answers. Give the id of one: ${names}.`)]
}

export async function forwardActions(db: Db, endpointId: string) {
  return (await listActions(db, endpointId)).filter(({ kind }) => kind === 'forward')
}

async function targetIssues(ctx: Asked, { to, sign }: Accepted<StartInput>): Promise<InputIssue[]> {
  if (to === undefined) return []
  if ('actionId' in to) {
    const action = await findAction(ctx.db, ctx.endpoint.id, to.actionId)
    const path = ['to', 'actionId']
    if (action === undefined) return [issue(path, 'unknown_value', 'There is no such action.')]
    if (action.kind !== 'forward')
      return [refused(path, 'The action notifies a channel. Choose a forward action.')]
    if (!isOn(action)) return [refused(path, 'The action is switched off.')]
    if (action.pausedAt !== null) return [refused(path, 'The action is paused.')]
    if (sign === 'creel' && action.signingSecret === null)
      return [refused(['sign'], 'The action has no signing secret.')]
    return []
  }
  const issues = 'url' in to ? await ctx.outbound.checkDestination(to.url, ['to', 'url']) : []
  if (sign === 'creel')
    issues.push(refused(['sign'], 'creel signs with the secret of an action: give to.actionId.'))
  return issues
}

export function tooLong(plannedMs: number): InputIssue[] {
  if (plannedMs <= RUN_MS_MAX) return []
  const hours = Math.ceil(plannedMs / HOUR_MS)
  const detail = `The replay would take ${hours} hours; at most 24 are allowed. Without a pace it sends ${PER_SECOND_DEFAULT} requests a second.`
  return [issue(['pace'], 'out_of_range', detail)]
}

const refused = (path: InputIssue['path'], detail: string) => issue(path, 'not_allowed', detail)
