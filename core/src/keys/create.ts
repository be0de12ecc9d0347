import { randomUUID } from 'node:crypto'
import { notFound, validationFailed } from '../api/errors.ts'
import { requireRoom } from '../api/planGates.ts'
import type { Services } from '../api/services.ts'
import { recordChange } from '../audit/index.ts'
import { findEndpoint } from '../endpoints/index.ts'
import type { InputIssue } from '../engine/issues.ts'
import type { KeyScope } from '../engine/words/index.ts'
import { type Plan, planOf } from '../plans/index.ts'
import type { Trx } from '../platform/db/index.ts'
import { getWorkspace, lockWorkspace } from '../workspaces/index.ts'
import { newKey } from './key.ts'
import { countActiveKeys, deleteFormerKeys, insertKey, type NewKeyRow } from './queries.ts'

export interface KeyWish {
  readonly name: string
  /** Default `admin`. */
  readonly scope?: KeyScope | undefined
  readonly endpointId?: string | undefined
  readonly expiresAt?: Date | undefined
  readonly allowedNetworks?: string[] | undefined
  /** URL of the metadata document of the agent that it is for; none by default. */
  readonly clientId?: string | undefined
}

/** Issues of a key's members in combination, and of its expiry. */
export function issuesOfKey(
  { clock }: Pick<Services, 'clock'>,
  {
    scope = 'admin',
    endpointId,
    expiresAt,
  }: Omit<Partial<KeyWish>, 'expiresAt'> & { expiresAt?: Date | null | undefined },
): InputIssue[] {
  const issues: InputIssue[] = []
  if (endpointId !== undefined && scope === 'admin') {
    const detail = 'A key of one endpoint has the scope `read` or `write`: keys belong to the workspace.'
    issues.push({ path: ['endpointId'], code: 'not_allowed', detail })
  }
  if (expiresAt && expiresAt <= clock.now()) {
    issues.push({ path: ['expiresAt'], code: 'out_of_range', detail: 'expiresAt must be in the future.' })
  }
  return issues
}

/**
 * Creates a key and returns it in full, for the only time: only its SHA-256 is stored.
 *
 * @throws DomainError `not_found`; `validation_failed`; `limit_reached` at `apiKeysMax`; `feature_not_in_plan` when the
 *   plan has no API
 */
export async function createKey(
  services: Services,
  { workspace: reference, ...wish }: KeyWish & { workspace: string },
) {
  const workspace = await getWorkspace(services.db, reference)
  const issues = issuesOfKey(services, wish)
  if (issues.length > 0) throw validationFailed(issues)
  if (wish.endpointId !== undefined) {
    const endpoint = await findEndpoint(services.db, workspace.id, wish.endpointId)
    if (endpoint === undefined) throw notFound('endpoint')
  }
  return await services.db.transaction().execute(async (trx) => {
    await requireRoomForKey(services, trx, { id: workspace.id, plan: planOf(services.plans, workspace.plan) })
    return await addKey(services, trx, workspace.id, wish)
  })
}

/**
 * Locks the workspace, and checks that its plan has room for one more key.
 *
 * @throws DomainError `limit_reached` at `apiKeysMax`; `feature_not_in_plan` when the plan has no API
 */
export async function requireRoomForKey(
  { clock }: Pick<Services, 'clock'>,
  trx: Trx,
  { id, plan }: { readonly id: string; readonly plan: Plan },
): Promise<void> {
  await lockWorkspace(trx, id)
  requireRoom(plan, 'apiKeysMax', await countActiveKeys(trx, id, clock.now()), 'API keys')
}

/** Stores a new key, and returns its only copy. Deletes keys that ended long ago. */
export async function addKey(services: Services, trx: Trx, workspaceId: string, wish: KeyWish) {
  const kind = wish.clientId === undefined ? 'key' : 'oauth'
  const { key, prefix, sha256 } = newKey(kind, services.cell)
  const row: NewKeyRow = {
    id: randomUUID(),
    workspaceId,
    name: wish.name,
    prefix,
    sha256,
    scope: wish.scope ?? 'admin',
    endpointId: wish.endpointId ?? null,
    allowedNetworks: wish.allowedNetworks ?? null,
    expiresAt: wish.expiresAt ?? null,
    createdAt: services.clock.now(),
    kind,
    clientId: wish.clientId ?? null,
  }
  await deleteFormerKeys(trx, workspaceId, row.createdAt)
  await insertKey(trx, row)
  const { sha256: _digest, workspaceId: _workspace, ...shown } = row
  await recordChange(trx, services, {
    action: 'keys.create',
    workspaceId,
    subject: { type: 'key', id: row.id, name: row.name },
    endpointId: row.endpointId,
    before: null,
    after: shown,
  })
  return { ...shown, key }
}
