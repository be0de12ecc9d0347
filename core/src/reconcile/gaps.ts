import type { z } from 'zod'
import type { Context } from '../api/context.ts'
import type { EndpointRow } from '../endpoints/index.ts'
import { findProvider } from '../engine/providers/index.ts'
import { run, statement } from '../platform/db/index.ts'
import type { Gaps } from './schema.ts'

/** The most captures that are read, the newest ones. */
const CAPTURES_MAX = 10_000
/** The most gaps that are shown, the newest ones. */
const GAPS_MAX = 100

const GAPS = statement(
  'gaps of event ids',
  `with newest as (
    select r.id, r.received_at, r.event_id::numeric as number
    from (
      select id, received_at, event_id from requests
      where endpoint_id = $1 and hidden_at is null order by id desc limit ${CAPTURES_MAX}
    ) r
    where r.event_id ~ '^[0-9]{1,18}$'
  ),
  numbered as (
    select distinct on (number) id, received_at, number from newest order by number, id
  ),
  neighbours as (
    select id, received_at, number, lag(number) over w as before, lag(id) over w as before_id,
           lag(received_at) over w as before_at
    from numbered window w as (order by number)
  )
  select (before + 1)::text as first_missing, (number - 1)::text as last_missing,
         least(number - before - 1, 9007199254740991)::float8 as count,
         before_id as before_request_id, id as after_request_id,
         least(before_at, received_at) as "from", greatest(before_at, received_at) as "to",
         least(sum(number - before - 1) over (), 9007199254740991)::float8 as total
  from neighbours
  where number > before + 1
    and ($2::float8 is null or abs(extract(epoch from received_at - before_at)) < $2::float8)
    and ($3::timestamptz is null or greatest(before_at, received_at) >= $3::timestamptz)
  order by number desc limit ${GAPS_MAX}`,
  { isPrepared: false, notNull: ['firstMissing', 'lastMissing', 'beforeRequestId'] },
)

/**
 * Finds numbers that are missing between captures of an endpoint whose event ids are a sequence. Captures may arrive in
 * any order: they are sorted by their numbers. Numbers before the first and after the last capture are unknown. A
 * number whose capture was deleted is no gap until the capture is purged.
 *
 * @param since only gaps that end in a capture from this time on
 */
export async function readGaps(
  { db }: Pick<Context, 'db'>,
  { id, provider, eventIdPath }: EndpointRow,
  since: Date | undefined,
): Promise<z.input<typeof Gaps>> {
  const sequence = provider === null || eventIdPath !== null ? undefined : findProvider(provider)?.sequence
  if (sequence === undefined) return { sequence: false, missingCount: 0, items: [] }
  const restarts = sequence.restartsAfterSeconds ?? null
  const rows = await run(db, GAPS, [id, restarts, since ?? null])
  return { sequence: true, missingCount: rows[0]?.total ?? 0, items: [...rows] }
}
