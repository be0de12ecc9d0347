import type { Services } from '../api/services.ts'
import { recordChange } from '../audit/index.ts'
import { type KeyRow, updateKey } from './queries.ts'

/** Changes of a key. Null removes a limit; an absent member is unchanged. */
export interface KeyChanges {
  readonly name?: string | undefined
  readonly expiresAt?: Date | null | undefined
  readonly allowedNetworks?: string[] | null | undefined
}

/** Changes the given members of a key, effective for its next call. */
export async function changeKey(
  services: Services,
  key: KeyRow,
  { name = key.name, expiresAt = key.expiresAt, allowedNetworks = key.allowedNetworks }: KeyChanges,
): Promise<KeyRow> {
  const changed = { name, expiresAt, allowedNetworks }
  await services.db.transaction().execute(async (trx) => {
    await updateKey(trx, key.id, changed)
    await recordChange(trx, services, {
      action: 'keys.update',
      workspaceId: key.workspaceId,
      subject: { type: 'key', id: key.id, name: key.name },
      before: key,
      after: { ...key, ...changed },
    })
  })
  return { ...key, ...changed }
}
