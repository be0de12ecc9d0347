import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Bytes that sealing adds: nonce and tag. */
export const SEAL_BYTES = NONCE_BYTES + TAG_BYTES

/**
 * Seals bytes with a data key (AES-256-GCM): nonce, tag, ciphertext.
 *
 * @param binding bytes without which it cannot be opened
 */
export function sealBytes(key: Uint8Array, bytes: Uint8Array, binding?: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  if (binding !== undefined) cipher.setAAD(binding)
  const ciphertext = Buffer.concat([cipher.update(bytes), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext])
}

/** Opens what {@link sealBytes} has sealed. @throws Error when key or binding are others, or the bytes were altered */
export function openBytes(key: Uint8Array, sealed: Uint8Array, binding?: Uint8Array): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, SEAL_BYTES))
  if (binding !== undefined) decipher.setAAD(binding)
  return Buffer.concat([decipher.update(sealed.subarray(SEAL_BYTES)), decipher.final()])
}
