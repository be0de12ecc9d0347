import { sql } from 'kysely'
import type { Services } from '../api/services.ts'
import { sweepAudit } from '../audit/index.ts'
import { deleteOldReplays } from '../listeners/index.ts'
import { Failures, run, statement, type Trx } from '../platform/db/index.ts'
import { HOUR_MS } from '../platform/time/index.ts'
import { deleteEndedSessions } from '../sessions/index.ts'
import { deleteExpiredShareLinks } from '../shareLinks/index.ts'
import { sweepRejections } from '../traffic/index.ts'
import { sweptRows } from './declarations.ts'
import {
  BATCH_ROWS,
  type EndpointToSweep,
  endpointsToSweep,
  inBatches,
  inTurns,
  type SweepServices,
  sweepTransaction,
} from './endpointsToSweep.ts'
import { sweepClaims } from './eventClaims.ts'
import { removeAttempts, removeDeliveries, removeRecords } from './removal.ts'
import { sweepBin, sweepHidden, sweepStored } from './sweepRequests.ts'
import { countRows } from './uncountedRows.ts'

/** Deletes attempts that are older than the plan's retention, oldest first. */
async function sweepAttempts(
  { db }: SweepServices,
  { endpointId, keptSince }: EndpointToSweep,
  signal: AbortSignal,
): Promise<void> {
  let done = 0
  await inBatches(signal, async () => {
    const attempts = await db
      .selectFrom('deliveryAttempts')
      .where('endpointId', '=', endpointId)
      .where('id', '>', done)
      .select(['id', 'at', 'state'])
      .orderBy('id')
      .limit(BATCH_ROWS)
      .execute()
    const ids = attempts.filter(({ at, state }) => at < keptSince && state !== 'Pending').map(({ id }) => id)
    const last = ids.at(-1)
    if (last === undefined) return false
    await sweepTransaction(db, async (trx) => {
      await removeAttempts(trx, endpointId, { attemptIds: ids })
      sweptRows.inc({ sweep: 'attempts' }, ids.length)
    })
    done = last
    return true
  })
}

/** Records that are read at once. No capture waits for their deletion. */
const RECORDS_AT_ONCE = 2000
const NEXT_RECORDS = statement(
  'next records below the mark',
  `select d.* from endpoint_counters c cross join lateral (
    select d.attempt_id, d.request_id, d.sent_body is null and not exists (
      select from requests r where r.endpoint_id = d.endpoint_id and r.id = d.request_id
    ) as is_orphan
    from attempt_details d
    where d.endpoint_id = c.endpoint_id and d.request_id < c.oldest_request_id
      and (d.request_id, d.attempt_id) > ($2::bigint, $3::bigint)
    order by d.request_id, d.attempt_id limit ${RECORDS_AT_ONCE}
  ) d
  where c.endpoint_id = $1`,
  { isPrepared: false },
)

/**
 * Deletes the records of attempts without a request, unless they contain the sent body: the others are not shown
 * without the request. Every stored request has an id at or above the endpoint's mark, so only records below it can be
 * orphans.
 */
async function sweepDetails(
  { db }: SweepServices,
  { endpointId }: EndpointToSweep,
  signal: AbortSignal,
): Promise<void> {
  let after = [0, 0]
  await inBatches(signal, async () => {
    const rows = await run(db, NEXT_RECORDS, [endpointId, ...after])
    const of = { attemptIds: rows.filter((row) => row.isOrphan).map((row) => row.attemptId) }
    sweptRows.inc({ sweep: 'details' }, of.attemptIds.length)
    if (of.attemptIds.length > 0) await sweepTransaction(db, (trx) => removeRecords(trx, endpointId, of))
    after = rows.slice(-1).flatMap(({ requestId, attemptId }) => [requestId, attemptId])
    return rows.length === RECORDS_AT_ONCE
  })
}

