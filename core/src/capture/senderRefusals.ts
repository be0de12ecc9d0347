import type { Services } from '../api/services.ts'
import { encodeArray, INT4, run, statement, TEXT, UUID } from '../platform/db/index.ts'
import type { CaptureSettings } from './captureSettings.ts'
import { gatherCounts } from './gatheredCounts.ts'

/** Counts captures that an endpoint does not take from their senders; of each endpoint's last one a trace is kept. */
export interface SenderRefusals {
  /**
   * Counts a refusal, together with those that come meanwhile.
   *
   * @param trace who sent it and why it was refused, at most 300 characters
   * @returns false when the settings have changed since: then nothing was counted
   * @throws what the database threw
   */
  refuse(settings: CaptureSettings, trace: string): Promise<boolean>
}

/**
 * `$1` endpoints, `$2` the revisions of their settings, `$3` how many each, `$4` the trace of the last, `$5` now. Locks in id order, like
 * every other writer.
 */
const COUNT = statement(
  'count refused senders',
  `with locked as (
    select endpoint_id from endpoint_counters where endpoint_id = any ($1::uuid[]) order by endpoint_id for update
  )
  update endpoint_counters c set
    refused_count = c.refused_count + r.count, last_refused_at = $5::timestamptz, last_refusal = r.trace
  from locked l
  join unnest($1::uuid[], $2::integer[], $3::integer[], $4::text[]) as r (endpoint_id, revision, count, trace)
    on r.endpoint_id = l.endpoint_id
  join endpoint_revisions v on v.endpoint_id = r.endpoint_id and v.revision = r.revision
  where c.endpoint_id = r.endpoint_id
  returning c.endpoint_id`,
)

/** Costs nothing while nobody is refused. */
export function createSenderRefusals({ db, clock }: Pick<Services, 'db' | 'clock'>): SenderRefusals {
  const refuse = gatherCounts<boolean>(async (batch) => {
    const refused = [...batch]
    try {
      const counted = await run<{ readonly endpointId: string }>(db, COUNT, [
        encodeArray(UUID, refused, ([settings]) => settings.endpointId),
        encodeArray(INT4, refused, ([settings]) => settings.revision),
        encodeArray(INT4, refused, ([, { count }]) => count),
        encodeArray(TEXT, refused, ([, { trace }]) => trace),
        clock.now(),
      ])
      const ids = new Set(counted.map(({ endpointId }) => endpointId))
      for (const [{ endpointId }, { answer }] of refused) answer.resolve(ids.has(endpointId))
    } catch (error) {
      for (const [, { answer }] of refused) answer.reject(error)
    }
  })
  return { refuse: (settings, trace) => refuse(settings, trace) }
}
