import { closeIncidents, type Occasion } from '../alerts/index.ts'
import type { Services } from '../api/services.ts'
import { nextAttemptAt, retryAfterOf } from '../dispatch/index.ts'
import type { AttemptState } from '../engine/words/index.ts'
import type { Trx } from '../platform/db/index.ts'
import { keepAnswer } from '../requests/index.ts'
import { recordRuleOutcomes } from '../transformations/index.ts'
import { type Attempt, type Ended, occasionOf, wasRefused } from './attempt.ts'
import { countFailures } from './failing.ts'
import { type Disposition, type FinishedAttempt, finishAlone, finishAttempts } from './finishStatement.ts'
import { isFirst, tellFirstResults } from './firstResults.ts'
import { concernsFlow, endSignals, isOfGoverned, recordOutcomes } from './flow/outcomes.ts'
import { deliveryAttemptSeconds, deliveryAttempts } from './metrics.ts'
import { openParked } from './openDeliveries.ts'
import { isRetried, scheduleOf } from './policy.ts'
import { GONE, stateAfter } from './states.ts'
import { recordable } from './withoutOriginal.ts'

/**
 * Pauses the actions of attempts that were answered 410, and whose policy is to pause then, in the transaction that
 * records the answers.
 */
export type PauseGone = (services: Services, trx: Trx, gone: readonly Attempt[]) => Promise<void>

/** State of an ended attempt, and the time of the next one; null if none follows. */
export interface AttemptOutcome {
  readonly state: AttemptState
  readonly nextAttemptAt: Date | null
}

/**
 * Decides the state of a finished attempt and when the next one is due.
 *
 * @param installation seconds between attempts, for actions without their own delays
 */
function outcomeOf(ended: Ended, installation: readonly number[], random?: number): AttemptOutcome {
  const { attempt, result } = ended
  const { policy } = attempt.action
  const statusCode = result.received?.statusCode ?? null
  const isDelivery = attempt.deliveryId !== null && !wasRefused(ended)
  const retried =
    isDelivery && result.error !== null && (statusCode === null || isRetried(policy, statusCode))
  const next = retried
    ? nextAttemptAt(
        {
          now: result.finishedAt,
          attempt: attempt.attemptNumber,
          statusCode,
          retryAfter: retryAfterOf(result.received?.headers),
          endsAt: attempt.retentionEndsAt,
        },
        scheduleOf(policy, installation),
        random,
      )
    : null
  const state = stateAfter({ statusCode, retried: next !== null, deadLetters: isDelivery })
  return { state, nextAttemptAt: next }
}

/**
 * Records the outcomes of attempts in one transaction: their rows and records, the end, the dead letter or the next
 * attempt of their deliveries, and the dead-letter incidents that they open, count in or close.
 *
 * If the lease of an attempt has ended, it is Interrupted already and its delivery queued again: the late result is
 * dropped.
 *
 * @param pauseGone pauses the actions that ask for it when their receiver answers 410
 */
export async function recordAttempts(
  services: Services,
  ended: readonly Ended[],
  pauseGone: PauseGone,
): Promise<void> {
  if (ended.length === 0) return
  const concluded = ended.map((one) => conclude(services, one))
  if (!(await recordPlainSuccesses(services, concluded)))
    await services.db.transaction().execute((trx) => recordConcluded(services, trx, concluded, pauseGone))
  tellRecorded(services, concluded)
}

/** Decides the outcome of an ended attempt. */
export function conclude(
  { retryDelaysSeconds }: Pick<Services, 'retryDelaysSeconds'>,
  ended: Ended,
): Concluded {
  return { ...ended, outcome: outcomeOf(ended, retryDelaysSeconds) }
}

/** Records outcomes with all their consequences, in the caller's transaction. */
export async function recordConcluded(
  services: Services,
  trx: Trx,
  concluded: readonly Concluded[],
  pauseGone: PauseGone,
): Promise<void> {
  const kept = await finishAttempts(services, trx, concluded.map(finishedAttempt), services.clock.now())
  const counted = concluded.filter(({ attempt }) => kept.has(attempt.id))
  await keepAnswers(services, trx, counted)
  await tellIncidents(services, trx, counted)
  await countFailures(services, trx, counted)
  await recordRuleOutcomes(
    services,
    trx,
    counted.map(({ attempt, result }) => ({ ...attempt, ends: result.ruleEnds })),
  )
  await recordOutcomes(services, trx, counted)
  await pauseGone(
    services,
    trx,
    counted.filter(asksForPause).map(({ attempt }) => attempt),
  )
}

