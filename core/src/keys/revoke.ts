import { DomainError, validationFailed } from '../api/errors.ts'
import type { Services } from '../api/services.ts'
import { getWorkspace } from '../workspaces/index.ts'
import { listKeys, revoke } from './queries.ts'

/**
 * Revokes a key, at once: the next call with it answers 401. Revoking twice changes nothing.
 *
 * @param input `key` is the key's id or prefix
 * @throws DomainError `not_found`; `validation_failed` when several active keys share the prefix
 */
export async function revokeKey(services: Services, input: { workspace: string; key: string }) {
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
  const revokedAt = key.revokedAt ?? services.clock.now()
  await services.db.transaction().execute((trx) => revoke(trx, key.id, revokedAt))
  return { ...key, revokedAt }
}
