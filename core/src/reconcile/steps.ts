import type { Services } from '../api/services.ts'
import { captureFetched, type FetchedOutcome } from '../capture/index.ts'
import { valuesOf } from '../platform/db/index.ts'
import { backoffMs } from '../platform/time/index.ts'
import { capturedEventIds } from '../requests/index.ts'
import {
  ARRIVAL_MS,
  FAILURES_MAX,
  MISSING_TYPES_MAX,
  PAGE_EVENTS,
  PAGES_MAX,
  PAUSE_MS,
  RUN_MS_MAX,
} from './declarations.ts'
import { finishRun } from './finish.ts'
import { holdRun, type Lease, whileHeld } from './lease.ts'
import {
  countMissingTypes,
  countOutstanding,
  keptSince,
  nextMissing,
  type StagedEvent,
  setEventStates,
  stageEvents,
  updateRun,
} from './queries.ts'
import type { Answer, Failure, Fetching, ListingSender, Redelivering, Scope } from './senders/index.ts'
import type { RunRow } from './view.ts'

export type Next =
  | { readonly after: 'ended'; readonly row: RunRow }
  /** 0 continues at once. */
  | { readonly after: 'wait'; readonly milliseconds: number }

export interface Work {
  readonly services: Services
  readonly lease: Lease
  readonly row: RunRow
  readonly sender: ListingSender
  /** The endpoint's id in its capture URL. */
  readonly captureId: string
  /** Keyed digest of the workspace, which requests have instead of an id that rules took out; null without a key. */
  readonly hash: ((text: string) => string) | null
}

const AT_ONCE: Next = { after: 'wait', milliseconds: 0 }

/**
 * Performs one step of a run: reads a page of the list, fetches a page of missing events, requests one event, or checks
 * for arrivals. Its writes are one transaction, which fails if another job has claimed the run.
 *
 * @throws LeaseLost, and errors of the database
 */
export async function takeStep(work: Work): Promise<Next> {
  const { row, services, sender } = work
  if (services.clock.now().getTime() > endOf(row)) {
    return await end(work, { code: 'timed_out', detail: '' })
  }
  if (row.phase === 'listing') return await listPage(work, sender)
  if (row.phase === 'arriving') return await lookForArrivals(work)
  return sender.brings === 'fetch' ? await fetchMissing(work, sender) : await redeliverNext(work, sender)
}

export async function end(
  { services, lease }: Pick<Work, 'services' | 'lease'>,
  failure: Failure | null,
): Promise<Extract<Next, { after: 'ended' }>> {
  const row = await whileHeld({ services, lease }, (trx, held) => finishRun(services, trx, held, failure))
  return { after: 'ended', row }
}

const endOf = ({ startedAt, createdAt }: RunRow) => (startedAt ?? createdAt).getTime() + RUN_MS_MAX

const scopeOf = ({ since, until, types }: RunRow): Scope => ({ since, until, types: JSON.parse(types) })

async function listPage(work: Work, sender: ListingSender): Promise<Next> {
  const { services, row, hash } = work
  const answer = await sender.list(scopeOf(row), row.nextCursor)
  if (answer.outcome !== 'ok') return await afterFailure(work, answer)
  const { next } = answer.value
  // All attempts of one event have its id. The first in the list is the newest.
  const events = [
    ...new Map(answer.value.events.toReversed().map((event) => [event.eventId, event])).values(),
  ]
  const present = await capturedEventIds(services.db, row.endpointId, valuesOf(events, 'eventId'), hash)
  const kept = await keptSince(services.db, row.endpointId, services.clock.now())
  const stateOf = (eventId: string, at: Date): StagedEvent['state'] => {
    if (present.has(eventId)) return 'present'
    return kept !== null && at < kept ? 'old' : 'missing'
  }
  const staged = events.toReversed().map((event) => ({
    ...event,
    digest: hash?.(event.eventId) ?? null,
    state: stateOf(event.eventId, event.at),
  }))
  return await whileHeld(work, async (trx, now): Promise<Next> => {
    const counts = await stageEvents(trx, row.id, { events: staged, from: now.pageCount * PAGE_EVENTS + 1 })
    const listed = {
      pageCount: now.pageCount + 1,
      nextCursor: next,
      failureCount: 0,
      listedCount: now.listedCount + counts.present + counts.old + counts.missing,
      foundCount: now.foundCount + counts.present,
      tooOldCount: now.tooOldCount + counts.old,
      missingCount: now.missingCount + counts.missing,
    }
    if (next !== null && listed.pageCount < PAGES_MAX) {
      await updateRun(trx, row.id, listed)
      return AT_ONCE
    }
    const complete = {
      ...listed,
      isComplete: next === null,
      phase: 'bringing' as const,
      missingTypes: JSON.stringify(await countMissingTypes(trx, row.id, MISSING_TYPES_MAX)),
    }
    const updated = await updateRun(trx, row.id, complete)
    if (!row.dryRun && listed.missingCount > 0) return AT_ONCE
    return { after: 'ended', row: await finishRun(services, trx, updated, null) }
  })
}

