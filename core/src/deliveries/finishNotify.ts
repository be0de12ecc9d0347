import type { NotifyReport } from '../alertChannels/index.ts'
import type { Services } from '../api/services.ts'
import type { AttemptState } from '../engine/words/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import { run, statement, type Trx } from '../platform/db/index.ts'
import { replaceRecords } from './details.ts'
import { countAttempts } from './storageBytes.ts'

const FINISH = statement(
  'finish notify attempts',
  `update delivery_attempts a set state = g.state, error = g.error, finished_at = g.finished_at,
    status_code = case when g.duration_ms is null then a.status_code else g.status_code end,
    duration_ms = coalesce(g.duration_ms, a.duration_ms, 0), next_attempt_at = g.next_at, lease_until = null
  from unnest($1::uuid[], $2::bigint[], $3::text[], $4::int[], $5::text[], $6::timestamptz[], $7::int[], $8::timestamptz[])
    as g (endpoint_id, id, state, status_code, error, finished_at, duration_ms, next_at)
  where a.endpoint_id = g.endpoint_id and a.id = g.id`,
)

/**
 * Finishes the attempt rows of notify actions after their first sends, and updates them after each retry. The state is
 * Succeeded when the provider accepted the message, Failed for any other answer, and Errored when no answer arrived or
 * the channel was not available. It is never DeadLetter or Interrupted. A retry that sends nothing, since its channel is off by
 * now, leaves status and duration of the send before it, as their record stays, too.
 */
export async function finishNotify(
  { secrets }: Pick<Services, 'secrets'>,
  trx: Trx,
  reports: readonly NotifyReport[],
): Promise<void> {
  const endpointIds = reports.map(({ endpointId }) => endpointId)
  const ids = reports.map(({ attemptId }) => attemptId)
  await run(trx, FINISH, [
    endpointIds,
    ids,
    reports.map(stateOf),
    reports.map(({ send }) => send?.statusCode ?? null),
    reports.map(errorOf),
    reports.map(({ finishedAt }) => finishedAt),
    reports.map(({ send }) => send?.durationMs ?? null),
    reports.map(({ nextAttemptAt }) => nextAttemptAt),
  ])
  await replaceRecords(
    secrets,
    trx,
    reports.flatMap(({ send, ...of }) => (send === null ? [] : { ...of, ...send })),
  )
  await countAttempts(trx, endpointIds, ids)
  await announceEndpointChange(trx, ...new Set(endpointIds))
}

function stateOf({ delivered, send }: NotifyReport): AttemptState {
  if (delivered) return 'Succeeded'
  return send === null || send.statusCode === null ? 'Errored' : 'Failed'
}

/** A stable error code, then the provider's own text. */
function errorOf({ delivered, send, detail }: NotifyReport): string | null {
  if (delivered) return null
  const word = send === null ? 'channel_unavailable' : (send.error ?? 'reset')
  if (detail === null || detail === '' || detail.startsWith(word)) return detail || word
  return `${word}: ${detail}`
}
