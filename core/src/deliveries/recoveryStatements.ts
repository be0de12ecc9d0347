import { type Field, field, INT4, TIMESTAMPTZ, UUID } from '../platform/db/index.ts'
import type { JobSql } from '../platform/queues.ts'
import type { Attempt } from './attempt.ts'
import { leaseFrom } from './attemptOf.ts'
import { RECOVERIES } from './jobs.ts'
import type { RecoveryJob } from './recoveryJob.ts'

/** SQL that inserts a {@link RecoveryJob}, if it owns attempts. It runs in the transaction that claims the job's attempts. */
export function insertRecoveryJob(sql: JobSql): string {
  return sql.insert(RECOVERIES, {
    id: '$1::uuid',
    startAfter: '$2::timestamptz',
    data: "jsonb_build_object('workerId', $3::integer, 'attempts', n.attempts)",
    from: '(select $4::integer as attempts where $4::integer > 0) n',
  })
}

/** The parameters of {@link insertRecoveryJob}. The job is due when the leases of its attempts end. */
export function recoveryJobParameters(
  { id }: RecoveryJob,
  { now, workerId, attempts }: { now: Date; workerId: number | null; attempts: number },
): Field[] {
  return [field(UUID, id), field(TIMESTAMPTZ, leaseFrom(now)), field(INT4, workerId), field(INT4, attempts)]
}

/** Ids of the jobs that own no unfinished attempt once these attempts have ended. */
export function jobsEndedBy(attempts: readonly Attempt[]): string[] {
  const ids: string[] = []
  for (const [job, owned] of Map.groupBy(attempts, ({ recoveryJob }) => recoveryJob)) {
    if (job?.isEndedBy(owned)) ids.push(job.id)
  }
  return ids
}
