/** The most parts that are read: a form that is signed has few. */
const PARTS_MAX = 100
const HEAD_BYTES_MAX = 4096
const HEAD_END = Buffer.from('\r\n\r\n')

/** RFC 2046 §5.1.1: the characters of a boundary, quoted or not. */
const BOUNDARY = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i

/**
 * The text fields of a `multipart/form-data` body, in wire order; parts with a file name are skipped. Bytes that
 * are not multipart have no fields. Linear in the length of the body; never throws.
 *
 * @param contentType with its `boundary` parameter
 */
export function multipartFields(contentType: string, body: Uint8Array): [name: string, value: string][] {
  const boundary = BOUNDARY.exec(contentType)
  const name = boundary?.[1] ?? boundary?.[2]
  if (name === undefined) return []
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const delimiter = Buffer.from(`--${name}`)
  const fields: [string, string][] = []
  let start = bytes.indexOf(delimiter)
  for (let part = 0; start >= 0 && part < PARTS_MAX; part += 1) {
    const from = start + delimiter.length
    const end = bytes.indexOf(delimiter, from)
    if (end < 0) break
    const field = fieldOf(bytes.subarray(from, end))
    if (field !== undefined) fields.push(field)
    start = end
  }
  return fields
}

/** A part: CRLF, its header lines, an empty line, the value, CRLF. */
function fieldOf(part: Buffer): [name: string, value: string] | undefined {
  const headEnd = part.subarray(0, HEAD_BYTES_MAX).indexOf(HEAD_END)
  if (headEnd < 0) return undefined
  const head = part.toString('utf8', 0, headEnd)
  if (/;\s*filename\*?=/i.test(head)) return undefined
  const name = /;\s*name="([^"]*)"/i.exec(head)?.[1] ?? /;\s*name=([^\s;"]+)/i.exec(head)?.[1]
  if (name === undefined) return undefined
  const valueEnd = part.subarray(-2).equals(Buffer.from('\r\n')) ? part.length - 2 : part.length
  return [
    name,
    part.toString('utf8', headEnd + HEAD_END.length, Math.max(valueEnd, headEnd + HEAD_END.length)),
  ]
}
