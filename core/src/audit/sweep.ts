import type { Services } from '../api/services.ts'
import { DAY_MS } from '../platform/time/index.ts'
import { sweepEntries } from './queries.ts'

/** Deletes entries that are past the operator's retention. May be interrupted at any time. */
export async function sweepAudit(
  { db, clock, auditRetentionDays }: Pick<Services, 'db' | 'clock' | 'auditRetentionDays'>,
  signal: AbortSignal,
): Promise<void> {
  await sweepEntries(db, new Date(clock.now().getTime() - auditRetentionDays * DAY_MS), signal)
}
