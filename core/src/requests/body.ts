import type { Context } from '../api/context.ts'
import { notFound, shredded } from '../api/errors.ts'
import { asRead, readBytesMax, storedHeaders } from '../engine/message/index.ts'
import { run, statement } from '../platform/db/index.ts'
import { bodyBytesOf, isShredded, sealedColumns } from '../platform/secrets/index.ts'
import { isUuid, requestOf } from './find.ts'
import { countLong, inTurn, LONG_BODY_BYTES, readOctets } from './longReads.ts'

/**
 * A range of octets, both ends included. Without an end it goes to the last octet; without a start it is the last ones.
 */
const RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/

/**
 * Size of the body of request `$3` of the endpoint `$1` in the workspace `$2`. No row: no endpoint. Null id: no
 * request.
 */
const SIZE = statement(
  'size of body',
  `select r.id, ${bodyBytesOf('r')} as total, ${sealedColumns('r')}
  from endpoints e
  left join requests r on r.endpoint_id = e.id and r.id = $3::bigint and r.deleted_at is null and r.hidden_at is null
  where e.id = $1::uuid and e.workspace_id = $2::uuid and e.deleted_at is null`,
)

export interface BodyPart {
  readonly bytes: Buffer
  /** Position of the first octet, from 0. */
  readonly from: number
  /** Octets of the whole body. */
  readonly total: number
}

/**
 * Reads the stored octets of a body: of an oversize trace, only its beginning.
 *
 * @param range value of the header `Range`; an unreadable one, or one outside the body, is ignored and all is read
 * @throws DomainError `not_found`, `request_invalid` when a batch asks for too many long bodies; LineTooLong when too
 *   many wait
 */
export async function readBody(
  ctx: Pick<Context, 'db' | 'workspace' | 'signal' | 'longBodies'>,
  { endpointId, requestId, range }: { endpointId: string; requestId: number; range?: string | undefined },
): Promise<BodyPart> {
  const [found] = isUuid(endpointId) ? await run(ctx.db, SIZE, [endpointId, ctx.workspace.id, requestId]) : []
  if (found === undefined) throw notFound('endpoint')
  if (found.id === null) throw notFound('request')
  if (isShredded(found)) throw shredded()
  const { from, length } = rangeOf(range, found.total)
  countLong(ctx, length)
  const reading = { db: ctx.db, workspaceId: ctx.workspace.id, signal: ctx.signal }
  const bytes = await readOctets(reading, { endpointId, requestId, from, length })
  if (bytes === undefined) throw notFound('request')
  if (bytes === null) throw shredded()
  return { bytes, from, total: found.total }
}

/**
 * Reads the body as labels, conditions and rules read it. Each part of an encoded one decodes all of it, in its turn.
 *
 * @throws as {@link readBody}
 */
export async function readDecodedBody(
  ctx: Pick<Context, 'db' | 'workspace' | 'signal' | 'longBodies'>,
  { range, ...named }: { endpointId: string; requestId: number; range?: string | undefined },
): Promise<BodyPart> {
  const request = await requestOf(ctx, named)
  if (isShredded(request)) throw shredded()
  const encoded = { ...request, headers: storedHeaders(request) }
  const decode = async () => asRead(encoded).body
  const size = readBytesMax(encoded)
  const bytes =
    size > LONG_BODY_BYTES
      ? await inTurn(ctx.workspace.id, size, decode, { signal: ctx.signal })
      : await decode()
  const { from, length } = rangeOf(range, bytes.length)
  return { bytes: Buffer.from(bytes.subarray(from, from + length)), from, total: bytes.length }
}

/**
 * The octets that a `Range` header asks for, within a body of `total`; all of them if it is absent, unreadable or
 * outside.
 */
export function rangeOf(range: string | undefined, total: number): { from: number; length: number } {
  const whole = { from: 0, length: total }
  const [, first = '', last = ''] = RANGE.exec(range ?? '') ?? []
  if (first === '') {
    const length = Math.min(Number(last), total)
    return last === '' || length === 0 ? whole : { from: total - length, length }
  }
  const from = Number(first)
  const to = last === '' ? total - 1 : Math.min(Number(last), total - 1)
  return from > to || from >= total ? whole : { from, length: to - from + 1 }
}
