import type { RequestDetail } from '../trpc.ts'
import { bytesOfBase64 } from '../words/copyAs.ts'
import { bytes } from '../words/format.ts'

type Encoded = Pick<RequestDetail, 'body' | 'bodyIsBinary' | 'decodedBody'>

/** Longer texts are not decoded for display. */
const DECODED_BYTES_MAX = 1_048_576

const FAULTS: Readonly<Record<string, string>> = {
  too_long: 'decoded, it would be more than 16 times as long, or over 10 MiB',
  invalid: 'its bytes are not of that encoding',
  unknown_encoding: 'the encoding is not known',
}

/**
 * A body as it is read: decoded, if it arrived encoded as text. Then `octets` are the bytes as they came, for a
 * download.
 */
export function asRead({ body, bodyIsBinary, decodedBody }: Encoded) {
  if (decodedBody === null) return { body, isBinary: bodyIsBinary }
  const { encoding, fault, text } = decodedBody
  const size = bytes(decodedBody.sizeBytes ?? 0)
  if (text !== null) {
    const octets = bodyIsBinary ? bytesOfBase64(body ?? '') : new TextEncoder().encode(body ?? '')
    return { body: text, isBinary: false, octets, note: `Arrived as ${encoding}. Shown decoded: ${size}.` }
  }
  const why = fault === null ? `decoded, its ${size} are no text` : (FAULTS[fault] ?? fault)
  return { body, isBinary: bodyIsBinary, note: `Arrived as ${encoding}, and is shown as it came: ${why}.` }
}

/** Whether the decoded body is too long for the detail of a request, and is read by itself. */
export function isLong({ decodedBody }: Encoded): boolean {
  return (
    decodedBody !== null && decodedBody.fault === null && (decodedBody.sizeBytes ?? 0) > DECODED_BYTES_MAX
  )
}
