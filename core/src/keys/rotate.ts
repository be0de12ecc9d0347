import { notFound, validationFailed } from '../api/errors.ts'
import type { Services } from '../api/services.ts'
import { recordChange } from '../audit/index.ts'
import type { Trx } from '../platform/db/index.ts'
import { getWorkspace, lockWorkspace } from '../workspaces/index.ts'
import { addKey, issuesOfKey } from './create.ts'
import { findKey, type KeyRow, updateKey } from './queries.ts'

/**
 * Replaces a key by a new one with the same name, scope, endpoint and networks. The old key stays valid for a while and
 * no longer counts against the plan.
 *
 * @param input `keyId` is the key's id
 * @throws DomainError `not_found`, also for a key that has ended, was replaced before, or is an agent's; `validation_failed`
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
    const old = await liveKey(trx, { workspaceId: workspace.id, keyId: input.keyId, now })
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

async function liveKey(
  trx: Trx,
  { workspaceId, keyId, now }: { workspaceId: string; keyId: string; now: Date },
): Promise<KeyRow> {
  const key = await findKey(trx, workspaceId, keyId)
  const hasEnded =
    key === undefined || key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt <= now)
  // An agent replaces its token itself, by refreshing it.
  if (hasEnded || key.replacedById !== null || key.kind === 'oauth') throw notFound('live key')
  return key
}