/** Requests below the mark that have deliveries, and whether these are dead letters of a request that is gone. */
const NEXT_DEAD_LETTERS = statement(
  'next dead letters below the mark',
  `select d.request_id, not exists (
      select from requests r where r.endpoint_id = $1 and r.id = d.request_id
    ) and not exists (
      select from deliveries o where o.endpoint_id = $1 and o.request_id = d.request_id and o.finished_at is null
    ) as is_orphan
  from endpoint_counters c cross join lateral (
    select distinct d.request_id from deliveries d
    where d.endpoint_id = c.endpoint_id and d.request_id < c.oldest_request_id and d.request_id > $2::bigint
    order by d.request_id limit ${BATCH_ROWS}
  ) d
  where c.endpoint_id = $1
  order by d.request_id`,
  { isPrepared: false },
)

/**
 * Deletes the dead letters of requests that captures have evicted at the cap, which leave them, and frees the keys that
 * they hold. Such requests are below the endpoint's mark, as in {@link sweepDetails}.
 */
async function sweepDeadLetters(
  services: SweepServices,
  { endpointId }: EndpointToSweep,
  signal: AbortSignal,
): Promise<void> {
  let after = 0
  await inBatches(signal, async () => {
    const rows = await run(services.db, NEXT_DEAD_LETTERS, [endpointId, after])
    const orphans = rows.filter((row) => row.isOrphan).map((row) => row.requestId)
    if (orphans.length > 0) {
      const remove = (trx: Trx) => removeDeliveries(services, trx, endpointId, orphans)
      sweptRows.inc({ sweep: 'deadLetters' }, await sweepTransaction(services.db, remove))
    }
    after = rows.at(-1)?.requestId ?? after
    return rows.length === BATCH_ROWS
  })
}

/** In this order, because each may leave work for the following ones. */
const SWEEPS = [
  sweepStored,
  sweepBin,
  sweepHidden,
  sweepDeadLetters,
  sweepAttempts,
  sweepDetails,
  sweepClaims,
] as const

/**
 * Deletes everything that is past its plan's retention: stored and binned requests, attempts and their records. Also
 * deletes dead letters of evicted requests, claims of events whose window has ended, old entries of the audit log, unused rate windows, ended
 * sessions and links, old replays of listeners, and old minutes of refused captures. Works in small batches with little effect on captures. May be interrupted at any time, and several workers may sweep at once.
 *
 * @throws what has failed, at the end
 */
export async function sweepRetention(
  services: SweepServices & Pick<Services, 'auditRetentionDays'>,
  signal: AbortSignal,
): Promise<void> {
  const failures = new Failures()
  for (const sweep of [sweepAudit, sweepRateWindows, sweepTokens, sweepRejections])
    await failures.unless(() => sweep(services, signal))
  const all = () => endpointsToSweep(services)
  await inTurns({ signal, failures }, all, async (endpoint, turn) => {
    for (const sweep of SWEEPS) await sweep(services, endpoint, turn)
  })
  await countRows(services, signal)
  failures.throwAny()
}

/**
 * Deletes old rate windows and ended slots. A window is a minute long, so one that began an hour ago belongs to an idle
 * key.
 */
async function sweepRateWindows({ db, clock }: SweepServices): Promise<void> {
  const now = clock.now()
  await sweepTransaction(db, async (trx) => {
    await sql`delete from api_key_windows where started_at < ${new Date(now.getTime() - HOUR_MS)}`.execute(
      trx,
    )
    await sql`delete from concurrency_slots where ends_at < ${now}`.execute(trx)
  })
}

/** Deletes signed-in browsers, sign-in links and share links that have ended, and replays that listeners were asked for. */
async function sweepTokens({ db, clock }: SweepServices): Promise<void> {
  const now = clock.now()
  await sweepTransaction(db, async (trx) => {
    await deleteEndedSessions(trx, now)
    await deleteExpiredShareLinks(trx, now)
    await deleteOldReplays(trx, now)
  })
}
