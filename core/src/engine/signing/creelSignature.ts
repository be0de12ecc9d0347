import { createHmac } from 'node:crypto'

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
