import type { Verdict } from '../words/index.ts'

/** A header field as received: spelling kept; the value as a latin1 "byte string", one char a byte. */
export type WireHeader = readonly [name: string, value: string]

/** The result of a signature check, with its reason. */
export interface Verification {
  readonly verdict: Verdict
  /** One sentence, at most 300 characters; never the secret, the expected digest or the received signature. */
  readonly note: string
}

/**
 * A request exactly as it arrived, the input of verification, conditions, rules, templates and forwards. Nothing in it
 * is decoded, folded or re-encoded.
 */
export interface CapturedRequest {
  readonly endpointId: string
  /** When the last body byte was read. */
  readonly receivedAt: Date
  /** As sent: methods are case-sensitive. */
  readonly method: string
  /** The raw part after `/hook/{id}`, `''` when none. */
  readonly path: string
  /** Raw, without `?`; null when the target had no `?`. */
  readonly queryString: string | null
  /** Wire order, spelling and repeats. */
  readonly headers: readonly WireHeader[]
  /** The `Content-Type` header as sent. */
  readonly contentType: string | null
  readonly body: Uint8Array
  /** Bytes received, also those past the cap. */
  readonly sizeBytes: number
  /** True for an oversize trace: `body` is a prefix only. */
  readonly bodyTruncated: boolean
  readonly ip: string | null
}

/** A captured request with its verdict, label and event id, the input of conditions and rules. */
export interface EvaluatedRequest extends CapturedRequest {
  readonly label: string | null
  /** The sender's own id of the event, at most 200 bytes of UTF-8 without control characters; null without one. */
  readonly eventId: string | null
  readonly verification: Verification | null
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * A header value as text: UTF-8 when its bytes are valid UTF-8, else latin1.
 *
 * @param value a latin1 byte string, as node:http and our rows hold it
 */
export function headerText(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is the common case and needs no decoding.
  if (/^[\x00-\x7f]*$/.test(value)) return value
  try {
    return utf8.decode(Buffer.from(value, 'latin1'))
  } catch {
    return value
  }
}

/** Every value of a header, in wire order, as text; names are compared without case. */
export function headerValues(headers: readonly WireHeader[], name: string): string[] {
  const values: string[] = []
  for (const [field, value] of headers) if (isNamed(field, name)) values.push(headerText(value))
  return values
}

/** The value of the first `Content-Type`, as it is given; undefined without one. */
export function contentTypeIn(headers: readonly WireHeader[]): string | undefined {
  return headers.find(([name]) => isNamed(name, 'content-type'))?.[1]
}

/** Whether a field has this name, without regard to case. The length is compared first: it mostly differs. */
export function isNamed(field: string, name: string): boolean {
  return field.length === name.length && (field === name || field.toLowerCase() === name.toLowerCase())
}
