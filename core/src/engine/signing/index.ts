import { createHmac } from 'node:crypto'

const PREFIX = 'whsec_'
const KEY_BYTES_MIN = 24
const KEY_BYTES_MAX = 64

/** A message as Standard Webhooks signs it. */
interface SignedMessage {
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
function standardWebhooksKey(secret: string): Buffer | null {
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
function standardWebhooksFields(
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

/** The header with the signature by which a receiver knows that a request is from Creel. */
export const SIGNATURE_HEADER = 'creel-signature'

/**
 * `t=<unix seconds>,v1=<hex>[,v1=<hex>]`: each `v1` is HMAC-SHA256 over `t`, a full stop and the body as sent.
 *
 * @param body the exact bytes on the wire
 * @param secrets the current secret; for 24 h after a rotation the previous one follows
 * @param at time of this attempt, new for every retry, so that receivers can refuse old ones
 */
export function creelSignature(body: Uint8Array, secrets: readonly string[], at: Date): string {
  const t = Math.floor(at.getTime() / 1000)
  const parts = secrets.map((secret) => {
    const mac = createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')
    return `v1=${mac}`
  })
  return [`t=${t}`, ...parts].join(',')
}

/** The ways in which what we send is signed. */
export const SIGNING_SCHEMES = ['creel', 'standard-webhooks'] as const

export type SigningScheme = (typeof SIGNING_SCHEMES)[number]

/** How messages to a receiver are signed. */
export interface Signing {
  readonly scheme: SigningScheme
  /** The newest first; empty when nothing is signed. */
  readonly secrets: readonly string[]
}

/** The fields that prove to a receiver that a message is ours: none without a secret. */
export function signatureFields(
  { scheme, secrets }: Signing,
  message: SignedMessage,
): readonly (readonly [name: string, value: string])[] {
  if (secrets.length === 0) return []
  return scheme === 'creel'
    ? [[SIGNATURE_HEADER, creelSignature(message.body, secrets, message.at)]]
    : standardWebhooksFields(message, secrets)
}

/** Says why a secret cannot sign by a scheme; null when it can. The answer never quotes it. */
export function secretProblem(scheme: SigningScheme, secret: string): string | null {
  return scheme === 'creel' || standardWebhooksKey(secret) !== null
    ? null
    : 'Standard Webhooks needs a secret like `whsec_` and the Base64 of 24 to 64 bytes.'
}
