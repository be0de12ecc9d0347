import { sql } from 'kysely'
import type { Services } from '../api/services.ts'
import { sweepAudit } from '../audit/index.ts'
import { run, statement } from '../platform/db/index.ts'
import { sweepRejections } from '../traffic/index.ts'
import { countRows } from './countRows.ts'
import { sweptRows } from './declarations.ts'
import {
  BATCH_ROWS,
  type EndpointToSweep,
  endpointsToSweep,
  inBatches,
  type SweepServices,
  sweepTransaction,
} from './endpointsToSweep.ts'
import { sweepClaims } from './eventClaims.ts'

import { removeAttempts, removeRecords } from './removal.ts'
import { sweepBin, sweepHidden, sweepStored } from './sweepRequests.ts'

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

const FIND_ORPHANS = statement(
  'find records without a request',
  `select d.attempt_id from endpoint_counters c
  join attempt_details d on d.endpoint_id = c.endpoint_id and d.request_id < c.oldest_request_id
  where c.endpoint_id = $1 and d.sent_body is null and not exists (
    select from requests r where r.endpoint_id = d.endpoint_id and r.id = d.request_id
  )
  limit ${BATCH_ROWS}`,
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
  await inBatches(signal, async () => {
    const rows = await run(db, FIND_ORPHANS, [endpointId])
    if (rows.length === 0) return false
    const ids = rows.map((row) => row.attemptId)
    sweptRows.inc({ sweep: 'details' }, ids.length)
    await sweepTransaction(db, (trx) => removeRecords(trx, endpointId, { attemptIds: ids }))
    return true
  })
}

/** In this order, because each may leave work for the following ones. */
const SWEEPS = [sweepStored, sweepBin, sweepHidden, sweepAttempts, sweepDetails] as const

/**
 * Deletes everything that is past its plan's retention: stored and binned requests, attempts and their records. Also
 * deletes claims of events whose window has ended, old entries of the audit log, unused rate windows, and old minutes
 * of refused captures. Works in small batches with little effect on captures. May be interrupted at any time, and several workers may sweep at once.
 */
export async function sweepRetention(
  services: SweepServices & Pick<Services, 'auditRetentionDays'>,
  signal: AbortSignal,
): Promise<void> {
  for await (const endpoint of endpointsToSweep(services)) {
    for (const sweep of SWEEPS) await sweep(services, endpoint, signal)
    if (signal.aborted) return
  }
  await countRows(services, signal)
  await sweepClaims(services, signal)
  await sweepAudit(services, signal)
  await sweepRateWindows(services)
  await sweepRejections(services)
}

/**
 * Deletes old rate windows and ended slots. A window is a minute long, so one that began an hour ago belongs to an idle
 * key.
 */
async function sweepRateWindows({ db, clock }: SweepServices): Promise<void> {
  const now = clock.now()
  await sweepTransaction(db, async (trx) => {
    await sql`delete from api_key_windows where started_at < ${new Date(now.getTime() - 3_600_000)}`.execute(
      trx,
    )
    await sql`delete from concurrency_slots where ends_at < ${now}`.execute(trx)
  })
}
