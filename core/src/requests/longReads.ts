import type { Context } from '../api/context.ts'
import { DomainError } from '../api/errors.ts'
import { countPiece } from '../platform/memory/index.ts'
import { Turns, WAIT_MS_MAX } from '../platform/turns/index.ts'

/** A body of more octets than this is long. */
export const LONG_BODY_BYTES = 1024 * 1024

/** The most long bodies that are read at once: each takes several times its size on its way into an answer. */
const AT_ONCE = 2

/** Garbage of reading a body, in body sizes: the database's hexadecimal text (two), the JSON text, and the octets. */
const COPIES = 4

const turns = new Turns({
  atOnce: AT_ONCE,
  inAll: AT_ONCE,
  wait: { msMax: WAIT_MS_MAX, noun: 'long bodies' },
})

/**
 * Reads a long body in its turn. A workspace that asks for many at once gets them one after the other, and workspaces
 * take turns.
 *
 * @param bytes length of the body
 * @param signal aborted when the caller hangs up, which ends its wait
 * @throws LineTooLong when the expected wait is over ten seconds
 */
export async function inTurn<Result>(
  workspaceId: string,
  bytes: number,
  read: () => Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  const readAndCount = async () => {
    const result = await read()
    countPiece(bytes * COPIES)
    return result
  }
  return await turns.run(workspaceId, readAndCount, { size: bytes, signal })
}

/** The most octets of long bodies in the answer of one batch, which is one text. */
const BATCH_LONG_BYTES_MAX = 32 * 1024 * 1024

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
