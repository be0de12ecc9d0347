import { sql } from 'kysely'
import type { Services } from '../api/services.ts'
import { sweepAudit } from '../audit/index.ts'
import { sweepRejections } from '../traffic/index.ts'
import { countRows } from './countRows.ts'
import { endpointsToSweep } from './endpointsToSweep.ts'
import { sweepClaims } from './eventClaims.ts'
import { type SweepServices, sweepTransaction } from './pace.ts'
import { sweepAttempts, sweepDetails } from './sweepAttempts.ts'
import { sweepBin, sweepHidden, sweepStored } from './sweepRequests.ts'

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
