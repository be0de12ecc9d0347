import { createHash, createHmac } from 'node:crypto'
import { type CapturedRequest, isNamed, type WireHeader } from '../message/index.ts'
import { findProvider, type SchemeRow } from '../providers/index.ts'
import { Evidence } from './evidence.ts'
import { keyFor } from './keys.ts'
import { compileMessage } from './message.ts'
import { schemeRowsOf, type VerificationSettings } from './settings.ts'

/** The time of a signature, as its scheme writes it. */
export function timestampNow({ timestamp }: SchemeRow, now: Date): string {
  switch (timestamp?.unit) {
    case 'ms':
      return String(now.getTime())
    case 'rfc3339':
      return now.toISOString()
    case 'http-date':
      return now.toUTCString()
    default:
      return String(Math.floor(now.getTime() / 1000))
  }
}

/** Inputs of a signature beside the request. */
interface Signature {
  /** As {@link timestampNow} wrote it. */
  readonly timestamp: string
  readonly secret: string
  /** Whether to sign with a wrong secret. */
  readonly isBad: boolean
}

/** The bytes of a wrong secret, always the same for one secret. */
export const wrongSecret = (secret: string): Buffer => createHash('sha256').update(`not ${secret}`).digest()

/**
 * Signs a request as its sender does. The request must have the header of the id, if the scheme signs one.
 *
 * @returns the bare signature; undefined if the scheme is not symmetric, or the request lacks a part that is signed
 */
export function signatureOver(
  row: SchemeRow,
  evidence: Evidence,
  { timestamp, secret, isBad }: Signature,
): string | undefined {
  const wrong = wrongSecret(secret)
  if (row.mac === 'token') return isBad ? wrong.toString('hex') : secret
  const key = keyFor(row, secret)
  if (!('kind' in key) || key.kind !== 'secret') return undefined
  const message = compileMessage(row.message ?? '')({ scheme: row, evidence, timestamp, secret: key.bytes })
  if ('missing' in message) return undefined
  const hash = row.hash === undefined || row.hash === 'from-prefix' ? 'sha256' : row.hash
  const mac = createHmac(hash, isBad ? wrong : key.bytes)
  for (const piece of message.pieces) mac.update(piece)
  const { encoding } = row.signature
  return mac.digest(encoding === 'base64' || encoding === 'base64url' ? encoding : 'hex')
}

/** The signature in its provider's format, with the time if its header has one. */
export function laidOutSignature(row: SchemeRow, signature: string, timestamp: string): string {
  const { parse, prefix = '', keys, timestampKey, kvSep = '=', pairSep = ',' } = row.signature
  if (parse === 'raw' || parse === 'list') return prefix + signature
  const stamp = timestampKey === undefined ? [] : [`${timestampKey}${kvSep}${timestamp}`]
  return [...stamp, `${keys?.[0] ?? ''}${kvSep}${signature}`].join(pairSep)
}

/** Terms of signing a captured request again. */
export interface Resigning {
  readonly provider: string | null
  readonly settings: VerificationSettings
  /** The URL that it is sent to, which some schemes sign. */
  readonly url: string
  readonly now: Date
  /** Whether to sign with a wrong secret. */
  readonly isBad: boolean
}

/**
 * Signs a captured request with the secret of its endpoint and a fresh time, as its provider does: by the endpoint's own
 * scheme if the user defined one, else by the catalog's. The id of the event stays, so that a receiver recognises it.
 *
 * @returns the headers with the new signature in place of the old one, or the reason why there is none
 */
export function resigned(
  request: CapturedRequest,
  { provider, settings, url, now, isBad }: Resigning,
): { readonly headers: readonly WireHeader[] } | { readonly problem: string } {
  const secret = settings.signingSecret
  if (secret === null) return { problem: 'the endpoint has no signing secret' }
  const preset = provider === null ? undefined : findProvider(provider)
  const all = schemeRowsOf(settings.manual, preset).filter((row) => fits(row, secret))
  // A secret with the prefix of a signing key must not be used by a token scheme, which would send it in plain.
  const keyed = all.filter(({ when }) => when?.secretPrefix !== undefined)
  const fitting = keyed.length > 0 ? keyed : all
  // The scheme that the sender used, if there are several.
  const row =
    fitting.find(({ signature }) => request.headers.some(([name]) => isNamed(name, signature.name ?? ''))) ??
    fitting[0]
  if (row === undefined)
    return { problem: 'the scheme of the provider does not sign with a shared secret in a header' }
  const timestamp = timestampNow(row, now)
  const replaced = [row.signature.name, row.timestamp?.in === 'header' ? row.timestamp.name : undefined]
  const kept = request.headers.filter(
    ([name]) => !replaced.some((one) => one !== undefined && isNamed(name, one)),
  )
  const headers: WireHeader[] =
    row.timestamp?.in === 'header' ? [...kept, [row.timestamp.name ?? '', timestamp]] : [...kept]
  const signature = signatureOver(row, new Evidence({ ...request, headers }, url), {
    timestamp,
    secret,
    isBad,
  })
  if (signature === undefined) return { problem: 'the request lacks a part that the provider signs' }
  return { headers: [...headers, [row.signature.name ?? '', laidOutSignature(row, signature, timestamp)]] }
}

/** Whether a request can be signed by a scheme without changing its body. */
function fits({ mac, when, signature, timestamp, items }: SchemeRow, secret: string): boolean {
  if (when?.secretPrefix !== undefined && !secret.startsWith(when.secretPrefix)) return false
  const isSymmetric = mac === 'hmac' || mac === 'token'
  return isSymmetric && signature.in === 'header' && timestamp?.in !== 'body' && items === undefined
}
