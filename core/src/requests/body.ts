import type { Context } from '../api/context.ts'
import { notFound } from '../api/errors.ts'
import { run, statement } from '../platform/db/index.ts'
import { isUuid } from './find.ts'
import { countLong, inTurn, LONG_BODY_BYTES } from './longReads.ts'

interface BodyRow {
  readonly id: number | null
  readonly total: number
  readonly body: Buffer
}

/** A range of octets, both ends counted; the end may be left out, or the begin for as many as stand last. */
const RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/

/** Of the endpoint `$1` of the workspace `$2` the request `$3`; no row is no endpoint, no id no request. */
const SIZE = statement(
  'size of body',
  `select r.id, octet_length(r.body) as total, ''::bytea as body
  from endpoints e
  left join requests r on r.endpoint_id = e.id and r.id = $3::bigint and r.deleted_at is null and r.hidden_at is null
  where e.id = $1::uuid and e.workspace_id = $2::uuid and e.deleted_at is null`,
)

/** `$4` octets from the one `$3`, counted from 1: no more of a long body is read than that. */
const PART = statement(
  'part of body',
  `select r.id, octet_length(r.body) as total, substring(r.body from $3::int for $4::int) as body
  from requests r where r.endpoint_id = $1::uuid and r.id = $2::bigint`,
)

/** A part of a captured body, and where it stands. */
export interface BodyPart {
  readonly bytes: Buffer
  /** The first of them, from 0. */
  readonly from: number
  /** Octets of the whole body. */
  readonly total: number
}

/**
 * Captured octets as they are kept: of an oversize trace, only its beginning.
 *
 * @param range as the header `Range` says it; one that cannot be read or lies outside is passed over, and all is read
 * @throws DomainError `not_found`, `request_invalid` when a batch asks for too many long bodies; LineTooLong when too many wait
 */
export async function readBody(
  ctx: Pick<Context, 'db' | 'workspace' | 'signal'>,
  { endpointId, requestId, range }: { endpointId: string; requestId: number; range?: string | undefined },
): Promise<BodyPart> {
  const [found] = isUuid(endpointId)
    ? await run<BodyRow>(ctx.db, SIZE, [endpointId, ctx.workspace.id, requestId])
    : []
  if (found === undefined) throw notFound('endpoint')
  if (found.id === null) throw notFound('request')
  const { from, length } = rangeOf(range, found.total)
  countLong(ctx, length)
  const read = () => run<BodyRow>(ctx.db, PART, [endpointId, requestId, from + 1, length])
  const isLong = length > LONG_BODY_BYTES
  const [row] = isLong ? await inTurn(ctx.workspace.id, length, read, ctx.signal) : await read()
  if (row === undefined) throw notFound('request')
  return { bytes: row.body, from, total: row.total }
}

/** Which octets of so many are asked for. */
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
