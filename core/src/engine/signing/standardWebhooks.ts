import { createHmac } from 'node:crypto'

const PREFIX = 'whsec_'
const KEY_BYTES_MIN = 24
const KEY_BYTES_MAX = 64

/** A message as Standard Webhooks signs it. */
export interface SignedMessage {
  /** Id of the message: the same whenever it is sent again. */
  readonly id: string
  /** When this attempt is made: new on every retry, so that receivers can refuse old ones. */
  readonly at: Date
  /** The exact bytes on the wire. */
  readonly body: Uint8Array
}

/**
 * Reads a secret of Standard Webhooks: `whsec_` and the Base64 of 24 to 64 bytes. The prefix may be missing.
 *
 * @returns null when it is none
 */
export function standardWebhooksKey(secret: string): Buffer | null {
  const text = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret
  const key = Buffer.from(text, 'base64')
  const isBase64 = key.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '')
  return isBase64 && key.length >= KEY_BYTES_MIN && key.length <= KEY_BYTES_MAX ? key : null
}

/**
 * The fields of Standard Webhooks (https://www.standardwebhooks.com). Each signature is `v1,` and the Base64 of an HMAC-SHA256 over
 * id, timestamp and body, joined by full stops.
 *
 * @param secrets the secret in force, then the previous one while it signs too; those that are no keys sign nothing
 */
export function standardWebhooksFields(
  { id, at, body }: SignedMessage,
  secrets: readonly string[],
): readonly (readonly [name: string, value: string])[] {
  const timestamp = Math.floor(at.getTime() / 1000)
  const signatures = secrets.flatMap((secret) => {
    const key = standardWebhooksKey(secret)
    if (key === null) return []
    return [`v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`]
  })
  if (signatures.length === 0) return []
  return [
    ['webhook-id', id],
    ['webhook-timestamp', String(timestamp)],
    ['webhook-signature', signatures.join(' ')],
  ]
}
