import { z } from 'zod'
import type { Services } from '../api/services.ts'
import { Timestamp } from '../api/values.ts'
import { type Db, run, statement } from '../platform/db/index.ts'

/** Length of the period that is summed up. */
const PERIOD_MS = 3_600_000
/** The newest attempts of an endpoint that are read, so that a busy endpoint costs no more. */
const ATTEMPTS_READ_MAX = 5000
/** The most unfinished deliveries that are counted for one action. */
const UNFINISHED_COUNTED_MAX = 10_000

/** Figures of the actions of an endpoint over the last hour. */
export const ActionHealth = z
  .object({
    since: Timestamp.describe(
      `Start of the period: an hour ago, or the oldest of the newest ${ATTEMPTS_READ_MAX} attempts of the endpoint if that is later`,
    ),
    items: z.array(
      z.object({
        actionId: z.uuid(),
        attempts: z.int().describe('Finished attempts, replays included, rehearsals not'),
        succeeded: z.int().describe('Successful ones among them'),
        p95Ms: z
          .int()
          .nullable()
          .describe('95 % of the attempts took at most so long, in milliseconds; null without any'),
        unfinished: z
          .int()
          .describe(`Deliveries that wait or are in flight; ${UNFINISHED_COUNTED_MAX} stands for more`),
      }),
    ),
  })
  .meta({ id: 'ActionHealth' })

/** Reads the newest attempts along the primary key, whatever the length of the history. */
const READ_HEALTH = statement(
  'read health of actions',
  `with newest as (
    select t.action_id, t.state, t.duration_ms, t.at from delivery_attempts t
    where t.endpoint_id = $1 and t.trigger <> 'rehearsal' order by t.id desc limit ${ATTEMPTS_READ_MAX}
  ), recent as (
    select action_id, count(*)::int as attempts,
           (count(*) filter (where state = 'Succeeded'))::int as succeeded,
           (percentile_disc(0.95) within group (order by duration_ms))::int as p95_ms
    from newest where at >= $2 and state <> 'Pending' group by action_id
  ), span as (
    select case when count(*) = ${ATTEMPTS_READ_MAX} then greatest(min(at), $2) else $2 end as since from newest
  )
  select a.id as action_id, coalesce(r.attempts, 0) as attempts, coalesce(r.succeeded, 0) as succeeded, r.p95_ms, span.since,
    (select count(*)::int from (
      select from deliveries d where d.action_id = a.id and d.finished_at is null limit ${UNFINISHED_COUNTED_MAX}
    ) open) as unfinished
  from actions a cross join span left join recent r on r.action_id = a.id
  where a.endpoint_id = $1 order by a.position`,
)

/**
 * Sums up the attempts of each action of an endpoint over the last hour. The cost is bounded by
 * {@link ATTEMPTS_READ_MAX} and {@link UNFINISHED_COUNTED_MAX}.
 */
export async function readHealth(
  { db, clock }: { readonly db: Db } & Pick<Services, 'clock'>,
  endpointId: string,
): Promise<z.input<typeof ActionHealth>> {
  const hourAgo = new Date(clock.now().getTime() - PERIOD_MS)
  const rows = await run(db, READ_HEALTH, [endpointId, hourAgo])
  return {
    since: rows[0]?.since ?? hourAgo,
    items: rows.map(({ since: _since, ...item }) => item),
  }
}
