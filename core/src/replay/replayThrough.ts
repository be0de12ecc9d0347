import { type ActionRow, pauseGone } from '../actions/index.ts'
import { type ChannelState, listChannelStates, notifyNow } from '../alertChannels/index.ts'
import type { Services } from '../api/services.ts'
import type { Attempt, Trigger } from '../deliveries/index.ts'
import {
  type AttemptRow,
  findAttempts,
  finishNotify,
  forwardAction,
  insertReplay,
  leaseFrom,
  notifyMessage,
  recordAttempts,
  refusalOf,
  sendAttempt,
  storedPolicy,
} from '../deliveries/index.ts'
import type { EvaluatedRequest } from '../engine/message/index.ts'
import { type Plan, retentionMs } from '../plans/index.ts'
import { loadRuleSets, NO_RULE_SET } from '../transformations/index.ts'

/** The request to send again. */
export interface ReplayTarget {
  readonly workspaceId: string
  readonly plan: Plan
  readonly endpoint: { readonly id: string; readonly name: string; readonly captureId: string }
  readonly requestId: number
  readonly request: EvaluatedRequest
  /** Set if the request was edited. */
  readonly edited?: {
    /** Whether it is signed with the action's secret. */
    readonly sign: boolean
    /** Whether the action's rules are applied. */
    readonly transform: boolean
  }
}

/**
 * Makes one recorded attempt through each action, in parallel. A failure is a result, never an exception: the attempt
 * ends Failed or Errored, is not retried and never becomes a dead letter.
 *
 * @returns the recorded attempts, by action id
 */
export async function replayThrough(
  services: Services,
  target: ReplayTarget,
  actions: readonly ActionRow[],
  signal: AbortSignal,
): Promise<Map<string, AttemptRow>> {
  const hasNotify = actions.some(({ kind }) => kind === 'notify')
  const channels = hasNotify ? await listChannelStates(services, target.workspaceId, target.plan) : []
  const ids = await Promise.all(
    actions.map((action) => {
      const channel = channels.find(({ id }) => id === action.alertChannelId)
      return action.kind === 'notify'
        ? replayNotify(services, target, action, channel, signal)
        : replayForward(services, target, action, signal)
    }),
  )
  const rows = await findAttempts(services.db, target.endpoint.id, ids)
  const idOf = new Map(actions.map((action, at) => [ids[at], action.id]))
  return new Map(rows.map((row) => [idOf.get(row.id) ?? '', row]))
}

/**
 * Makes one recorded attempt through a forward action, immediately; a failure is a result.
 *
 * @returns the id of the attempt
 */
export async function replayForward(
  services: Services,
  target: ReplayTarget,
  action: ActionRow,
  signal: AbortSignal,
): Promise<number> {
  const attempt = await beginReplay(services, target, action, { url: action.url ?? '', leased: true })
  const result = await sendAttempt(services, attempt, signal)
  await recordAttempts(services, [{ attempt, result }], pauseGone)
  return attempt.id
}

/** Sends one message immediately. If this process dies, the outbox sends it. */
async function replayNotify(
  services: Services,
  target: ReplayTarget,
  action: ActionRow,
  channel: ChannelState | undefined,
  signal: AbortSignal,
): Promise<number> {
  const isAvailable = channel?.isAvailable === true
  const attempt = await beginReplay(services, target, action, {
    url: channel?.destination ?? '',
    leased: !isAvailable,
  })
  if (isAvailable) {
    const message = notifyMessage(services.urls, { ...target, action, channel, attemptId: attempt.id })
    await notifyNow(services, message, signal, finishNotify)
  } else {
    const refused: Attempt = { ...attempt, refusal: 'channel_unavailable' }
    const result = await sendAttempt(services, refused)
    await recordAttempts(services, [{ attempt: refused, result }], pauseGone)
  }
  return attempt.id
}

const unsigned = (action: Attempt['action']): Attempt['action'] => ({
  ...action,
  signing: { ...action.signing, secrets: [] },
})

async function beginReplay(
  services: Services,
  { workspaceId, plan, endpoint, requestId, request, edited }: ReplayTarget,
  action: ActionRow,
  { url, leased }: { url: string; leased: boolean },
): Promise<Attempt> {
  const now = services.clock.now()
  const trigger: Trigger = edited === undefined ? 'replay' : 'edited'
  const leaseUntil = leaseFrom(now, storedPolicy(action.deliveryPolicy))
  const row = {
    endpointId: endpoint.id,
    deliveryId: null,
    workspaceId,
    requestId,
    actionId: action.id,
    actionName: action.name,
    kind: action.kind,
    state: 'Pending',
    attemptNumber: 1,
    trigger,
    url,
    at: now,
    leaseUntil: leased ? leaseUntil : null,
    workerId: leased ? services.workerId : null,
  }
  const { id, rules } = await services.db.transaction().execute(async (trx) => {
    const sets = edited?.transform === false ? new Map() : await loadRuleSets(trx, [action.id])
    return { id: await insertReplay(trx, row), rules: sets.get(action.id) ?? NO_RULE_SET }
  })
  const forward = forwardAction(
    services.secrets,
    { ...action, workspaceId, actionId: action.id, actionName: action.name },
    now,
  )
  return {
    id,
    deliveryId: null,
    attemptNumber: 1,
    trigger,
    workspaceId,
    endpoint,
    action: edited?.sign === false ? unsigned(forward) : forward,
    requestId,
    request,
    rules,
    inFlow: false,
    startedAt: now,
    leaseUntil,
    retentionEndsAt: new Date(request.receivedAt.getTime() + retentionMs(plan.limits)),
    refusal: refusalOf(request, services.secrets),
    recoveryJob: null,
  }
}