/** Reads a page of the list again and captures its missing events, the oldest first. */
async function fetchMissing(work: Work, sender: Fetching): Promise<Next> {
  const { services, row, lease, captureId } = work
  const missing = await nextMissing(services.db, row.id)
  const [first] = missing
  if (first === undefined) return await end(work, null)
  const answer = await sender.fetchPage(scopeOf(row), first.reference)
  if (answer.outcome !== 'ok') return await afterFailure(work, answer)
  const byId = new Map(answer.value.map((event) => [event.eventId, event]))
  const events = missing.flatMap(({ eventId }) => byId.get(eventId) ?? [])
  const gone = missing.filter(({ eventId }) => !byId.has(eventId)).map(({ eventId }) => eventId)
  const note = `${sender.name} listed this event to a reconciliation: it did not arrive here, and carries no signature.`
  let outcomes: readonly FetchedOutcome[] = []
  let capturedCount = 0
  const isOpen = await captureFetched(services, {
    captureId,
    events: events.map(({ eventId, type, body }) => ({ eventId, label: type, body, note })),
    before: async (trx) => {
      const now = await holdRun(trx, services, lease)
      capturedCount = now.capturedCount
      await setEventStates(trx, row.id, gone, 'refused')
      await updateRun(trx, row.id, { refusedCount: now.refusedCount + gone.length, failureCount: 0 })
    },
    after: async (trx, found) => {
      outcomes = found
      const idsOf = (state: FetchedOutcome['state']) =>
        events.flatMap(({ eventId }, index) => (found[index]?.state === state ? [eventId] : []))
      const stored = idsOf('stored')
      await setEventStates(trx, row.id, stored, 'brought')
      await setEventStates(trx, row.id, idsOf('present'), 'present')
      // Outstanding: no request has the event.
      await setEventStates(trx, row.id, idsOf('discarded'), 'refused')
      await updateRun(trx, row.id, { capturedCount: capturedCount + stored.length })
    },
  })
  if (!isOpen || outcomes.some(({ state }) => state === 'gone'))
    return await end(work, { code: 'endpoint_closed', detail: '' })
  const limited = outcomes.find((outcome) => outcome.state === 'limited')
  return limited === undefined ? AT_ONCE : { after: 'wait', milliseconds: limited.retryAfterSeconds * 1000 }
}

/**
 * Requests the oldest missing event from the sender. The event is marked as requested before the call, so that an
 * interrupted run never requests it twice. The end of the run checks whether it arrived.
 */
async function redeliverNext(work: Work, sender: Redelivering): Promise<Next> {
  const { services, row, hash } = work
  const [missing] = await nextMissing(services.db, row.id)
  if (missing === undefined) {
    const arriveBy = new Date(services.clock.now().getTime() + ARRIVAL_MS)
    await whileHeld(work, (trx) => updateRun(trx, row.id, { phase: 'arriving', arriveBy }))
    return AT_ONCE
  }
  const { eventId, reference } = missing
  const isPresent = await whileHeld(work, async (trx) => {
    const present = await capturedEventIds(trx, row.endpointId, [eventId], hash)
    await setEventStates(trx, row.id, [eventId], present.has(eventId) ? 'present' : 'asked')
    return present.has(eventId)
  })
  if (isPresent) return AT_ONCE
  const answer = await sender.redeliver(reference)
  if (answer.outcome === 'ok') {
    await whileHeld(work, (trx, now) =>
      updateRun(trx, row.id, { redeliveredCount: now.redeliveredCount + 1, failureCount: 0 }),
    )
    return AT_ONCE
  }
  if (answer.outcome === 'failed' && !isForAll(answer.failure)) {
    await whileHeld(work, async (trx, now) => {
      await setEventStates(trx, row.id, [eventId], 'refused')
      await updateRun(trx, row.id, { refusedCount: now.refusedCount + 1 })
    })
    return AT_ONCE
  }
  // Nothing was done about the event.
  if (answer.outcome !== 'unknown')
    await whileHeld(work, (trx) => setEventStates(trx, row.id, [eventId], 'missing'))
  return await afterFailure(work, answer)
}

/** Whether a refusal of one event applies to all events. */
const isForAll = ({ code }: Failure) => code !== 'not_found' && code !== 'sender_failed'

async function lookForArrivals(work: Work): Promise<Next> {
  const { services, row } = work
  const outstanding = await countOutstanding(services.db, row, ['asked'])
  const isOver = row.arriveBy === null || services.clock.now() >= row.arriveBy
  return outstanding === 0 || isOver ? await end(work, null) : { after: 'wait', milliseconds: PAUSE_MS }
}

const BACKOFF_MS = { first: 1000, max: 30_000 } as const

async function afterFailure(work: Work, answer: Exclude<Answer<unknown>, { outcome: 'ok' }>): Promise<Next> {
  const { row, services } = work
  if (answer.outcome === 'wait') {
    const isTooLong = services.clock.now().getTime() + answer.milliseconds > endOf(row)
    if (isTooLong) return await end(work, { code: 'rate_limited', detail: '' })
    return { after: 'wait', milliseconds: answer.milliseconds }
  }
  const failures = row.failureCount + 1
  if (answer.outcome === 'failed' || failures >= FAILURES_MAX) return await end(work, answer.failure)
  await whileHeld(work, (trx) => updateRun(trx, row.id, { failureCount: failures }))
  return { after: 'wait', milliseconds: backoffMs(BACKOFF_MS, row.failureCount) }
}
