import type { Context } from '../api/context.ts'
import { DomainError } from '../api/errors.ts'
import { countPiece } from '../platform/memory/index.ts'
import { PATIENCE_MS, Turns } from '../platform/turns/index.ts'

/** A body of more octets is long. */
export const LONG_BODY_BYTES = 1024 * 1024

/** Long bodies that are read at once: each takes several times its size on its way into an answer. */
const AT_ONCE = 2

/** What reading a body leaves behind: what the database sent, with two digits an octet, its text, and the octets. */
const COPIES = 4

const turns = new Turns({
  atOnce: AT_ONCE,
  inAll: AT_ONCE,
  patience: { ms: PATIENCE_MS, noun: 'long bodies' },
})

/**
 * Reads something long when its turn has come: a workspace that asks for many at once has them one after the other, and
 * workspaces take turns.
 *
 * @param bytes how long it is
 * @param signal of the caller, who no longer waits when it hangs up
 * @throws LineTooLong when those before it take longer than ten seconds
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

/** Octets of long bodies that the procedures of one batch may answer together: its answer is one text. */
const BATCH_LONG_BYTES_MAX = 32 * 1024 * 1024

/** By what the procedures of a batch have in common. */
const longBytesOf = new WeakMap<AbortSignal, number>()

/**
 * Counts a long body that a procedure is about to answer.
 *
 * @throws DomainError `request_invalid` when others of the batch have asked for too much already
 */
export function countLong({ signal }: Pick<Context, 'signal'>, bytes: number): void {
  if (bytes <= LONG_BODY_BYTES) return
  const before = longBytesOf.get(signal) ?? 0
  if (before > 0 && before + bytes > BATCH_LONG_BYTES_MAX) {
    const detail = `The bodies of a batch are over ${BATCH_LONG_BYTES_MAX} bytes together: ask for long ones one by one.`
    throw new DomainError('request_invalid', detail)
  }
  longBytesOf.set(signal, before + bytes)
}
