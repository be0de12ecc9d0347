import { applyActionLimits } from '../actions/index.ts'
import type { Services } from '../api/services.ts'
import { applyEndpointLimit } from '../endpoints/index.ts'
import { LIMIT_NAMES, type Plans, planOf } from '../plans/index.ts'
import type { Db, Trx } from '../platform/db/index.ts'
import { sha256Of } from '../platform/secrets/index.ts'
import { applyWatchdogLimit } from '../watchdogs/index.ts'
import { lockWorkspace } from '../workspaces/index.ts'

export type LimitServices = Pick<Services, 'actor' | 'clock' | 'enqueue' | 'plans'>

/**
 * Applies the plan to a workspace's suspensions: the oldest endpoints, actions and watchdogs up to the limit stay
 * active, newer ones are suspended, and those with room again are resumed. A no-op if they are already correct. The
 * caller locks the workspace's row.
 */
export async function applyPlanLimits(services: LimitServices, trx: Trx, workspaceId: string): Promise<void> {
  const workspace = await trx
    .selectFrom('workspaces')
    .where('id', '=', workspaceId)
    .select('plan')
    .executeTakeFirst()
  if (workspace === undefined) return
  const of = { workspaceId, plan: planOf(services.plans, workspace.plan) }
  await applyEndpointLimit(services, trx, of)
  await applyActionLimits(services, trx, of)
  await applyWatchdogLimit(services, trx, of)
}

/** The same in a transaction of its own. */
export async function reapplyPlanLimits(
  services: LimitServices & { readonly db: Db },
  workspaceId: string,
): Promise<void> {
  await services.db.transaction().execute(async (trx) => {
    await lockWorkspace(trx, workspaceId)
    await applyPlanLimits(services, trx, workspaceId)
  })
}

const APPLIED = 'applied plans'

/**
 * Runs at start. Applies every workspace's plan if the numbers differ from those of the last start, because an operator
 * changed `CREEL_PLANS_FILE` or a release changed the table. Safe in several processes at once.
 */
export async function applyChangedPlans(services: LimitServices & { readonly db: Db }): Promise<void> {
  if (!(await hasChangedPlans(services))) return
  const workspaces = await services.db.selectFrom('workspaces').select('id').execute()
  for (const { id } of workspaces) await reapplyPlanLimits(services, id)
  // Stored last, so that an interrupted start does it again.
  const digest = digestOf(services.plans)
  await services.db
    .insertInto('installation')
    .values({ name: APPLIED, value: digest })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: digest }))
    .execute()
}

/** Whether the numbers of the plans differ from those applied at the last start. */
export async function hasChangedPlans({
  db,
  plans,
}: Pick<LimitServices, 'plans'> & { readonly db: Db }): Promise<boolean> {
  const applied = await db
    .selectFrom('installation')
    .where('name', '=', APPLIED)
    .select('value')
    .executeTakeFirst()
  return applied?.value.equals(digestOf(plans)) !== true
}

function digestOf(plans: Plans): Buffer {
  const numbers = Object.values(plans).map((plan) => [
    plan.key,
    ...LIMIT_NAMES.map((name) => plan.limits[name]),
  ])
  return sha256Of(JSON.stringify(numbers))
}
