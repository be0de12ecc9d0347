import { setImmediate } from 'node:timers/promises'
import { countPiece } from '@creel/core/platform/memory'

/**
 * Memory that an answer with a long body leaves behind, as a multiple of its size: its members, their JSON, and its
 * bytes. Reads for it are counted elsewhere.
 */
const COPIES_OF_ANSWER = 3
/** Shorter answers are not counted. */
const LONG_ANSWER_BYTES_MIN = 1024 * 1024

/** Lengths of long bodies. A `Response` does not say the length of its body, and has no place for it. */
const lengths = new WeakMap<Response, number>()

/**
 * Counts the memory of an answer that is complete and that its client has yet to take.
 *
 * @param bytes length of its body
 * @returns the answer: a long one in a later turn of the event loop, because sending it takes a turn of its own
 */
export function countAnswer(answer: Response, bytes: number): Response | Promise<Response> {
  if (bytes < LONG_ANSWER_BYTES_MIN) return answer
  countPiece(bytes * COPIES_OF_ANSWER)
  lengths.set(answer, bytes)
  return setImmediate(answer)
}

/** Length of the body that `countAnswer` recorded; 0 for short answers and for streams. */
export function heldBytesOf(answer: Response): number {
  return lengths.get(answer) ?? 0
}
