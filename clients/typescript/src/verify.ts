/** The header that proves to a receiver that a forward is Creel's. */
export const SIGNATURE_HEADER = 'creel-signature'

/** How far from now the signature's time may be, in seconds. */
const TOLERANCE_SECONDS = 300

/** The parts of a forward that a receiver checks, and the secrets to check with. */
export interface VerifyOptions {
  /** The exact bytes of the body, before any parsing. */
  readonly body: Uint8Array | ArrayBuffer | string
  /** The `creel-signature` header; absent counts as unsigned. */
  readonly header: string | null | undefined
  /** The action's signing secret; while it is being rotated, the old and the new one. */
  readonly secret: string | readonly string[]
  /** Default 300 seconds. */
  readonly toleranceSeconds?: number
  /** The present time, in the unit of `Date.now()`. */
  readonly now?: number
}

/** Result of a signature check, with the reason if it fails. */
export type Verdict =
  | { readonly ok: true; readonly signedAt: Date }
  | { readonly ok: false; readonly reason: 'unsigned' | 'malformed' | 'expired' | 'mismatch' }

/**
 * Checks a forward's `creel-signature`: `t=<unix seconds>,v1=<hex>[,v1=<hex>]`, each `v1` an HMAC-SHA256 over `t`, a
 * full stop and the body. Any match counts; the comparison takes the same time wherever they differ. Uses Web Crypto
 * only.
 */
export async function verifySignature(options: VerifyOptions): Promise<Verdict> {
  const { header, toleranceSeconds = TOLERANCE_SECONDS, now = Date.now() } = options
  if (header == null || header === '') return { ok: false, reason: 'unsigned' }
  const fields = header.split(',').map((field) => field.trim().split('='))
  const t = fields.find(([name]) => name === 't')?.[1] ?? ''
  const given = fields.flatMap(([name, value]) => {
    const mac = name === 'v1' ? bytesOfHex(value ?? '') : null
    return mac === null ? [] : [mac]
  })
  if (!/^\d{1,12}$/.test(t) || given.length === 0) return { ok: false, reason: 'malformed' }
  const message = signedMessage(t, options.body)
  const secrets = typeof options.secret === 'string' ? [options.secret] : options.secret
  for (const secret of secrets) {
    const key = await crypto.subtle.importKey(
      'raw',
      new TextEncoder().encode(secret),
      { name: 'HMAC', hash: 'SHA-256' },
      false,
      ['verify'],
    )
    for (const mac of given) {
      if (!(await crypto.subtle.verify('HMAC', key, mac, message))) continue
      const isRecent = Math.abs(now / 1000 - Number(t)) <= toleranceSeconds
      return isRecent ? { ok: true, signedAt: new Date(Number(t) * 1000) } : { ok: false, reason: 'expired' }
    }
  }
  return { ok: false, reason: 'mismatch' }
}

/**
 * Checks a fetch-style request, as frameworks pass it to handlers. Reads a clone: the body can still be read.
 *
 * @returns the verdict, and the body's bytes
 */
export async function verifyRequest(
  request: Request,
  secret: string | readonly string[],
): Promise<{ readonly verdict: Verdict; readonly body: Uint8Array<ArrayBuffer> }> {
  const body = new Uint8Array(await request.clone().arrayBuffer())
  return {
    verdict: await verifySignature({ body, header: request.headers.get(SIGNATURE_HEADER), secret }),
    body,
  }
}

function signedMessage(t: string, body: VerifyOptions['body']): Uint8Array<ArrayBuffer> {
  const start = new TextEncoder().encode(`${t}.`)
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body)
  const message = new Uint8Array(start.length + bytes.length)
  message.set(start)
  message.set(bytes, start.length)
  return message
}

function bytesOfHex(hex: string): Uint8Array<ArrayBuffer> | null {
  if (!/^(?:[0-9a-f]{2})+$/i.test(hex)) return null
  const bytes = new Uint8Array(hex.length / 2)
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = Number.parseInt(hex.slice(at * 2, at * 2 + 2), 16)
  return bytes
}
