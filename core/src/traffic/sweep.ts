import type { Services } from '../api/services.ts'
import { DAY_MS } from '../platform/time/index.ts'

/** Traffic is counted as far back as this, in days. */
export const TRAFFIC_DAYS_MAX = 90

/** Deletes the minutes of refused captures that no count of traffic reaches. */
export async function sweepRejections({ db, clock }: Pick<Services, 'db' | 'clock'>): Promise<void> {
  const keptSince = new Date(clock.now().getTime() - TRAFFIC_DAYS_MAX * DAY_MS)
  await db.deleteFrom('rejectionMinutes').where('minute', '<', keptSince).execute()
}
