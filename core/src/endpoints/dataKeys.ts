import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Db, Trx } from '../platform/db/index.ts'
import {
  type DataKeyRef,
  newDataKey,
  type SealedTable,
  type SecretBox,
  sealedKeyOf,
  sealedTable,
} from '../platform/secrets/index.ts'

export const SEALED_DATA_KEYS: SealedTable = { table: 'creel_keys.endpoint_keys', columns: ['dataKey'] }

/** The data key of an endpoint; undefined if it has none. */
export async function findDataKey(
  db: Db | Trx,
  { workspaceId, endpointId }: { readonly workspaceId: string; readonly endpointId: string },
): Promise<DataKeyRef | undefined> {
  const { rows } = await sql<{ id: string; dataKey: Buffer }>`
    select id, data_key from creel_keys.endpoint_keys where endpoint_id = ${endpointId}`.execute(db)
  const [known] = rows
  return known && { id: known.id, sealedKey: sealedKeyOf(workspaceId, known.dataKey) }
}

/** The data key of an endpoint, which is made if it has none: after a shred, and in a database that was restored without its keys. */
export async function ensureDataKey(
  db: Db | Trx,
  {
    workspaceId,
    endpointId,
    secrets,
  }: { readonly workspaceId: string; readonly endpointId: string; readonly secrets: SecretBox },
): Promise<DataKeyRef> {
  for (;;) {
    const known = await findDataKey(db, { workspaceId, endpointId })
    if (known !== undefined) return known
    await sql`
      insert into creel_keys.endpoint_keys (id, workspace_id, endpoint_id, data_key)
      values (${randomUUID()}, ${workspaceId}, ${endpointId}, ${secrets.seal(newDataKey().toString('base64'), workspaceId)})
      on conflict (endpoint_id) do nothing`.execute(db)
  }
}

/** Destroys the data key of an endpoint. Returns whether it had one. */
export async function destroyDataKey(trx: Trx, endpointId: string): Promise<boolean> {
  const { rows } = await sql`
    delete from creel_keys.endpoint_keys where endpoint_id = ${endpointId} returning id`.execute(trx)
  return rows.length > 0
}

const SHRED = 'shred:'

/** The text of a signal on the channel of endpoint changes: the data key of an endpoint is gone. */
export function shredSignal(endpointId: string): string {
  return `${SHRED}${endpointId}`
}

/** The endpoint of a {@link shredSignal}; undefined for other texts. */
export function shreddedEndpointOf(changed: string): string | undefined {
  return changed.startsWith(SHRED) ? changed.slice(SHRED.length) : undefined
}

/** Secrets that the noun stores. */
export const SEALED_ENDPOINTS = sealedTable('endpoints', ['signingSecret', 'handshakeToken'])
