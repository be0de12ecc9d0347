import { closeIncidents, closeIncidentsSilently, openIncident } from '../alerts/index.ts'
import type { Services } from '../api/services.ts'
import { run, statement, type Trx, valuesOf } from '../platform/db/index.ts'
import { type Ended, errorCodeOf, hasSucceeded, wasRefused } from './attempt.ts'
import { occasionOfRow } from './queries.ts'

/** An action is failing when it has had no success for so long … */
const FAILING_MS = 600_000
/** … and at least so many failed attempts since. */
const FAILED_ATTEMPTS_MIN = 5
/** The most incidents of one transaction, which locks the rows of their actions. */
const BATCH = 100

/** Before any other statement on these rows: a fixed order of locks prevents deadlocks between batches. */
const LOCK_FAILURES = statement(
  'lock failures of actions',
  'select action_id from failing_actions where action_id = any($1::uuid[]) order by action_id for update',
)

const FORGET_FAILURES = statement(
  'forget failures of actions',
  'delete from failing_actions where action_id = any($1::uuid[]) returning action_id',
)

const COUNT_FAILURES = statement(
  'count failures of actions',
  `insert into failing_actions as f (action_id, workspace_id, since, attempts, request_id, error)
  select * from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::int[], $5::bigint[], $6::text[]) as e (action_id)
  order by e.action_id
  on conflict (action_id) do update set
    attempts = f.attempts + excluded.attempts, request_id = excluded.request_id, error = excluded.error`,
)

/** Former versions counted notify actions, too, and none of their successes. */
const FORGET_GONE = statement(
  'forget failures of gone actions',
  `delete from failing_actions f
  where not exists (select from actions a where a.id = f.action_id and a.off_since is null and a.kind = 'forward')
  returning f.action_id`,
)

const FIND_PARKED_OFF = statement(
  'find dead-letter incidents of actions that are off',
  `select a.id from incidents i join actions a on a.id = i.subject_id
  where i.kind = 'delivery.parked' and i.closed_at is null and a.off_since is not null`,
)

/** `$1` is the latest start of an outage that is long enough. Rows that a recorder has locked wait for the next check. */
const LOCK_FAILING = statement(
  'lock failing actions',
  `select f.action_id, f.since, f.attempts, f.request_id, f.error, a.name, a.workspace_id, a.endpoint_id, e.name as endpoint_name
  from failing_actions f
  join actions a on a.id = f.action_id
  join endpoints e on e.id = a.endpoint_id and e.deleted_at is null
  where f.since <= $1 and f.attempts >= ${FAILED_ATTEMPTS_MIN} and not exists (
    select from incidents i
    where i.kind = 'delivery.failing' and i.subject_id = f.action_id and i.closed_at is null)
  order by f.action_id limit ${BATCH} for update of f skip locked`,
)

/**
 * Counts the failures of each action since its last success, in the transaction that records them. A success forgets
 * them and closes the incident. An attempt that was refused tells nothing of the receiver: it does not count. This
 * leaves out notify actions, too: of their attempts only refused ones are recorded here, and no success.
 */
export async function countFailures(services: Services, trx: Trx, ended: readonly Ended[]): Promise<void> {
  const made = ended.filter((one) => !wasRefused(one))
  if (made.length === 0) return
  const groups = [...Map.groupBy(made, ({ attempt }) => attempt.action.id)]
  const recovered = groups.filter(([, group]) => group.some(hasSucceeded)).map(([actionId]) => actionId)
  const known = await run(trx, LOCK_FAILURES, [groups.map(([actionId]) => actionId)])
  if (known.length > 0 && recovered.length > 0) {
    const rows = await run(trx, FORGET_FAILURES, [recovered])
    const subjectIds = rows.map(({ actionId }) => actionId)
    await closeIncidents(services, trx, { kind: 'delivery.failing', subjectIds })
  }
  const failures = groups.flatMap(([actionId, group]) => {
    const failed = group.slice(group.findLastIndex(hasSucceeded) + 1)
    const [first] = failed
    const last = failed.at(-1)
    return first === undefined || last === undefined ? [] : [{ actionId, first, last, count: failed.length }]
  })
  if (failures.length === 0) return
  await run(trx, COUNT_FAILURES, [
    failures.map(({ actionId }) => actionId),
    failures.map(({ first }) => first.attempt.workspaceId),
    failures.map(({ first }) => first.result.finishedAt),
    failures.map(({ count }) => count),
    failures.map(({ last }) => last.attempt.requestId),
    failures.map(({ last }) => errorCodeOf(last)),
  ])
}

/**
 * Opens an incident for each action of which no attempt has succeeded for ten minutes, and at least five have failed.
 * Forgets the failures of actions that were deleted or switched off, and closes incidents of their dead letters: they
 * cannot recover.
 */
export async function watchFailing(services: Services): Promise<void> {
  await services.db.transaction().execute(async (trx) => {
    const gone = await run(trx, FORGET_GONE, [])
    const subjectIds = gone.map(({ actionId }) => actionId)
    await closeIncidentsSilently(services, trx, 'delivery.failing', subjectIds)
    const off = await run(trx, FIND_PARKED_OFF, [])
    await closeIncidentsSilently(services, trx, 'delivery.parked', valuesOf(off, 'id'))
  })
  while ((await openSome(services)) === BATCH);
}

async function openSome(services: Services): Promise<number> {
  const latest = new Date(services.clock.now().getTime() - FAILING_MS)
  return await services.db.transaction().execute(async (trx) => {
    const rows = await run(trx, LOCK_FAILING, [latest])
    for (const row of rows) {
      await openIncident(services, trx, {
        kind: 'delivery.failing',
        ...occasionOfRow({ ...row, actionName: row.name }),
        reason: `No attempt has succeeded since ${row.since.toISOString()}${row.error === null ? '' : `; last error ${row.error}`}.`,
        count: row.attempts,
      })
    }
    return rows.length
  })
}
