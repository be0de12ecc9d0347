import { sql } from 'kysely'
import { aheadMs, type Services } from '../api/services.ts'
import type { EvaluatedRequest } from '../engine/message/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import { onOneConnection, PLAN_ONCE_FROM_HERE, run, statement, type Trx } from '../platform/db/index.ts'
import { inSlices } from '../platform/turns/index.ts'
import { capturedEventIds, lockCounters } from '../requests/index.ts'
import {
  type CaptureSettings,
  captureWindowRuns,
  findCaptureSettings,
  WINDOW_SECONDS,
} from './captureSettings.ts'
import { type CaptureOutcome, STATEMENT_SECONDS_MAX, storeCaptures } from './captureStatement.ts'
import { applyConsequences, storedOf } from './consequences.ts'
import { type EvaluatedCapture, evaluateFetchedInSteps } from './evaluateCapture.ts'
import { tellOfRedactionFaults } from './redactionFaults.ts'

export interface Fetched {
  /** In the form in which event ids are stored. */
  readonly eventId: string
  readonly label: string
  /** JSON. */
  readonly body: Uint8Array
  /** One sentence for the verdict, which is `unverifiable`: nothing was signed. */
  readonly note: string
}

/**
 * Outcome of a fetched event. `present`: the endpoint has a capture with its id already. `discarded`: by `dedupe`; no
 * request has its id.
 */
export type FetchedOutcome = CaptureOutcome | { readonly state: 'present' }

/** Fetched events of an endpoint, and the other work of the transaction that stores them. */
export interface FetchedCaptures {
  /** The id in the endpoint's capture URL. */
  readonly captureId: string
  readonly events: readonly Fetched[]
  /** Runs first. An error rolls back everything. */
  readonly before: (trx: Trx) => Promise<void>
  /**
   * Runs last. Outcomes are in the order of the events. Events after the ones that fit into this transaction have none.
   */
  readonly after: (trx: Trx, outcomes: readonly FetchedOutcome[]) => Promise<void>
}

/** Fraction of an endpoint's capture rate that fetched events may use; the rest is left to its senders. */
const RATE_SHARE = 0.5

const CONTENT_TYPE = 'application/json; charset=utf-8'

/**
 * Captures events that were fetched from their sender. Each is captured once, also if it arrives at the same time,
 * because the endpoint's counters are locked before its captures are searched. Cap, conditions and actions are those of
 * any capture. An endpoint for verified captures only takes them too. They may use {@link RATE_SHARE} of its rate, so
 * that its senders are not refused because of them.
 *
 * @returns false when the endpoint is gone; then nothing ran
 * @throws errors of `before`, of `after` and of the database; then nothing is stored
 */
export async function captureFetched(
  services: Services,
  { captureId, events, before, after }: FetchedCaptures,
): Promise<boolean> {
  const settings = await findCaptureSettings(services, captureId)
  if (settings === undefined) return false
  // A statement cannot evict what it inserts.
  const taken = events.slice(0, Math.max(1, settings.storedRequestsMax))
  const evaluated: EvaluatedCapture[] = []
  for (const event of taken) {
    const request = requestOf(settings, event, services.clock.now())
    evaluated.push(await inSlices(evaluateFetchedInSteps(settings, request)))
  }
  await onOneConnection(services.db, async (db) => {
    await db.transaction().execute(async (trx) => {
      await before(trx)
      await lockCounters(trx, settings.endpointId)
      const present = await capturedEventIds(
        trx,
        settings.endpointId,
        taken.map(({ eventId }) => eventId),
        settings.hash,
      )
      const missing = evaluated.filter((_, index) => !present.has(taken[index]?.eventId ?? ''))
      const room = await roomOf(trx, services, settings)
      const fresh = missing.slice(0, room.captures)
      // The same settings as on the connection for captures: the statement is written for them.
      await sql`select * from ${sql.raw(PLAN_ONCE_FROM_HERE)}`.execute(trx)
      await sql`set local statement_timeout = ${sql.lit(`${STATEMENT_SECONDS_MAX}s`)}`.execute(trx)
      const { outcomes } = await storeCaptures(db, fresh, {
        endpointIds: [settings.endpointId],
        plans: services.plans,
        aheadMs: aheadMs(services.clock),
      })
      const ids = outcomes.flatMap((outcome) => (outcome.state === 'stored' ? (outcome.id ?? []) : []))
      await markReconciled(trx, settings.endpointId, ids)
      await applyConsequences(services, trx, storedOf(fresh, outcomes))
      const limited: FetchedOutcome = { state: 'limited', retryAfterSeconds: room.retryAfterSeconds }
      const states = new Map(missing.map((capture, index) => [capture, outcomes[index] ?? limited]))
      await after(
        trx,
        evaluated.map((capture) => states.get(capture) ?? { state: 'present' }),
      )
      if (ids.length > 0) await announceEndpointChange(trx, settings.endpointId)
    })
  })
  await tellOfRedactionFaults(services, settings, evaluated)
  return true
}

const ROOM = statement(
  'room for fetched captures',
  `select c.window_count as used,
    case when ${captureWindowRuns('t.now')}
      then ceil(extract(epoch from c.window_started_at + interval '${WINDOW_SECONDS} s' - t.now))::integer end as left_seconds
  from endpoint_counters c
  cross join (select statement_timestamp() + $1::bigint * interval '1 ms' as now) t
  where c.endpoint_id = $2`,
  { isPrepared: false },
)

/**
 * Number of captures that the endpoint takes now, and time until there is room for more. The caller holds the lock of
 * its counters.
 */
async function roomOf(
  trx: Trx,
  { clock }: Pick<Services, 'clock'>,
  { endpointId, captureRatePerMinute }: CaptureSettings,
) {
  const ahead = aheadMs(clock)
  const rows = await run(trx, ROOM, [ahead, endpointId])
  const { used = 0, leftSeconds = null } = rows[0] ?? {}
  const share = Math.max(1, Math.floor(captureRatePerMinute * RATE_SHARE))
  if (leftSeconds === null || leftSeconds <= 0) return { captures: share, retryAfterSeconds: WINDOW_SECONDS }
  return {
    captures: Math.max(0, share - used),
    retryAfterSeconds: Math.min(WINDOW_SECONDS, Math.max(1, leftSeconds)),
  }
}

async function markReconciled(trx: Trx, endpointId: string, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await trx
    .updateTable('requests')
    .set({ reconciled: true })
    .where('endpointId', '=', endpointId)
    .where('id', 'in', ids)
    .execute()
}

function requestOf(settings: CaptureSettings, event: Fetched, receivedAt: Date): EvaluatedRequest {
  const { payloadBytesMax } = settings
  return {
    endpointId: settings.endpointId,
    receivedAt,
    method: 'POST',
    path: '',
    queryString: null,
    headers: [
      ['Content-Type', CONTENT_TYPE],
      ['Content-Length', String(event.body.length)],
    ],
    contentType: CONTENT_TYPE,
    body: event.body.subarray(0, payloadBytesMax),
    sizeBytes: event.body.length,
    bodyTruncated: event.body.length > payloadBytesMax,
    ip: null,
    label: event.label,
    eventId: event.eventId,
    verification: { verdict: 'unverifiable', note: event.note },
  }
}
