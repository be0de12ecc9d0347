import { hash } from 'node:crypto'

/**
 * A UUID of version 5 (RFC 9562 §5.5): the same for the same name.
 *
 * @param namespace 16 bytes that separate one use of names from another
 */
export function uuidV5(namespace: Uint8Array, name: string): string {
  const hex = hash('sha1', Buffer.concat([namespace, Buffer.from(name)]), 'hex')
  // The version replaces the 13th digit, the variant the two highest bits of the 17th.
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0b0011) | 0b1000).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
