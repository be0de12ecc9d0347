import { setImmediate } from 'node:timers/promises'
import type { Context } from '../api/context.ts'
import { DomainError } from '../api/errors.ts'
import { type Db, run, statement } from '../platform/db/index.ts'
import { countPiece } from '../platform/memory/index.ts'
import {
  bodyBytesOf,
  isShredded,
  type KeyOfRow,
  partColumns,
  sealedColumns,
  sealedPart,
} from '../platform/secrets/index.ts'
import { slices, Turns, WAIT_MS_MAX, type WorkOptions } from '../platform/turns/index.ts'

/** A body of more octets than this is long: it is read in turn, and counted. */
export const LONG_BODY_BYTES = 64 * 1024

const MIB = 1024 * 1024

/**
 * Octets of long bodies and of exports that are read at once. Each takes several times its size, and time of the event
 * loop, on its way into an answer. The rest of the process waits for what is read at once, and no longer.
 */
const turns = new Turns({
  by: 'size',
  atOnce: MIB,
  inAll: 2 * MIB,
  wait: { msMax: WAIT_MS_MAX, noun: 'long bodies' },
})

/** Octets that one row has, so that the event loop runs in between. */
const PIECE_BYTES = 512 * 1024

/** Garbage of reading a body, in body sizes: the database's hexadecimal text (two), the JSON text, and the octets. */
const COPIES = 4

/** SQL of the body of `r` that is left out, and not read, if it has more octets than the parameter. */
export const shortBody = (bytesMax: string): string => `
  case when octet_length(r.body) > ${bytesMax}::bigint then ''::bytea else r.body end as body,
  case when octet_length(r.body) > ${bytesMax}::bigint then ${bodyBytesOf('r')} end as omitted_bytes`

/** {@link shortBody} for rows that {@link withLongBodies} completes, which takes a statement for each longer one. */
export const SHORT_BODY = shortBody(String(4 * PIECE_BYTES))

const partOf = (from: string, bytes: string) => `
  case when r.sealed_with is null then substring(r.body from ${from} + 1 for ${bytes})
    else ${sealedPart('r', from, bytes)} end as body, ${partColumns('r', from, bytes)}, ${sealedColumns('r')}`

/** Reads `$4` octets of a body from position `$3`, counted from 0, and no more; of a sealed one the segments with them. */
const PART = statement(
  'part of body',
  `select r.id, ${partOf('$3::int', '$4::int')}
  from requests r where r.endpoint_id = $1::uuid and r.id = $2::bigint`,
  { notNull: ['body'] },
)

/** The same in pieces of `$5` octets. PostgreSQL decompresses the body once, and not for each piece. */
const PIECES = statement(
  'pieces of body',
  `select r.id, ${partOf('piece.at', 'least($5::int, $3::int + $4::int - piece.at)')}
  from (
    select id, body || ''::bytea as body, sealed_with, sealed
    from requests where endpoint_id = $1::uuid and id = $2::bigint offset 0
  ) r cross join generate_series($3::int, $3::int + $4::int - 1, $5::int) as piece (at)`,
  { notNull: ['body', 'partFrom'] },
)

/**
 * Reads stored octets in their turn. A workspace that asks for much at once gets it one after the other, and workspaces
 * take turns.
 *
 * @param bytes number of octets that are read
 * @param options `signal` aborts when the caller hangs up, which ends its wait
 * @throws LineTooLong when the expected wait is over ten seconds
 */
export function inTurn<Result>(
  workspaceId: string,
  bytes: number,
  read: () => Promise<Result>,
  options: Pick<WorkOptions, 'signal' | 'isAdmitted'>,
): Promise<Result> {
  return turns.run(workspaceId, read, { size: bytes, ...options })
}

export interface BodyRange {
  readonly endpointId: string
  readonly requestId: number
  /** Position of the first octet, from 0. */
  readonly from: number
  readonly length: number
}

/**
 * Reads a part of a body: in its turn and in pieces if it is long.
 *
 * @returns undefined without the request, null if it is shredded
 * @throws LineTooLong when too many long bodies wait to be read
 */
export async function readOctets(
  { db, workspaceId, signal }: { db: Db; workspaceId: string; signal?: AbortSignal | undefined },
  range: BodyRange,
): Promise<Buffer | null | undefined> {
  if (range.length <= LONG_BODY_BYTES) return await readPart(db, range)
  const read = async () => {
    const isShort = range.length <= PIECE_BYTES
    const body = isShort ? await readPart(db, range) : await readPieces(db, range, signal)
    if (isShort) countPiece(range.length * COPIES)
    // The caller's work on the body has a turn of its own.
    await setImmediate()
    return body
  }
  return await inTurn(workspaceId, range.length, read, { signal })
}

async function readPart(db: Db, { endpointId, requestId, from, length }: BodyRange) {
  const [row] = await run(db, PART, [endpointId, requestId, from, length])
  return row !== undefined && isShredded(row) ? null : row?.body
}

async function readPieces(
  db: Db,
  { endpointId, requestId, from, length }: BodyRange,
  signal: AbortSignal | undefined,
): Promise<Buffer | null | undefined> {
  const pieces = await run(db, PIECES, [endpointId, requestId, from, length, PIECE_BYTES])
  const [first] = pieces
  if (first === undefined) return first
  if (isShredded(first)) return null
  const body = Buffer.allocUnsafe(length)
  let end = 0
  for (const piece of pieces) {
    if (slices.areDue) await slices.next()
    signal?.throwIfAborted()
    end += piece.body.copy(body, piece.partFrom - from)
    countPiece(piece.body.length * COPIES)
  }
  return body.subarray(0, end)
}

/** A row with the body that its statement left out, as it was read; undefined if it was purged meanwhile. */
export function completed<Row extends KeyOfRow>(
  row: Row,
  body: Buffer | null | undefined,
): (Row & { readonly omittedBytes: null }) | undefined {
  if (body === undefined) return body
  return { ...row, ...(body === null ? { sealedKey: null } : { body }), omittedBytes: null }
}

/**
 * Reads the bodies that {@link SHORT_BODY} left out of rows, in pieces. They have no turns: the caller bounds how many
 * are read.
 *
 * @returns the rows but those whose request was deleted meanwhile
 */
export async function withLongBodies<
  Row extends KeyOfRow & {
    readonly endpointId: string
    readonly requestId: number
    readonly body: Buffer
    readonly omittedBytes: number | null
  },
>(db: Db, rows: readonly Row[]): Promise<Row[]> {
  const whole: Row[] = []
  for (const row of rows) {
    const { omittedBytes: length, endpointId, requestId } = row
    const one =
      length === null
        ? row
        : completed(row, await readPieces(db, { endpointId, requestId, from: 0, length }, undefined))
    if (one !== undefined) whole.push(one)
  }
  return whole
}

/** The most octets of long bodies in the answer of one batch, which is one text. */
const BATCH_LONG_BYTES_MAX = 32 * MIB

/**
 * Counts a long body that a procedure of a batch is about to answer.
 *
 * @throws DomainError `request_invalid` when the long bodies of the batch exceed 32 MiB together
 */
export function countLong({ longBodies }: Pick<Context, 'longBodies'>, bytes: number): void {
  if (bytes <= LONG_BODY_BYTES) return
  const before = longBodies.bytes
  if (before > 0 && before + bytes > BATCH_LONG_BYTES_MAX) {
    const detail = `The bodies of a batch are over ${BATCH_LONG_BYTES_MAX} bytes together: ask for long ones one by one.`
    throw new DomainError('request_invalid', detail)
  }
  longBodies.bytes = before + bytes
}
