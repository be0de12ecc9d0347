import type { Services } from '../api/services.ts'
import { storedCondition } from '../engine/conditions/index.ts'
import { Failures } from '../platform/db/index.ts'
import { EACH_2_SECONDS, shortQueue } from '../platform/queues.ts'
import { newestMatching } from '../requests/index.ts'
import { RECHECK_AFTER_MS } from './create.ts'
import { gatewayIsUp } from './downtime.ts'
import {
  findWatchdogsToRecheck,
  listOutages,
  lockWatchdogs,
  lockWatchdogsToCheck,
  type WatchdogRow,
} from './queries.ts'
import { evaluate } from './rules.ts'
import { type Change, stepWatchdog } from './settle.ts'

export type CheckServices = Pick<Services, 'db' | 'clock' | 'enqueue'>

/** Watchdogs in one transaction: few, since each takes several round trips to the database, one after the other. */
const BATCH = 5
/** Such transactions at once. */
const AT_ONCE = 6
/** Watchdogs whose failures a check passes over, so that they hold up no others. */
const FAILED_MAX = 100
/** The most histories that a check looks at. */
const RECHECKS_MAX = 100
/** Time after which the remaining histories are left to the next check, so that they hold up no alarm. */
const RECHECKS_MS = 500
/** This long after the history was read, every capture is evaluated by the new criteria. */
const SETTLES_MS = 5000

/**
 * Raises the alarms that are due and announces the recoveries, each exactly once, however many workers run: a row lock
 * claims a watchdog, and afterwards its row no longer qualifies.
 *
 * While no gateway is up, no capture could arrive, so nothing is evaluated. Once one is back, the outage is credited
 * before any evaluation.
 */
export async function checkWatchdogs(services: CheckServices, signal: AbortSignal): Promise<void> {
  // Before that is asked: if this process is stopped for a while in between, as a laptop is, the time of the check is
  // before the outage.
  const now = services.clock.now()
  if (!(await gatewayIsUp(services.db))) return
  const failures = new Failures()
  await recheckHistories(services, signal, failures)
  const outages = await listOutages(services.db)
  const change: Change = { step: (clock) => evaluate(clock, now, outages) }
  const failed: string[] = []
  /** Whether there may be more. A watchdog that fails is left to the next check, the others of its batch to the next batch. */
  const checkSome = async (): Promise<boolean> => {
    let stepped = ''
    const isMore = await failures.unless(() =>
      services.db.transaction().execute(async (trx) => {
        const rows = await lockWatchdogsToCheck(trx, { now, limit: BATCH, except: failed })
        for (const row of rows) {
          stepped = row.id
          await stepWatchdog(services, trx, { row, change, outages })
        }
        return rows.length === BATCH
      }),
    )
    if (isMore === undefined && stepped !== '') failed.push(stepped)
    const isGoingOn = isMore ?? (stepped !== '' && failed.length < FAILED_MAX)
    return isGoingOn && !signal.aborted
  }
  const checkOthers = async () => {
    while (await checkSome());
  }
  // Mostly there is nothing to do.
  if (!signal.aborted && (await checkSome())) await Promise.all(Array.from({ length: AT_ONCE }, checkOthers))
  failures.throwAny()
}

/**
 * Reads the history of new and edited watchdogs again, to find captures that were being stored while the history was
 * read, and were still evaluated by the old criteria.
 */
async function recheckHistories(services: CheckServices, signal: AbortSignal, failures: Failures) {
  const now = services.clock.now()
  const endsAt = performance.now() + RECHECKS_MS
  for (const row of await findWatchdogsToRecheck(services.db, now, RECHECKS_MAX)) {
    if (signal.aborted || performance.now() > endsAt) return
    await failures.unless(() => recheck(services, row))
  }
}

async function recheck(services: CheckServices, row: WatchdogRow): Promise<void> {
  const [match] = await newestMatching(services.db, row.endpointId, storedCondition(row.match), {
    limit: 1,
    afterId: row.settledRequestId,
    since: row.armedAt,
    until: new Date((row.recheckAt ?? row.armedAt).getTime() - RECHECK_AFTER_MS + SETTLES_MS),
  })
  await services.db.transaction().execute(async (trx) => {
    const [locked] = await lockWatchdogs(trx, [row.id], services.clock.now())
    // The watchdog was armed again while its history was read, so the result is outdated.
    if (locked === undefined || locked.armedAt.getTime() !== row.armedAt.getTime()) return
    await stepWatchdog(services, trx, {
      row: locked,
      change: {
        step: (clock) => ({ clock, event: null }),
        settings: { recheckAt: null },
        match: match ?? null,
      },
      outages: await listOutages(trx),
    })
  })
}

/**
 * Raises the alarms of watchdogs that are due. Runs every 2 s, because watchdogs may expect a request every few seconds:
 * no alarm is more than 3 s late.
 */
export const WATCHDOG_CHECK = shortQueue('watchdogs.check', 120, EACH_2_SECONDS)
