import { aheadMs, type Services } from '../api/services.ts'
import { updateCounters } from '../endpoints/index.ts'
import { encodeArray, INT4, run, statement, TEXT, UUID } from '../platform/db/index.ts'
import { takesCaptures } from './captureSettings.ts'
import { gatherCounts } from './gatheredCounts.ts'

/**
 * Outcome of one refusal. `refused`: it was counted. `gone`: the endpoint is absent, deleted, expired, switched off or
 * suspended. `stale`: the settings have changed since. The last two were not counted.
 */
export type SenderRefusal = 'refused' | 'gone' | 'stale'

/**
 * Counts refusals: `$1` endpoints, `$2` the revisions of their settings, `$3` counts, `$4` the trace of the last one,
 * `$5` see `aheadMs`. It locks in id order, like every other writer. Endpoints that take no captures are absent from
 * the result.
 */
const COUNT = statement(
  'count refused senders',
  `with clock as (
    select statement_timestamp() + $5::bigint * interval '1 ms' as now
  ),
  locked as (
    select endpoint_id from endpoint_counters where endpoint_id = any ($1::uuid[]) order by endpoint_id for update
  ),
  open as (
    select r.place, l.endpoint_id, r.count, r.trace, v.revision = r.revision as is_present
    from locked l
    join unnest($1::uuid[], $2::integer[], $3::integer[], $4::text[]) with ordinality
      as r (endpoint_id, revision, count, trace, place) on r.endpoint_id = l.endpoint_id
    join endpoints e on e.id = l.endpoint_id
    join endpoint_revisions v on v.endpoint_id = l.endpoint_id
    where ${takesCaptures('(select now from clock)')}
  ),
  counted as (
    ${updateCounters({ refused: { count: 'o.count', lastAt: '(select now from clock)', trace: 'o.trace' } })}
    from open o
    where c.endpoint_id = o.endpoint_id and o.is_present
  )
  select place, is_present from open`,
)

/**
 * Makes the counter of a process: it counts captures that an endpoint refused because of their sender, those of the same
 * moment together, and keeps a trace of the last one: its address and the reason, at most 300 characters. Without
 * refusals it does no work. It rejects with errors of the database.
 */
export function createSenderRefusals({ db, clock }: Pick<Services, 'db' | 'clock'>) {
  return gatherCounts<SenderRefusal>(async (batch) => {
    const refused = [...batch]
    try {
      const open = await run(db, COUNT, [
        encodeArray(UUID, refused, ([settings]) => settings.endpointId),
        encodeArray(INT4, refused, ([settings]) => settings.revision),
        encodeArray(INT4, refused, ([, { count }]) => count),
        encodeArray(TEXT, refused, ([, { trace }]) => trace),
        aheadMs(clock),
      ])
      const states = new Map(
        open.map(({ place, isPresent }) => [place, isPresent ? 'refused' : 'stale'] as const),
      )
      for (const [index, [, { answer }]] of refused.entries()) answer.resolve(states.get(index + 1) ?? 'gone')
    } catch (error) {
      for (const [, { answer }] of refused) answer.reject(error)
    }
  })
}
