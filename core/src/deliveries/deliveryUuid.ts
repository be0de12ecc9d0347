import { createHash } from 'node:crypto'

/** The namespace of our version-5 ids: a random one, fixed for ever. */
const NAMESPACE = Buffer.from('5f0b3c1e9a6d4b7a8e21c4d07f93ab56', 'hex')

/**
 * The id of a request's delivery through an action: a version-5 UUID over the two, so that it is the same on
 * every try and every replay (CONTRACT R35).
 */
export function deliveryUuid(requestId: number, actionId: string): string {
  const bytes = createHash('sha1')
    .update(NAMESPACE)
    .update(`${requestId}/${actionId}`)
    .digest()
    .subarray(0, 16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
