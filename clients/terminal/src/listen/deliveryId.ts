import { createHash } from 'node:crypto'

/** The namespace of these ids: a random one, fixed for ever. */
const NAMESPACE = Buffer.from('b61d3a7e4c0f4f6d9a27e85c11d05f32', 'hex')

/**
 * The `creel-delivery-id` of a captured request for a local server: a UUID of version 5 (RFC 9562 §5.5) from endpoint
 * and request, so that it is the same each time the request is sent.
 */
export function listenDeliveryId(endpointId: string, requestId: number): string {
  const bytes = createHash('sha1')
    .update(NAMESPACE)
    .update(`${endpointId}/${requestId}`)
    .digest()
    .subarray(0, 16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
