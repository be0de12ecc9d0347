import { listChannelStates } from '../alertChannels/index.ts'
import type { Accepted } from '../api/checks.ts'
import type { Context } from '../api/context.ts'
import { requireFeature } from '../api/planGates.ts'
import {
  type DeliveryPolicy,
  GONE,
  ORDER_BY_ENDPOINT,
  policyText,
  retryDelaysOf,
  storedPolicy,
} from '../deliveries/index.ts'
import {
  conditionWarnings,
  type EndpointRow,
  storedStoring,
  type TakenOut,
  takenOutOf,
} from '../endpoints/index.ts'
import { readCondition, storedCondition } from '../engine/conditions/index.ts'
import { type InputIssue, type ItemCode, issue as issueOf } from '../engine/issues.ts'
import { takesOutText } from '../engine/storing/index.ts'
import { parseTemplate } from '../engine/templates/index.ts'
import { retentionMs } from '../plans/index.ts'
import { DAY_MS } from '../platform/time/index.ts'
import { authIssues } from './auth.ts'
import type { ActionRow } from './queries.ts'
import { ACTION_KINDS, type ActionKind, type UpdateInput } from './schema.ts'
import { signingIssues } from './signing.ts'
import { tlsIssues } from './tls.ts'
import { kindsOf } from './view.ts'

/**
 * One issue for the first delay that leads past the retention of a request.
 *
 * @param keptMs retention of requests under the plan: no attempt is made after that
 */
function delayIssues({ retry }: Accepted<DeliveryPolicy>, keptMs: number): InputIssue[] {
  const delays = (retry?.delays ?? []).flatMap((text, at) =>
    retryDelaysOf(text).map((seconds) => ({ at, seconds })),
  )
  let passedMs = 0
  for (const { at, seconds } of delays) {
    passedMs += seconds * 1000
    if (passedMs < keptMs) continue
    const days = keptMs / DAY_MS
    const detail = `The delays together must be shorter than the retention of the plan: ${days} days.`
    return [issueOf(['delivery', 'retry', 'delays', at], 'out_of_range', detail)]
  }
  return []
}

function statusIssues({ retry }: Accepted<DeliveryPolicy>): InputIssue[] {
  const detail =
    '410 always ends a delivery and cannot be retried. Set `delivery.gone` to pause the action as well.'
  return (retry?.on ?? []).flatMap((status, at) =>
    status === GONE ? [issueOf(['delivery', 'retry', 'on', at], 'not_allowed', detail)] : [],
  )
}

type Members = Accepted<Omit<UpdateInput, 'actionId'>>

/**
 * Checks of a new action that the schema cannot express.
 * @throws DomainError `feature_not_in_plan` for a known kind that the plan lacks
 */
export async function checkNewAction(ctx: Context, input: Members): Promise<InputIssue[]> {
  const kind = ACTION_KINDS.find((known) => known === input.kind)
  if (kind === 'notify') requireFeature(ctx.plan, 'alertChannels')
  const issues: InputIssue[] = []
  if (input.kind !== undefined && kind === undefined)
    issues.push(issue('kind', 'unknown_value', `kind must be one of ${kindsOf(ctx.plan).join(', ')}.`))
  if (kind === 'forward' && input.url === undefined)
    issues.push(issue('url', 'required', 'url is required: where to forward to.'))
  if (kind === 'notify' && input.alertChannelId === undefined)
    issues.push(issue('alertChannelId', 'required', 'alertChannelId is required: the channel to notify.'))
  return [...issues, ...(await checkMembers(ctx, kind, input, undefined))]
}

/** The same checks for a change. A member equal to the stored one is not checked again. */
export async function checkActionChange(
  ctx: Context,
  action: ActionRow,
  input: Members,
): Promise<InputIssue[]> {
  const issues: InputIssue[] = []
  if (input.kind !== undefined && input.kind !== action.kind)
    issues.push(issue('kind', 'not_allowed', 'The kind of an action cannot change.'))
  return [...issues, ...(await checkMembers(ctx, action.kind, input, action))]
}

async function checkMembers(
  ctx: Context,
  kind: ActionKind | undefined,
  input: Members,
  stored: ActionRow | undefined,
): Promise<InputIssue[]> {
  const issues: InputIssue[] = []
  const { condition, url, delivery, alertChannelId, messageTemplate } = input
  if (condition !== undefined && condition !== null) {
    const parsed = readCondition(ctx.rawBody, 'condition', condition)
    if ('issues' in parsed) issues.push(...parsed.issues)
  }
  if (kind !== 'notify') {
    if (url !== undefined && url !== stored?.url) issues.push(...(await ctx.outbound.checkDestination(url)))
    if (delivery !== undefined && delivery !== null && !isStored(delivery, stored))
      issues.push(...delayIssues(delivery, retentionMs(ctx.plan.limits)), ...statusIssues(delivery))
    issues.push(...signingIssues(ctx, input, stored))
    issues.push(...(await authIssues(ctx, input, stored)), ...tlsIssues(ctx, input, stored))
  }
  if (kind !== 'forward' && alertChannelId !== undefined && alertChannelId !== stored?.alertChannelId) {
    const channels = await listChannelStates(ctx, ctx.workspace.id, ctx.plan)
    if (!channels.some(({ id }) => id === alertChannelId))
      issues.push(issue('alertChannelId', 'unknown_value', 'No such alert channel in this workspace.'))
  }
  if (kind !== 'forward' && messageTemplate !== undefined && messageTemplate !== stored?.messageTemplate) {
    const parsed = parseTemplate(messageTemplate)
    if ('problems' in parsed)
      issues.push(...parsed.problems.map(({ code, reason }) => issue('messageTemplate', code, reason)))
  }
  return issues
}

/** Whether a policy is the stored one, which a change of the plan or of our rules does not make wrong. */
const isStored = (delivery: Accepted<DeliveryPolicy>, stored: ActionRow | undefined): boolean =>
  stored !== undefined && policyText(delivery) === policyText(storedPolicy(stored.deliveryPolicy))

const issue = (member: string, code: ItemCode, detail: string) => issueOf([member], code, detail)

type Reader = Pick<ActionRow, 'name' | 'condition' | 'deliveryPolicy'>

/** Names what an action reads that rules for storing take out of captures. */
export function actionWarnings(taken: TakenOut, { name, condition, deliveryPolicy }: Reader): string[] {
  const by = storedPolicy(deliveryPolicy).order?.by
  const isHidden =
    by !== undefined && by !== ORDER_BY_ENDPOINT && takesOutText(taken.storing, by, taken.provider)
  return [
    ...conditionWarnings(taken, `action '${name}'`, storedCondition(condition)),
    ...(isHidden
      ? [
          `The action '${name}' orders by ${by}, which is not stored as it came: its keys are shown as digests.`,
        ]
      : []),
  ]
}

/** The member `warnings` of the answer to a change of an action; absent without any. */
export function warningsMember(
  endpoint: Pick<EndpointRow, 'provider' | 'storeRules' | 'dropHeaders'>,
  action: Reader,
): { warnings?: string[] } {
  const taken = takenOutOf(endpoint, storedStoring(endpoint))
  const warnings = taken === null ? [] : actionWarnings(taken, action)
  return warnings.length === 0 ? {} : { warnings }
}
