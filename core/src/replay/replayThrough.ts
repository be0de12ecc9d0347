import { setTimeout as sleep } from 'node:timers/promises'
import { type ActionRow, pauseGone } from '../actions/index.ts'
import { type ChannelState, listChannelStates, sendNotify, writeNotify } from '../alertChannels/index.ts'
import { DomainError, notFound } from '../api/errors.ts'
import { afterEffect } from '../api/problem.ts'
import { requireStays } from '../api/seal.ts'
import type { Services } from '../api/services.ts'
import {
  type Attempt,
  type AttemptRow,
  findAttempts,
  finishNotify,
  forwardAction,
  insertInlineAttempt,
  leaseFrom,
  notifyMessage,
  recordAttempts,
  refusalOf,
  sendAttempt,
  storedPolicy,
  type Trigger,
} from '../deliveries/index.ts'
import { wrongSecret } from '../engine/verification/index.ts'
import { type Plan, retentionMs } from '../plans/index.ts'
import { isPassing, type Trx } from '../platform/db/index.ts'
import { visibleRequests } from '../requests/index.ts'
import { loadRuleSets, NO_RULE_SET } from '../transformations/index.ts'

/** The request to send again. */
export interface ReplayTarget
  extends Pick<Attempt, 'workspaceId' | 'endpoint' | 'requestId' | 'request' | 'stored' | 'sealing'> {
  readonly plan: Plan
  /** The request's `redaction` (what was taken out of it) as it was read. */
  readonly redaction: string | null
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
  // All is written before anything is sent, and at once: an error comes before every effect, and no row is left alone.
  const begun = await beginning(services, target, async (trx) => {
    const written = []
    for (const action of actions) {
      const channel = channels.find(({ id }) => id === action.alertChannelId)
      const attempt = await writeReplay(services, trx, target, action, channel)
      const message = messageOf(services, target, action, channel, attempt.id)
      written.push({ attempt, message: message && (await writeNotify(services, trx, message)) })
    }
    return written
  })
  return await afterEffect(async () => {
    await Promise.all(
      begun.map(({ attempt, message }) =>
        message === undefined
          ? replayForward(services, attempt, signal)
          : sendNotify(services, message, signal, finishNotify),
      ),
    )
    const ids = begun.map(({ attempt }) => attempt.id)
    const rows = await findAttempts(services.db, target.endpoint.id, ids)
    const idOf = new Map(begun.map(({ attempt }) => [attempt.id, attempt.action.id]))
    return new Map(rows.map((row) => [idOf.get(row.id) ?? '', row]))
  })
}

/** Runs the transaction that begins the attempts of a request, of a workspace that stays in this database. */
async function beginning<Result>(
  services: Pick<Services, 'db' | 'cell'>,
  target: ReplayTarget,
  write: (trx: Trx) => Promise<Result>,
): Promise<Result> {
  return await services.db.transaction().execute(async (trx) => {
    await requireRequest(trx, target)
    const written = await write(trx)
    // Not asked of rehearsals: their scheduler waits while the workspace moves.
    if (target.rehearsal === undefined) await requireStays(services, trx, target.workspaceId)
    return written
  })
}

/**
 * Keeps the request as it was read until the transaction ends: what was erased or encrypted since then must not come
 * back in the record of an attempt.
 */
async function requireRequest(trx: Trx, target: ReplayTarget): Promise<void> {
  const found = await visibleRequests(trx, target.endpoint.id)
    .where('r.id', '=', target.requestId)
    .select(['r.redaction', 'r.sealedWith'])
    .forShare('r')
    .executeTakeFirst()
  if (found === undefined) throw notFound('request')
  if (found.redaction !== target.redaction || found.sealedWith !== (target.sealing?.id ?? null)) {
    const detail = 'What is stored of the request was changed at the same time. Try again.'
    throw new DomainError('unavailable', detail, { retryAfterSeconds: 1 })
  }
}

/** The message of a notify action whose channel is available; else undefined. */
function messageOf(
  { urls }: Services,
  target: ReplayTarget,
  action: ActionRow,
  channel: ChannelState | undefined,
  attemptId: number,
) {
  if (action.kind !== 'notify' || channel?.isAvailable !== true) return undefined
  // Messages are stored, so they have what is stored, as at the capture.
  const request = target.stored ?? target.request
  return notifyMessage(urls, { ...target, request, action, channel, attemptId })
}

/** Makes an attempt immediately, and records it; a failure is a result, and so is a refusal. */
export async function replayForward(
  services: Services,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<void> {
  const result = await sendAttempt(services, attempt, signal)
  await recordReplay(services, { attempt, result })
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
      await sleep(RETRY_MS)
    }
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
  const secrets = action.signing.secrets.map((secret) => otherSecret(secret))
  return { ...timed, signing: { ...action.signing, secrets } }
}

/** Another secret of the same form. */
function otherSecret(secret: string): string {
  const [prefix = ''] = /^whsec_/.exec(secret) ?? []
  return prefix + wrongSecret(secret).toString('base64')
}

/** Writes the row of an attempt through a forward action. The caller makes the attempt and records it. */
export async function beginReplay(
  services: Services,
  target: ReplayTarget,
  action: ActionRow,
): Promise<Attempt> {
  return await beginning(services, target, (trx) => writeReplay(services, trx, target, action))
}

/**
 * Writes the row of an attempt. One of a notify action whose channel is available has no lease: the outbox owns its
 * sends. If the channel is not available, the attempt is refused.
 */
async function writeReplay(
  services: Services,
  trx: Trx,
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
  const sets = edited?.transform === false ? new Map() : await loadRuleSets(trx, [action.id])
  const id = await insertInlineAttempt(trx, row)
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
    rules: sets.get(action.id) ?? NO_RULE_SET,
    startedAt: now,
    leaseUntil,
    retentionEndsAt: new Date(request.receivedAt.getTime() + retentionMs(plan.limits)),
    refusal: action.kind === 'notify' ? 'channel_unavailable' : refusalOf(request, forward, services.secrets),
  }
}
