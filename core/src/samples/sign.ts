import { EVERY, type Segment, segmentIn } from '../engine/conditions/index.ts'
import type { CapturedRequest, WireHeader } from '../engine/message/index.ts'
import { findProvider, type SchemeRow } from '../engine/providers/index.ts'
import {
  Evidence,
  laidOutSignature,
  manualSchemeRow,
  signatureOver,
  timestampNow,
  type VerificationSettings,
} from '../engine/verification/index.ts'

export interface Draft {
  /** Signing may change it: some providers sign within the body. */
  readonly body: object
  readonly isForm: boolean
  readonly headers: readonly WireHeader[]
}

/** Inputs of a signature. */
export interface Signing {
  readonly provider: string
  readonly settings: VerificationSettings
  /** The public URL that the sample is sent to. */
  readonly url: string
  readonly now: Date
  readonly id: string
  /** Whether to sign with a wrong secret. */
  readonly isBad: boolean
}

export interface Signed {
  readonly headers: readonly WireHeader[]
  readonly body: string
  readonly isSigned: boolean
}

/**
 * Signs a sample like its provider, with the endpoint's secret: by the endpoint's own scheme if the user defined one,
 * else by the catalog's. Without a secret, or if the provider signs with a private key, the sample stays unsigned. It
 * also stays unsigned if the sample is of another provider whose requests carry the secret itself.
 */
export function signSample(draft: Draft, signing: Signing): Signed {
  const secret = signing.settings.signingSecret
  const row = secret === null ? undefined : schemeFor(draft, signing, secret)
  if (row === undefined || secret === null) {
    return { headers: draft.headers, body: bodyText(draft), isSigned: false }
  }
  const timestamp = timestampNow(row, signing.now)
  const headers = [...draft.headers, ...headersBeside(row, signing, timestamp)]
  if (row.timestamp?.in === 'body')
    setMember(draft.body, row.timestamp.path ?? '', bodyTimestamp(row, timestamp))
  const evidence = new Evidence(asCaptured({ ...draft, headers }, signing.now), signing.url)
  const signature = signatureOver(row, evidence, { timestamp, secret, isBad: signing.isBad })
  if (signature === undefined) return { headers: draft.headers, body: bodyText(draft), isSigned: false }
  if (row.signature.in === 'body') {
    setMember(draft.body, row.signature.path ?? '', signature)
    return { headers, body: bodyText(draft), isSigned: true }
  }
  const field: WireHeader = [row.signature.name ?? '', laidOutSignature(row, signature, timestamp)]
  return { headers: [...headers, field], body: bodyText(draft), isSigned: true }
}

/** The scheme to sign with: it must accept the endpoint's secret and the kind of body. */
function schemeFor(draft: Draft, { provider, settings }: Signing, secret: string): SchemeRow | undefined {
  const rows =
    settings.manual === null ? (findProvider(provider)?.schemes ?? []) : [manualSchemeRow(settings.manual)]
  const fitting = rows.filter((row) => {
    const prefix = row.when?.secretPrefix
    if (prefix !== undefined && !secret.startsWith(prefix)) return false
    if (row.when?.query !== undefined || row.when?.header !== undefined) return false
    const place = draft.isForm ? ['header', 'form'] : ['header', 'body']
    const signsForm = /\{form/.test(row.message ?? '')
    // A token is the secret itself, and was given to be shown to the readers of this provider's captures only.
    const isFitting = row.mac === 'hmac' || (row.mac === 'token' && provider === settings.provider)
    return isFitting && place.includes(row.signature.in) && (draft.isForm || !signsForm)
  })
  // If items have their own signatures, receivers check those.
  return fitting.find(({ items }) => items !== undefined && items in draft.body) ?? fitting[0]
}

const bodyTimestamp = (row: SchemeRow, text: string): string | number =>
  row.timestamp?.unit === 'ms' ? Number(text) : text

function headersBeside(row: SchemeRow, { id }: Signing, timestamp: string): WireHeader[] {
  const headers: WireHeader[] = []
  if (row.timestamp?.in === 'header') headers.push([row.timestamp.name ?? '', timestamp])
  if (row.idHeader !== undefined) headers.push([row.idHeader, id])
  return headers
}

function asCaptured(draft: Draft, now: Date): CapturedRequest {
  const body = Buffer.from(bodyText(draft))
  return {
    endpointId: '',
    receivedAt: now,
    method: 'POST',
    path: '',
    queryString: null,
    headers: draft.headers,
    contentType: contentType(draft),
    body,
    sizeBytes: body.length,
    bodyTruncated: false,
    ip: null,
  }
}

/** The media type of a sample's body. */
export function contentType({ isForm }: Pick<Draft, 'isForm'>): string {
  return isForm ? 'application/x-www-form-urlencoded' : 'application/json'
}

function bodyText({ body, isForm }: Draft): string {
  if (!isForm) return JSON.stringify(body)
  return new URLSearchParams(
    Object.entries(body).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()
}

/**
 * Sets a value at a path of a JSON document, and creates missing objects and lists on the way.
 *
 * @param path in the catalog's notation: `signature.timestamp`, `items[0].id`
 */
function setMember(document: object, path: string, value: unknown): void {
  const segments = path
    .split(/[.[\]]+/)
    .filter((step) => step !== '')
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step))
  setAt(document, segments, value)
}

/** The same for a parsed path; false if it leads through a value that is neither an object nor a list. */
export function setAt(document: object, segments: readonly Segment[], value: unknown): boolean {
  let reached: object = document
  for (const [at, written] of segments.entries()) {
    const segment = segmentIn(written, Array.isArray(reached))
    if (segment === EVERY) return false
    const name = keyOf(reached, segment)
    if (name === undefined) return false
    if (at === segments.length - 1) {
      put(reached, name, value)
      return true
    }
    const inner: unknown = Reflect.get(reached, name)
    if (inner === undefined || inner === null) {
      const made = typeof segments[at + 1] === 'number' ? [] : {}
      put(reached, name, made)
      reached = made
    } else if (typeof inner === 'object') reached = inner
    else return false
  }
  return false
}

/** The member or list index of a segment. An index may be at most one beyond the end. */
function keyOf(container: object, segment: string | number): string | number | undefined {
  if (!Array.isArray(container)) return typeof segment === 'string' ? segment : undefined
  const index = typeof segment === 'number' ? segment : Number.NaN
  const place = index < 0 ? container.length + index : index
  return place >= 0 && place <= container.length ? place : undefined
}

/** Defines the member, so that `__proto__` is one like any other. */
function put(container: object, name: string | number, value: unknown): void {
  Object.defineProperty(container, name, { value, writable: true, enumerable: true, configurable: true })
}
