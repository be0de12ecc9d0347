import { randomBytes } from 'node:crypto'

const ofProcess = randomBytes(8).toString('hex')
let count = 0

/** An id of 32 hex digits that no other answer has, also of other processes: cheap enough for every capture. */
export function nextTraceId(): string {
  count += 1
  return ofProcess + count.toString(16).padStart(16, '0')
}
