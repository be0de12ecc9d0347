import { type AbortableQueryOptions, sql } from 'kysely'
import { PARSED_BODY_BYTES_MAX } from '../engine/message/index.ts'
import type { Db } from '../platform/db/index.ts'
import { sealedMembers } from '../platform/secrets/index.ts'
import { STORED_REQUEST_COLUMNS } from './storedRequest.ts'

/** The most octets of bodies that are read. */
const READ_BYTES_MAX = 8 * 1024 * 1024

/**
 * Reads the newest stored requests of an endpoint, newest first, while their bodies fit in 8 MiB. A body that is too
 * long to be parsed is read as empty.
 *
 * @param label only requests with this label
 */
export async function newestRequests(
  db: Db,
  endpointId: string,
  { last, label }: { readonly last: number; readonly label?: string | undefined },
  options: AbortableQueryOptions,
) {
  const sizes = await db
    .selectFrom('requests as r')
    .where('r.endpointId', '=', endpointId)
    .where('r.deletedAt', 'is', null)
    .where('r.hiddenAt', 'is', null)
    .$if(label !== undefined, (query) => query.where('r.label', '=', label ?? ''))
    .select(['r.id', sql<number>`octet_length(r.body)`.as('bytes')])
    .orderBy('r.id', 'desc')
    .limit(last)
    .execute(options)
  let left = READ_BYTES_MAX
  const ids = sizes
    .filter(({ bytes }) => {
      left -= bytes > PARSED_BODY_BYTES_MAX ? 0 : bytes
      return left >= 0
    })
    .map(({ id }) => id)
  if (ids.length === 0) return []
  return await db
    .selectFrom('requests as r')
    .where('r.endpointId', '=', endpointId)
    .where('r.id', 'in', ids)
    .select(
      STORED_REQUEST_COLUMNS.filter((column) => column !== 'body').map((column) => `r.${column}` as const),
    )
    .select(
      sql<Buffer>`case when octet_length(r.body) > ${PARSED_BODY_BYTES_MAX} then ''::bytea else r.body end`.as(
        'body',
      ),
    )
    .select(['r.id', 'r.sealedWith'])
    .select(sealedMembers('r'))
    .orderBy('r.id', 'desc')
    .execute(options)
}
