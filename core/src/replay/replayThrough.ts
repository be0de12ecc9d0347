import { createHash } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { type ActionRow, pauseGone } from '../actions/index.ts'
import { type ChannelState, listChannelStates, notifyNow } from '../alertChannels/index.ts'
import { afterEffect } from '../api/problem.ts'
import { requireStays } from '../api/seal.ts'
import type { Services } from '../api/services.ts'
import {
  type Attempt,
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
  type Trigger,
} from '../deliveries/index.ts'
import { type Plan, retentionMs } from '../plans/index.ts'
import { isPassing } from '../platform/db/index.ts'
import { loadRuleSets, NO_RULE_SET } from '../transformations/index.ts'

/** The request to send again. */
export interface ReplayTarget
  extends Pick<Attempt, 'workspaceId' | 'endpoint' | 'requestId' | 'request' | 'stored' | 'sealing'> {
  readonly plan: Plan
  /** Set if it is part of a replay of many requests. */
  readonly rehearsal?: {
    readonly id: string
    /** The secrets that sign it: those of the action, none, or a wrong one. */
    readonly signing: 'own' | 'none' | 'wrong'
    /** Time limit of the send; that of the action without it. */
    readonly timeoutSeconds: number | undefined
  }
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
  // All rows are written before anything is sent, so that an error of one comes before every effect.
  const begun = await Promise.all(
    actions.map(async (action) => {
      const channel = channels.find(({ id }) => id === action.alertChannelId)
      return { action, channel, attempt: await beginReplay(services, target, action, channel) }
    }),
  )
  return await afterEffect(async () => {
    await Promise.all(
      begun.map(({ action, channel, attempt }) =>
        action.kind === 'notify'
          ? replayNotify(services, target, { action, channel, attempt }, signal)
          : replayForward(services, attempt, signal),
      ),
    )
    const ids = begun.map(({ attempt }) => attempt.id)
    const rows = await findAttempts(services.db, target.endpoint.id, ids)
    const idOf = new Map(begun.map(({ action, attempt }) => [attempt.id, action.id]))
    return new Map(rows.map((row) => [idOf.get(row.id) ?? '', row]))
  })
}

/** Makes an attempt of a forward action, immediately, and records it; a failure is a result. */
export async function replayForward(
  services: Services,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<void> {
  const result = await sendAttempt(services, attempt, signal)
  await recordReplay(services, { attempt, result })
}

interface BegunNotify {
  readonly action: ActionRow
  readonly channel: ChannelState | undefined
  readonly attempt: Attempt
}

/** Delay before a result is recorded again. */
const RETRY_MS = 500

/** Records what was sent. Repeats it until the lease ends, as lanes do: the receiver has had the request. */
async function recordReplay(
  services: Services,
  ended: Parameters<typeof recordAttempts>[1][number],
): Promise<void> {
  for (;;) {
    try {
      return await recordAttempts(services, [ended], pauseGone)
    } catch (error) {
      const againAt = services.clock.now().getTime() + RETRY_MS
      if (!isPassing(error) || againAt >= ended.attempt.leaseUntil.getTime()) throw error
      services.log.warn(
        { err: error, attemptId: ended.attempt.id },
        'could not record the result of a replay',
      )
      await setTimeout(RETRY_MS)
    }
  }
}

/** Sends one message immediately. If this process dies, the outbox sends it. */
async function replayNotify(
  services: Services,
  target: ReplayTarget,
  { action, channel, attempt }: BegunNotify,
  signal: AbortSignal,
): Promise<void> {
  if (channel?.isAvailable === true) {
    // Messages are stored, so they have what is stored, as at the capture.
    const request = target.stored ?? target.request
    const message = notifyMessage(services.urls, {
      ...target,
      request,
      action,
      channel,
      attemptId: attempt.id,
    })
    await notifyNow(services, message, signal, finishNotify)
  } else {
    const refused: Attempt = { ...attempt, refusal: 'channel_unavailable' }
    const result = await sendAttempt(services, refused)
    await recordReplay(services, { attempt: refused, result })
  }
}

const unsigned = (action: Attempt['action']): Attempt['action'] => ({
  ...action,
  signing: { ...action.signing, secrets: [] },
})

/** The action with the secrets and the time limit of a replay of many requests. */
function rehearsedWith(action: Attempt['action'], rehearsal: ReplayTarget['rehearsal']): Attempt['action'] {
  if (rehearsal === undefined) return action
  const { signing, timeoutSeconds = action.policy.timeoutSeconds } = rehearsal
  const timed = { ...action, policy: { ...action.policy, timeoutSeconds } }
  if (signing === 'own') return timed
  if (signing === 'none') return unsigned(timed)
  const secrets = action.signing.secrets.map((secret) => wrongSecret(secret))
  return { ...timed, signing: { ...action.signing, secrets } }
}

/** Another secret of the same form. */
function wrongSecret(secret: string): string {
  const [prefix = ''] = /^whsec_/.exec(secret) ?? []
  return prefix + createHash('sha256').update(`not ${secret}`).digest('base64')
}

/**
 * Writes the row of an attempt. The caller makes the attempt and records it, except for a notify action whose channel is
 * available: the outbox owns its sends, so it has no lease.
 */
export async function beginReplay(
  services: Services,
  { workspaceId, plan, endpoint, requestId, request, stored, sealing, edited, rehearsal }: ReplayTarget,
  action: ActionRow,
  channel?: ChannelState,
): Promise<Attempt> {
  const now = services.clock.now()
  const trigger: Trigger = rehearsal !== undefined ? 'rehearsal' : edited === undefined ? 'replay' : 'edited'
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
    url: action.url ?? channel?.destination ?? '',
    at: now,
    ...(channel?.isAvailable === true ? { leaseUntil: null } : { leaseUntil, workerId: services.workerId }),
  }
  const { id, rules } = await services.db.transaction().execute(async (trx) => {
    const sets = edited?.transform === false ? new Map() : await loadRuleSets(trx, [action.id])
    const id = await insertReplay(trx, row)
    if (rehearsal === undefined) await requireStays(services, trx, workspaceId)
    return { id, rules: sets.get(action.id) ?? NO_RULE_SET }
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
    action: edited?.sign === false ? unsigned(forward) : rehearsedWith(forward, rehearsal),
    ...(rehearsal === undefined ? {} : { rehearsalId: rehearsal.id }),
    requestId,
    request,
    ...(stored === undefined ? {} : { stored }),
    sealing,
    rules,
    startedAt: now,
    leaseUntil,
    retentionEndsAt: new Date(request.receivedAt.getTime() + retentionMs(plan.limits)),
    refusal: refusalOf(request, forward, services.secrets),
  }
}
