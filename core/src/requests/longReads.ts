import { DomainError } from '../api/errors.ts'
import { Turns } from '../platform/turns/index.ts'

/** A body of more octets is long. */
export const LONG_BODY_BYTES = 1024 * 1024

/** Long bodies that are read at once: each takes several times its size on its way into an answer. */
const AT_ONCE = 2
/** More than callers with many connections come to; a flood may not wait. */
const WAITING_MAX = 200

const turns = new Turns({
  atOnce: AT_ONCE,
  waitingMax: WAITING_MAX,
  refusal: () =>
    new DomainError('rate_limited', 'Too many long bodies wait to be read.', { retryAfterSeconds: 1 }),
})

/**
 * Reads something long when its turn has come: whoever asks for many at once has them one after the other.
 *
 * @param signal of the caller, who no longer waits when it hangs up
 * @throws DomainError `rate_limited` when too many wait already
 */
export async function inTurn<Result>(
  read: () => Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  return await turns.run('', read, signal)
}
