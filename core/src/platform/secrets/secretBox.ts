import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'

/** Encrypts what must be readable again but never at rest: signing secrets, handshake tokens, credentials. */
export interface SecretBox {
  seal(text: string): Buffer
  /** @throws Error when the bytes were sealed with another key or were altered */
  open(sealed: Uint8Array): string
  /** 32 hex digits that only a holder of this key can make: the same in every process and at every start. */
  mark(purpose: string): string
}

const NONCE_BYTES = 12
const TAG_BYTES = 16
const FORMAT = 1

/**
 * AES-256-GCM. A sealed value is: one format byte, the nonce, the tag, the ciphertext.
 *
 * @param key exactly 32 bytes (`CREEL_SECRET_KEY`)
 */
export function createSecretBox(key: Uint8Array): SecretBox {
  if (key.length !== 32) throw new Error('The secret key must be 32 bytes.')
  return {
    seal(text) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([Buffer.of(FORMAT), nonce, cipher.getAuthTag(), ciphertext])
    },
    open(sealed) {
      if (sealed[0] !== FORMAT) throw new Error('The sealed value has an unknown format.')
      const nonce = sealed.subarray(1, 1 + NONCE_BYTES)
      const tag = sealed.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES)
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
      decipher.setAuthTag(tag)
      const ciphertext = sealed.subarray(1 + NONCE_BYTES + TAG_BYTES)
      return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8')
    },
    mark: (purpose) => createHmac('sha256', key).update(`creel ${purpose}`).digest('hex').slice(0, 32),
  }
}
