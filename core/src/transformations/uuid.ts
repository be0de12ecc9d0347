import { createHash } from 'node:crypto'

/** The namespace of everything that rules name: made once, at random, for this purpose. */
const NAMESPACE = Buffer.from('6f1c6a0e3b5d4d27a1c58e4f90b7d2c3', 'hex')

/** A UUID of version 5 (RFC 9562 §5.5): the same for the same name. */
export function uuidOf(name: string): string {
  const bytes = createHash('sha1').update(NAMESPACE).update(name).digest().subarray(0, 16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
