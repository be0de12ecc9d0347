import type { Services } from '../api/services.ts'
import { DAY_MS } from '../platform/time/index.ts'

/** Maximum age of traffic counts, in days. */
export const TRAFFIC_DAYS_MAX = 90

/** Deletes minutes of refused captures that are too old for any count. */
export async function sweepRejections({ db, clock }: Pick<Services, 'db' | 'clock'>): Promise<void> {
  const keptSince = new Date(clock.now().getTime() - TRAFFIC_DAYS_MAX * DAY_MS)
  await db.deleteFrom('rejectionMinutes').where('minute', '<', keptSince).execute()
}
