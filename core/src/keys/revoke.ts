import { DomainError, validationFailed } from '../api/errors.ts'
import type { Services } from '../api/services.ts'
import { recordChange } from '../audit/index.ts'
import type { Trx } from '../platform/db/index.ts'
import { getWorkspace } from '../workspaces/index.ts'
import { type KeyRow, listKeys, lockKey, updateKey } from './queries.ts'

/**
 * Finds the key that an operator references by id or prefix.
 *
 * @throws DomainError `not_found`; `validation_failed` when several active keys share the prefix
 */
export async function keyOfReference(
  services: Services,
  input: { workspace: string; key: string },
): Promise<KeyRow> {
  const workspace = await getWorkspace(services.db, input.workspace)
  const named = (await listKeys(services.db, workspace.id)).filter(
    (key) => key.id === input.key.toLowerCase() || key.prefix === input.key,
  )
  const active = named.filter((key) => key.revokedAt === null)
  if (active.length > 1) {
    const detail = `Several keys have the prefix "${input.key}": name one by its id.`
    throw validationFailed([{ path: ['key'], code: 'duplicate', detail }])
  }
  const key = active[0] ?? named[0]
  if (key === undefined) {
    throw new DomainError(
      'not_found',
      `The workspace "${workspace.name}" has no key with the id or prefix "${input.key}".`,
    )
  }
  return key
}

/** Revokes a key immediately: the next call with it answers 401. Revoking again is a no-op and keeps the first time. */
export async function revokeKey(services: Services, key: KeyRow): Promise<KeyRow> {
  if (key.revokedAt !== null) return key
  return await services.db.transaction().execute((trx) => revokeKeyIn(trx, services, key))
}

/** {@link revokeKey} as a part of a transaction. */
export async function revokeKeyIn(
  trx: Trx,
  who: Pick<Services, 'clock' | 'actor'>,
  key: KeyRow,
): Promise<KeyRow> {
  // Another call may have revoked it since it was read.
  const current = await lockKey(trx, key.workspaceId, key.id)
  if (current === undefined || current.revokedAt !== null) return current ?? key
  const revoked = { ...current, revokedAt: who.clock.now() }
  await updateKey(trx, key.id, { revokedAt: revoked.revokedAt })
  await recordChange(trx, who, {
    action: 'keys.revoke',
    workspaceId: key.workspaceId,
    subject: { type: 'key', id: key.id, name: key.name },
    before: current,
    after: revoked,
  })
  return revoked
}
