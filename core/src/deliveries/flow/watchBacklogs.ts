import { closeIncidents, openIncident } from '../../alerts/index.ts'
import type { Services } from '../../api/services.ts'
import { run, statement } from '../../platform/db/index.ts'
import { occasionOfRow } from '../queries.ts'

const WATCHED = "a.governed and a.delivery_policy::jsonb ->> 'backlogAlertSeconds' is not null"

/**
 * Governed actions with a limit of age, the creation of their oldest waiting delivery, and whether an incident is open.
 */
const READ_AGES = statement(
  'read ages of backlogs',
  `select a.id, a.name, a.workspace_id, a.endpoint_id, e.name as endpoint_name,
          (a.delivery_policy::jsonb ->> 'backlogAlertSeconds')::int as seconds_max, oldest.at as oldest_at, oldest.request_id,
          exists (
            select from incidents i
            where i.kind = 'delivery.backlog' and i.subject_id = a.id and i.closed_at is null) as is_open
  from actions a
  join endpoints e on e.id = a.endpoint_id and e.deleted_at is null
  left join lateral (
    select waits.at, waits.request_id from unnest(array['waiting', 'behind']) as state
    cross join lateral (
      select d.created_at as at, d.request_id from deliveries d
      where d.action_id = a.id and d.flow_state = state order by d.id limit 1) waits
    order by waits.at limit 1) oldest on true
  where ${WATCHED}`,
  { notNull: ['secondsMax'] },
)

const LOCK_WATCHED = statement(
  'lock action with a limit of age',
  `select a.id from actions a where a.id = $1::uuid and ${WATCHED} for no key update`,
)

/**
 * Opens an incident for each action whose oldest waiting delivery is older than its limit. Closes it when that is over.
 */
export async function watchBacklogs(services: Services): Promise<void> {
  const now = services.clock.now().getTime()
  const rows = await run(services.db, READ_AGES, [])
  for (const row of rows) {
    const seconds = row.oldestAt === null ? 0 : Math.floor((now - row.oldestAt.getTime()) / 1000)
    const isOver = seconds > row.secondsMax
    if (isOver === row.isOpen) continue
    await services.db.transaction().execute(async (trx) => {
      if (!isOver) {
        await closeIncidents(services, trx, { kind: 'delivery.backlog', subjectIds: [row.id] })
        return
      }
      // Deletions and new policies close the incident; one that was made meanwhile would find none to close.
      if ((await run(trx, LOCK_WATCHED, [row.id])).length === 0) return
      await openIncident(services, trx, {
        kind: 'delivery.backlog',
        ...occasionOfRow({ ...row, actionId: row.id, actionName: row.name }),
        reason: `The oldest delivery has waited for ${seconds} s; the limit is ${row.secondsMax} s.`,
      })
    })
  }
}
