import { countPiece } from '@creel/core/platform/memory'

/** What an answer with a long body leaves behind: its members, their JSON, and its octets; what was read for it counts apart. */
const COPIES_OF_ANSWER = 3
/** Shorter answers are those of every day. */
const LONG_ANSWER_BYTES_MIN = 1024 * 1024

const lengths = new WeakMap<Response, number>()

/**
 * The same for an answer that was made whole, and that its client has yet to take.
 *
 * @param bytes of its body
 */
export function countAnswer(answer: Response, bytes: number): Response {
  if (bytes >= LONG_ANSWER_BYTES_MIN) {
    countPiece(bytes * COPIES_OF_ANSWER)
    lengths.set(answer, bytes)
  }
  return answer
}

/** How long the body of an answer is that was made whole; 0 for short ones and for streams. */
export function heldBytesOf(answer: Response): number {
  return lengths.get(answer) ?? 0
}
