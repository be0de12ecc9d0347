import { isUtf8 } from 'node:buffer'
import { type Column, columnValues } from '../engine/columns/index.ts'
import {
  asRead,
  type EvaluatedRequest,
  headerText,
  isNamed,
  type WireHeader,
} from '../engine/message/index.ts'
import type { Redaction } from '../engine/storing/index.ts'
import { storable } from '../platform/db/index.ts'
import { requestStorageBytes, SEARCHED_BODY_BYTES, type StoredParts } from '../requests/index.ts'
import type { EventClaim } from './eventClaim.ts'

/** An evaluated request as the columns of its row in `requests`. */
export interface CaptureRow extends StoredParts {
  readonly endpointId: string
  readonly receivedAt: Date
  /** Joined by LF, which header names and values cannot contain. */
  readonly headerNames: string
  /** Bytes as a latin1 string, joined by LF. */
  readonly headerValues: string
  /** Length of the whole body as received. A truncated body is stored shorter. */
  readonly sizeBytes: number
  readonly bodyTruncated: boolean
  readonly bodyIsBinary: boolean
  /** Id of the data key that sealed it; null for a row in plain. */
  readonly sealedWith: string | null
  readonly sealed: Buffer | null
  /** Bytes that it counts against the limits of storage. */
  readonly storageBytes: number
}

/** Converts a request to its row. The row of any request can be stored: NUL in texts becomes U+FFFD. */
export function captureRow(
  request: EvaluatedRequest,
  {
    redaction = null,
    columns = [],
    note = null,
  }: {
    readonly redaction?: Redaction | null
    readonly columns?: readonly Column[]
    readonly note?: Uint8Array | null
  } = {},
): CaptureRow {
  const { headers, body, label, eventId, verification } = request
  const text = readText(body, request.bodyTruncated)
  const read = asRead(request)
  const decoded = read === request ? null : readText(read.body, false)
  const { names, values, userAgent } = headerColumns(headers)
  const parts: StoredParts = {
    method: request.method,
    path: storable(request.path),
    queryString: request.queryString === null ? null : storable(request.queryString),
    headerNames: names,
    headerValues: values,
    contentType: request.contentType === null ? null : storable(headerText(request.contentType)),
    ip: request.ip,
    userAgent: userAgent === null ? null : storable(headerText(userAgent)),
    label: label === null ? null : storable(label),
    eventId,
    body,
    decodedText: decoded === null ? null : searchedText(decoded),
    sealed: null,
    verdict: verification?.verdict ?? null,
    verdictNote: verification === null ? null : storable(verification.note),
    redaction: redaction === null ? null : redactionText(redaction),
    columnValues: columnValues(columns, request),
    note,
  }
  return {
    ...parts,
    endpointId: request.endpointId,
    receivedAt: request.receivedAt,
    sizeBytes: request.sizeBytes,
    bodyTruncated: request.bodyTruncated,
    bodyIsBinary: text === null,
    sealedWith: null,
    sealed: null,
    storageBytes: requestStorageBytes(parts),
  }
}

/**
 * PostgreSQL reads the column as JSON and refuses NUL and half surrogates there, as in its text type. So they are
 * replaced.
 */
function redactionText(redaction: Redaction): string {
  const { paths, fault } = redaction
  return JSON.stringify({
    ...redaction,
    paths: paths.map(storable),
    fault: fault === null ? null : storable(fault),
  })
}

/** Collects header names and values for their columns, and the first `User-Agent`, in one pass. */
function headerColumns(headers: readonly WireHeader[]) {
  let names = ''
  let values = ''
  let userAgent: string | null = null
  for (const [name, value] of headers) {
    if (names !== '') {
      names += '\n'
      values += '\n'
    }
    names += name
    values += value
    if (userAgent === null && isNamed(name, 'user-agent')) userAgent = value
  }
  return { names, values, userAgent }
}

/** The most bytes of a character in UTF-8. */
const CHARACTER_BYTES_MAX = 4

/**
 * The bytes of a text body, or null when it is binary: not UTF-8, or with a NUL. If the prefix of an oversize body ends
 * inside a character, that character is left out.
 */
function readText(body: Uint8Array, truncated: boolean): Uint8Array | null {
  if (body.includes(0)) return null
  if (isUtf8(body)) return body
  if (!truncated) return null
  for (let cut = 1; cut < CHARACTER_BYTES_MAX && cut < body.length; cut += 1) {
    const whole = body.subarray(0, body.length - cut)
    if (isUtf8(whole)) return whole
  }
  return null
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

function searchedText(text: Uint8Array): string {
  const searched = text.subarray(0, SEARCHED_BODY_BYTES)
  return utf8.decode(readText(searched, true) ?? searched)
}

/** One capture to be stored, evaluated under a revision of its endpoint's settings. */
export interface NewCapture {
  readonly row: CaptureRow
  readonly revision: number
  readonly dispatchState: 'NotAttempted' | 'Skipped' | 'Pending'
  /** Ids of the watchdogs' criteria that it meets. */
  readonly criteriaIds: readonly string[]
  /** Null where its endpoint takes every event, and where it has no id. */
  readonly claim: EventClaim | null
}
