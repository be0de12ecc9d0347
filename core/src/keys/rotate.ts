import { DomainError, notFound, validationFailed } from '../api/errors.ts'
import type { Services } from '../api/services.ts'
import { recordChange } from '../audit/index.ts'
import { type Plan, planOf } from '../plans/index.ts'
import type { Trx } from '../platform/db/index.ts'
import { getWorkspace, lockWorkspace } from '../workspaces/index.ts'
import { addKey, issuesOfKey } from './create.ts'
import { countActiveKeys, countReplacedKeys, findLiveKey, type KeyRow, updateKey } from './queries.ts'

/**
 * Replaces a key by a new one with the same name, scope, endpoint and networks. The old key stays valid for a while and
 * no longer counts against the plan.
 *
 * @param input `keyId` is the key's id
 * @throws DomainError `not_found`, also for a key that has ended or whose endpoint is deleted, was replaced before, or is an agent's;
 *   `validation_failed`; `limit_reached` when too many replaced keys are still valid
 */
export async function rotateKey(
  services: Services,
  input: { workspace: string; keyId: string; overlapSeconds: number; expiresAt?: Date | undefined },
) {
  const workspace = await getWorkspace(services.db, input.workspace)
  const issues = issuesOfKey(services, { scope: 'read', expiresAt: input.expiresAt })
  if (issues.length > 0) throw validationFailed(issues)
  const now = services.clock.now()
  return await services.db.transaction().execute(async (trx) => {
    await lockWorkspace(trx, workspace.id)
    const old = await liveKey(trx, { workspaceId: workspace.id, id: input.keyId, now })
    if (input.overlapSeconds > 0) {
      const plan = planOf(services.plans, workspace.plan)
      await requireRoomForOverlap(trx, { workspaceId: workspace.id, plan, now })
    }
    const made = await addKey(services, trx, workspace.id, {
      name: old.name,
      scope: old.scope,
      endpointId: old.endpointId ?? undefined,
      allowedNetworks: old.allowedNetworks ?? undefined,
      expiresAt: input.expiresAt,
    })
    const end = new Date(now.getTime() + input.overlapSeconds * 1000)
    const expiresAt = old.expiresAt !== null && old.expiresAt < end ? old.expiresAt : end
    await updateKey(trx, old.id, { expiresAt, replacedById: made.id })
    await recordChange(trx, services, {
      action: 'keys.rotate',
      workspaceId: workspace.id,
      subject: { type: 'key', id: old.id, name: old.name },
      before: old,
      after: { ...old, expiresAt, replacedById: made.id },
    })
    return made
  })
}

async function liveKey(trx: Trx, of: { workspaceId: string; id: string; now: Date }): Promise<KeyRow> {
  const key = await findLiveKey(trx, of)
  // An agent replaces its token itself, by refreshing it.
  if (key === undefined || key.replacedById !== null || key.kind === 'oauth') throw notFound('live key')
  return key
}

/** Keys that were rotated do not count against the plan, so there may be as many of them as others. */
async function requireRoomForOverlap(
  trx: Trx,
  { workspaceId, plan, now }: { workspaceId: string; plan: Plan; now: Date },
): Promise<void> {
  // After a downgrade a workspace may have more than its plan, and can still rotate each of them.
  const max = Math.max(plan.limits.apiKeysMax, await countActiveKeys(trx, workspaceId, now))
  if ((await countReplacedKeys(trx, workspaceId, now)) < max) return
  throw new DomainError(
    'limit_reached',
    `The workspace has ${max} rotated keys that still work. Revoke one, or rotate with \`overlapSeconds\` 0.`,
  )
}
