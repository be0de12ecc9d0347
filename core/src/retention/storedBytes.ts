import { sql } from 'kysely'
import type { Db } from '../platform/db/index.ts'

/** What the captures of a workspace take. */
export interface WorkspaceStorage {
  readonly workspaceId: string
  /** The key of its plan. */
  readonly plan: string
  /** Bodies of stored requests: what `storedBytesMax` bounds. */
  readonly storedBytes: number
}

/** What captures take in all. */
export interface Storage {
  readonly workspaces: readonly WorkspaceStorage[]
  /** Everything, the recycle bin and what waits for its deliveries included: what `CREEL_STORAGE_MAX` bounds. */
  readonly totalBytes: number
}

/** Row, head and index entry of a request, taken as a flat sum beside its body. */
export const REQUEST_OVERHEAD_BYTES = 1024

interface StorageRow extends WorkspaceStorage {
  readonly heldBytes: number
}

/** Sums up the counters: some milliseconds for ten thousand endpoints. What is binned or hidden is read from its rows, which are few. */
export async function readStorage(db: Db): Promise<Storage> {
  const { rows } = await sql<StorageRow>`
    select w.id as workspace_id, w.plan,
      coalesce(sum(c.stored_bytes) filter (where e.deleted_at is null), 0)::bigint as stored_bytes,
      sum(c.stored_bytes + c.stored_request_count * ${REQUEST_OVERHEAD_BYTES}::bigint)::bigint as held_bytes
    from endpoint_counters c
    join endpoints e on e.id = c.endpoint_id
    join workspaces w on w.id = e.workspace_id
    group by w.id, w.plan`.execute(db)
  const { hidden, binned } = await readUncounted(db)
  const counted = rows.reduce((sum, { heldBytes }) => sum + heldBytes, 0)
  return {
    workspaces: rows.map(({ workspaceId, plan, storedBytes }) => ({ workspaceId, plan, storedBytes })),
    totalBytes: counted + hidden + binned,
  }
}

/** Bytes of what the counters leave out: PostgreSQL knows the length of a body without reading it. */
async function readUncounted(db: Db): Promise<{ hidden: number; binned: number }> {
  const { rows } = await sql<{ hidden: number; binned: number }>`
    select
      (select coalesce(sum(octet_length(body) + ${REQUEST_OVERHEAD_BYTES}::bigint), 0)::bigint
       from requests where hidden_at is not null) as hidden,
      (select coalesce(sum(octet_length(body) + ${REQUEST_OVERHEAD_BYTES}::bigint), 0)::bigint
       from requests where deleted_at is not null and hidden_at is null) as binned`.execute(db)
  return rows[0] ?? { hidden: 0, binned: 0 }
}

/** Bodies of hidden requests: of a workspace, or of all. */
export async function readHiddenBytes(db: Db, workspaceId: string | null): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select coalesce(sum(octet_length(r.body)), 0)::bigint as bytes
    from requests r join endpoints e on e.id = r.endpoint_id
    where r.hidden_at is not null and (${workspaceId}::uuid is null or e.workspace_id = ${workspaceId})`.execute(
    db,
  )
  return rows[0]?.bytes ?? 0
}
