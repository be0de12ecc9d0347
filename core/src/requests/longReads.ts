import { setImmediate } from 'node:timers/promises'
import type { Context } from '../api/context.ts'
import { DomainError } from '../api/errors.ts'
import { type Db, run, statement } from '../platform/db/index.ts'
import { countPiece } from '../platform/memory/index.ts'
import { isShredded, partColumns, sealedColumns, sealedPart } from '../platform/secrets/index.ts'
import { Turns, WAIT_MS_MAX, type WorkOptions } from '../platform/turns/index.ts'

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

/** Octets that one statement reads, so that the event loop runs in between. */
const PIECE_BYTES = 512 * 1024

/** Garbage of reading a body, in body sizes: the database's hexadecimal text (two), the JSON text, and the octets. */
const COPIES = 4

/** Reads `$4` octets of a body from position `$3`, counted from 0, and no more; of a sealed one the segments with them. */
const PART = statement(
  'part of body',
  `select r.id, case when r.sealed_with is null then substring(r.body from $3::int + 1 for $4::int)
    else ${sealedPart('r', '$3::int', '$4::int')} end as body, ${partColumns('r', '$3::int', '$4::int')}, ${sealedColumns('r')}
  from requests r where r.endpoint_id = $1::uuid and r.id = $2::bigint`,
  { notNull: ['body'] },
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
  const read = () => inPieces(db, range, signal)
  return range.length > LONG_BODY_BYTES
    ? await inTurn(workspaceId, range.length, read, { signal })
    : await read()
}

async function inPieces(
  db: Db,
  { endpointId, requestId, from, length }: BodyRange,
  signal: AbortSignal | undefined,
): Promise<Buffer | null | undefined> {
  const piece = async (at: number, bytes: number) => {
    const [row] = await run(db, PART, [endpointId, requestId, from + at, bytes])
    return row !== undefined && isShredded(row) ? null : row?.body
  }
  if (length <= LONG_BODY_BYTES) return await piece(0, length)
  // Each piece is put in its place as it comes: joining them at the end would take long, and as much memory again.
  const body = Buffer.allocUnsafe(length)
  let at = 0
  for (let bytes = 0; at < length; at += bytes) {
    signal?.throwIfAborted()
    const read = await piece(at, Math.min(PIECE_BYTES, length - at))
    if (read === null || read === undefined) return read
    if (read.length === 0) break
    bytes = read.copy(body, at)
  }
  countPiece(at * COPIES)
  // What the caller makes of the body has a turn of its own.
  await setImmediate()
  return body.subarray(0, at)
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
