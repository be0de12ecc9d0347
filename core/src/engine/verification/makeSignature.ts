import { createHash, createHmac } from 'node:crypto'
import type { SchemeRow } from '../providers/index.ts'
import type { Evidence } from './evidence.ts'
import { keyFor } from './keys.ts'
import { compileMessage } from './message.ts'

/** The time of a signature, as its scheme writes it. */
export function timestampText({ timestamp }: SchemeRow, now: Date): string {
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
export interface Signature {
  /** As {@link timestampText} wrote it. */
  readonly timestamp: string
  readonly secret: string
  /** Whether to sign with a wrong secret. */
  readonly isBad: boolean
}

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
  const wrong = createHash('sha256').update(`not ${secret}`).digest()
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
