import type { QueueName, RecoveryJobSql } from '@creel/core'

const QUEUE: QueueName = 'deliveries.recover'

/**
 * core's RecoveryJobSql over pg-boss's tables: a job has the same columns as one that pg-boss inserts. As with pg-boss,
 * no NOTIFY is sent for a job that is due in the future.
 */
export const RECOVERY_JOBS: RecoveryJobSql = {
  insert: ({ id, startAfter, workerId, attempts }) => `
    insert into pgboss.job (id, name, data, start_after, created_on, keep_until, retry_limit, retry_delay, retry_backoff,
      retry_delay_max, expire_seconds, deletion_seconds, heartbeat_seconds, dead_letter, policy)
    select ${id}, q.name, jsonb_build_object('workerId', ${workerId}, 'attempts', n.attempts), ${startAfter}, pgboss.job_now(),
      ${startAfter} + q.retention_seconds * interval '1 s', q.retry_limit, q.retry_delay, q.retry_backoff,
      q.retry_delay_max, q.expire_seconds, q.deletion_seconds, q.heartbeat_seconds, q.dead_letter, q.policy
    from pgboss.queue q, (select ${attempts} as attempts) n
    where q.name = '${QUEUE}' and n.attempts > 0`,
  remove: (ids) => `delete from pgboss.job where name = '${QUEUE}' and id = any(${ids})`,
}