/** Keeps the answers to originals, which their records do not repeat, for senders that are answered with them. */
async function keepAnswers(services: Services, trx: Trx, concluded: readonly Concluded[]): Promise<void> {
  for (const { attempt, result, outcome } of concluded) {
    if (attempt.stored === undefined || !isFirst(attempt)) continue
    if (outcome.state !== 'Succeeded' || result.received === null) continue
    const { requestId } = attempt
    const { statusCode, headers, body, bodyTruncated } = result.received
    await keepAnswer(
      services,
      trx,
      { endpointId: attempt.endpoint.id, requestId, actionId: attempt.action.id },
      { statusCode, headers, body: bodyTruncated ? new Uint8Array() : body, bodyTruncated },
    )
  }
}

/** @param freeing attempts whose end lets others of their lane start */
export function tellRecorded(
  services: Services,
  concluded: readonly Concluded[],
  freeing: readonly Concluded[] = concluded.filter(isOfGoverned),
): void {
  tellFirstResults(services, concluded)
  services.endpointChanges.announce([
    ...concluded.map(({ attempt }) => attempt.endpoint.id),
    ...endSignals(freeing),
  ])
  for (const each of concluded) {
    deliveryAttempts.inc({ state: each.outcome.state })
    deliveryAttemptSeconds.observe(each.result.durationMs / 1000)
    if (each.outcome.state !== 'Succeeded') logFailure(services, each)
  }
}

/** Logs ids and outcome only. The messages are in the attempt's record. */
function logFailure({ log }: Pick<Services, 'log'>, { attempt, result, outcome }: Concluded): void {
  log.info(
    {
      workspaceId: attempt.workspaceId,
      endpointId: attempt.endpoint.id,
      requestId: attempt.requestId,
      actionId: attempt.action.id,
      attemptId: attempt.id,
      attempt: attempt.attemptNumber,
      state: outcome.state,
      status: result.received?.statusCode,
      error: result.error ?? undefined,
      durationMs: result.durationMs,
      nextAttemptAt: outcome.nextAttemptAt ?? undefined,
    },
    'delivery failed',
  )
}

/**
 * Records a batch of successes without consequences in one round trip, which is the usual case. Returns false for
 * others.
 */
export async function recordPlainSuccesses(
  services: Services,
  concluded: readonly Concluded[],
): Promise<boolean> {
  const isPlain = concluded.every(
    (one) =>
      one.outcome.state === 'Succeeded' &&
      one.attempt.stored === undefined &&
      one.result.ruleEnds.length === 0 &&
      !concernsFlow(one),
  )
  if (!isPlain) return false
  const actionIds = [...new Set(concluded.map(({ attempt }) => attempt.action.id))]
  return await finishAlone(services, concluded.map(finishedAttempt), services.clock.now(), actionIds)
}

export interface Concluded extends Ended {
  readonly outcome: AttemptOutcome
}

/** The attempt as its row will store it. */
export function finishedAttempt({ attempt, result, outcome }: Concluded): FinishedAttempt {
  return {
    endpointId: attempt.endpoint.id,
    attemptId: attempt.id,
    requestId: attempt.requestId,
    state: outcome.state,
    statusCode: result.received?.statusCode ?? null,
    error: result.error,
    finishedAt: result.finishedAt,
    durationMs: result.durationMs,
    nextAttemptAt: outcome.nextAttemptAt,
    disposition: dispositionOf(outcome),
    ...recordable(attempt, result),
    sealing: attempt.sealing,
    ...result.rules,
  }
}

function dispositionOf({ state, nextAttemptAt: next }: AttemptOutcome): Disposition {
  if (state === 'DeadLetter') return 'deadLettered'
  return next === null ? 'over' : 'again'
}

/**
 * Opens and closes dead-letter incidents. An action has one incident for an outage, however many dead letters it has.
 * Within a batch the order counts: a success before a dead letter ends the previous outage, one after it the new one.
 */
async function tellIncidents(services: Services, trx: Trx, concluded: readonly Concluded[]): Promise<void> {
  const telling = concluded.filter(
    ({ outcome: { state } }) => state === 'Succeeded' || state === 'DeadLetter',
  )
  const recoveredFirst: string[] = []
  const recoveredLast: string[] = []
  const outages: (Occasion & { readonly count: number })[] = []
  for (const [actionId, group] of Map.groupBy(telling, ({ attempt }) => attempt.action.id)) {
    const deadLetters = group.filter(({ outcome }) => outcome.state === 'DeadLetter')
    const last = deadLetters.at(-1)
    if (last !== undefined) outages.push({ ...occasionOf(last), count: deadLetters.length })
    if (last !== undefined && group[0]?.outcome.state === 'Succeeded') recoveredFirst.push(actionId)
    if (group.at(-1)?.outcome.state === 'Succeeded') recoveredLast.push(actionId)
  }
  await closeIncidents(services, trx, { kind: 'delivery.parked', subjectIds: recoveredFirst })
  await openParked(services, trx, outages)
  await closeIncidents(services, trx, { kind: 'delivery.parked', subjectIds: recoveredLast })
}

const asksForPause = ({ attempt, result }: Concluded): boolean =>
  result.received?.statusCode === GONE && attempt.action.policy.gone === 'pause'
