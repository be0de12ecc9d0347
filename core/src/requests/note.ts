import type { Context } from '../api/context.ts'
import { notFound, shredded } from '../api/errors.ts'
import { recordChange } from '../audit/index.ts'
import { updateCounters } from '../endpoints/index.ts'
import { run, statement, type Trx } from '../platform/db/index.ts'
import { isShredded, keyOfRow, openDataKey, sealNote } from '../platform/secrets/index.ts'
import { lockCounters, type RequestSummaryRow, summariesOf } from './queries.ts'

/** Sets the note of requests `$2` of the endpoint `$1`, in every state. */
const WRITE_NOTE = statement(
  'write note',
  `with before as (
    select r.id, coalesce(octet_length($3::bytea), 0) - coalesce(octet_length(r.note), 0) as added,
      r.deleted_at is null and r.hidden_at is null and r.storage_bytes is not null as is_counted
    from requests r where r.endpoint_id = $1::uuid and r.id = any($2::bigint[]) for update
  ), noted as (
    update requests r set note = $3::bytea, storage_bytes = r.storage_bytes + b.added
    from before b where r.endpoint_id = $1::uuid and r.id = b.id
  ), summed as (
    select coalesce(sum(added), 0) as added from before where is_counted
  )
  ${updateCounters({ stored: { requests: '0', bytes: '0', storageBytes: 's.added' } })}
  from summed s where c.endpoint_id = $1::uuid`,
  { isPrepared: false },
)

/**
 * Sets the note of a request; null removes it. The audit log has its length only: an erasure cannot change entries.
 *
 * @returns the request as it is now
 * @throws DomainError `not_found`; `shredded` when the key of its content is gone
 */
export async function noteRequest(
  ctx: Context,
  endpointId: string,
  { requestId, note }: { readonly requestId: number; readonly note: string | null },
): Promise<RequestSummaryRow> {
  return await ctx.db.transaction().execute(async (trx) => {
    await lockCounters(trx, endpointId)
    const [row] = await summariesOf(trx, endpointId, [requestId], {})
    if (row === undefined) throw notFound('request')
    if (isShredded(row)) throw shredded()
    if (note === (row.note?.toString() ?? null)) return row
    const text = note === null ? null : Buffer.from(note)
    const ref = keyOfRow(row)
    const isSealed = text !== null && ref !== null && row.sealed !== null
    const stored = isSealed ? sealNote(openDataKey(ctx.secrets, ref.sealedKey), text, row.sealed) : text
    await run(trx, WRITE_NOTE, [endpointId, [requestId], stored])
    await recordChange(trx, ctx, {
      action: 'requests.update',
      workspaceId: ctx.workspace.id,
      subject: { type: 'request', id: String(requestId) },
      endpointId,
      before: {},
      after: { noteCharacters: note?.length ?? null },
    })
    return { ...row, note: text }
  })
}

/** Removes the notes of requests of an endpoint, in every state. */
export async function forgetNotes(trx: Trx, endpointId: string, ids: readonly number[]): Promise<void> {
  await lockCounters(trx, endpointId)
  await run(trx, WRITE_NOTE, [endpointId, ids, null])
}
