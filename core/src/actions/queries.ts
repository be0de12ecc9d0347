import { type Selectable, sql, type Updateable } from 'kysely'
import type { Services } from '../api/services.ts'
import { recordSuspensions } from '../audit/index.ts'
import { resumeDeliveries } from '../deliveries/index.ts'
import type { Plan } from '../plans/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import { type ActionsTable, type Db, run, statement, type Trx } from '../platform/db/index.ts'

/**
 * Applies the plan's limit to a workspace: suspends actions over it and lifts the suspension of others. Queued
 * deliveries of actions in use again continue. The caller holds the lock of the workspace's row.
 */
export async function applyActionLimits(
  services: Pick<Services, 'clock' | 'enqueue' | 'actor'>,
  trx: Trx,
  { workspaceId, plan }: { readonly workspaceId: string; readonly plan: Plan },
): Promise<void> {
  const resumed = await fitActions(trx, services, { workspaceId }, plan.limits.actionsMax)
  await resumeDeliveries(services, trx, resumed)
}

/** An action with the other facts that the list shows. */
export interface ActionRow extends Selectable<ActionsTable> {
  readonly ruleCount: number
}

function selectActions(db: Db, endpointId: string) {
  return db
    .selectFrom('actions as a')
    .where('a.endpointId', '=', endpointId)
    .selectAll('a')
    .select((of) =>
      of
        .selectFrom('transformationRules as t')
        .whereRef('t.actionId', '=', 'a.id')
        .select((rules) => rules.fn.countAll<number>().as('count'))
        .$asScalar()
        .$notNull()
        .as('ruleCount'),
    )
    .orderBy('a.position')
}

/** Every action of an endpoint, in position order. */
export function listActions(db: Db, endpointId: string): Promise<ActionRow[]> {
  return selectActions(db, endpointId).execute()
}

/** The action, unless it is absent or another endpoint's. */
export function findAction(db: Db, endpointId: string, id: string): Promise<ActionRow | undefined> {
  return selectActions(db, endpointId).where('a.id', '=', id).executeTakeFirst()
}

/**
 * Locks an endpoint's actions against every other change, until the transaction ends, and reads them. It locks the
 * endpoint's row as well, so that none is added. Captures and deliveries are not blocked.
 */
export async function lockActions(trx: Trx, endpointId: string): Promise<ActionRow[]> {
  await sql`select from endpoints where id = ${endpointId} for no key update`.execute(trx)
  return await listActions(trx, endpointId)
}

/** Changes the named columns only. */
export async function updateAction(trx: Trx, id: string, changes: Updateable<ActionsTable>): Promise<void> {
  if (Object.keys(changes).length > 0)
    await trx.updateTable('actions').set(changes).where('id', '=', id).execute()
}

/** Numbers the actions 1, 2, 3… in the given order. Positions are compared when the transaction ends. */
export async function numberActions(trx: Trx, ids: readonly string[]): Promise<void> {
  await sql`
    update actions a set position = u.position
    from unnest(${ids}::uuid[]) with ordinality as u (id, position)
    where a.id = u.id and a.position <> u.position`.execute(trx)
}

/** `$1` is the value of `column`, `$2` the most actions of an endpoint, `$3` now. */
const fitText = (column: string) =>
  `with ranked as (
    select id, row_number() over (partition by endpoint_id order by created_at, id) > $2 as over
    from actions where ${column} = $1
  )
  update actions a set
    suspended_by_plan = ranked.over,
    off_since = case
      when ranked.over then coalesce(a.off_since, $3)
      when a.is_active then null
      else a.off_since
    end
  from ranked
  where a.id = ranked.id and a.suspended_by_plan <> ranked.over
  returning a.id, a.name, a.suspended_by_plan, a.endpoint_id, a.workspace_id`

const FIT_OF_ENDPOINT = statement('fit actions of endpoint', fitText('endpoint_id'), { isPrepared: false })

const FIT_OF_WORKSPACE = statement('fit actions of workspace', fitText('workspace_id'), { isPrepared: false })

/**
 * Keeps the oldest actions of each endpoint in use, up to the plan's number, and suspends the others. Lifts the
 * suspension of actions that have room again.
 *
 * @returns the actions that are in use again
 */
export async function fitActions(
  trx: Trx,
  who: Pick<Services, 'clock' | 'actor'>,
  of: { readonly endpointId: string } | { readonly workspaceId: string },
  actionsMax: number,
): Promise<string[]> {
  const at = who.clock.now()
  const rows =
    'endpointId' in of
      ? await run(trx, FIT_OF_ENDPOINT, [of.endpointId, actionsMax, at])
      : await run(trx, FIT_OF_WORKSPACE, [of.workspaceId, actionsMax, at])
  const [first] = rows
  if (first !== undefined) await recordSuspensions(trx, who, first.workspaceId, 'action', rows)
  await announceEndpointChange(trx, ...rows.map((row) => row.endpointId))
  return rows.filter((row) => !row.suspendedByPlan).map((row) => row.id)
}
