import { ALERT_FAN_OUT, pruneAlerts, waitingSince } from '../../alerts/index.ts'
import type { Services } from '../../api/services.ts'
import { DAY_MS } from '../../platform/time/index.ts'

/** Retention of the history. */
const HISTORY_DAYS = 30
/** Alerts younger than this still have a job that is about to run. */
const JOB_AGE_MS_MAX = 15_000

/**
 * Queues alerts again whose jobs were lost in a crash, and deletes old ones. A surplus job is harmless: an alert is
 * fanned out once.
 */
export async function sweepAlerts(services: Services): Promise<void> {
  const now = services.clock.now()
  const before = new Date(now.getTime() - JOB_AGE_MS_MAX)
  await services.db.transaction().execute(async (trx) => {
    const waiting = await waitingSince(trx, before)
    await services.enqueue(
      trx,
      ALERT_FAN_OUT,
      waiting.map(({ id }) => ({ payload: { alertId: id } })),
    )
  })
  await services.db
    .transaction()
    .execute((trx) => pruneAlerts(trx, new Date(now.getTime() - HISTORY_DAYS * DAY_MS)))
}
