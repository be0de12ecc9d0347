import { type CapturedRequest, isNamed, type WireHeader } from '../message/index.ts'
import { findProvider, type SchemeRow } from '../providers/index.ts'
import { Evidence } from './evidence.ts'
import { laidOutSignature, signatureOver, timestampText } from './makeSignature.ts'
import { manualSchemeRow, type VerificationSettings } from './settings.ts'

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
  const rows =
    settings.manual === null
      ? provider === null
        ? []
        : (findProvider(provider)?.schemes ?? [])
      : [manualSchemeRow(settings.manual)]
  const fitting = rows.filter((row) => fits(row, secret))
  // Of several schemes, the one that the sender used.
  const row =
    fitting.find(({ signature }) => request.headers.some(([name]) => isNamed(name, signature.name ?? ''))) ??
    fitting[0]
  if (row === undefined)
    return { problem: 'the scheme of the provider does not sign with a shared secret in a header' }
  const timestamp = timestampText(row, now)
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
