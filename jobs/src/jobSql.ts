import type { JobSql } from '@creel/core'

/**
 * core's JobSql over pg-boss's tables: a job has the same columns as one that pg-boss inserts. As with pg-boss, no
 * NOTIFY is sent for a job that is due in the future.
 */
export const JOB_SQL: JobSql = {
  insert: ({ name }, { id, startAfter, data, from }) => `
    insert into pgboss.job (id, name, data, start_after, created_on, keep_until, retry_limit, retry_delay, retry_backoff,
      retry_delay_max, expire_seconds, deletion_seconds, heartbeat_seconds, dead_letter, policy)
    select ${id}, q.name, ${data}, ${startAfter}, pgboss.job_now(),
      ${startAfter} + q.retention_seconds * interval '1 s', q.retry_limit, q.retry_delay, q.retry_backoff,
      q.retry_delay_max, q.expire_seconds, q.deletion_seconds, q.heartbeat_seconds, q.dead_letter, q.policy
    from pgboss.queue q, ${from}
    where q.name = '${name}'`,
  remove: ({ name }, ids) => `delete from pgboss.job where name = '${name}' and id = any(${ids})`,
}
