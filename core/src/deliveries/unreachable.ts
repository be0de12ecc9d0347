import { run, statement, type Trx } from '../platform/db/index.ts'

const REMOVE_UNREACHABLE = statement(
  'remove unreachable deliveries',
  `delete from deliveries d
  where d.id = any($1::bigint[]) and d.finished_at is null
    and not exists (
      select from actions a join endpoints e on e.id = a.endpoint_id and e.deleted_at is null
      join requests r on r.endpoint_id = d.endpoint_id and r.id = d.request_id
      where a.id = d.action_id)
  returning d.id`,
)

/**
 * Removes those of the deliveries whose action, endpoint or request is gone. Others cannot be claimed because another
 * worker took them.
 */
export async function removeUnreachable(trx: Trx, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await run(trx, REMOVE_UNREACHABLE, [ids])
}
