import { randomBytes } from 'node:crypto'

const ofProcess = randomBytes(8).toString('hex')
let count = 0

/** A unique id of 32 hex digits, also across processes. Cheap enough for every capture. */
export function nextTraceId(): string {
  count += 1
  return ofProcess + count.toString(16).padStart(16, '0')
}
