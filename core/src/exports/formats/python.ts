import { type ExportedRequest, type Format, joinedHeaders } from './format.ts'

const HEX = '0123456789abcdef'
const [QUOTE, BACKSLASH, SMALL_X] = [0x22, 0x5c, 0x78]
/** Length of an escaped byte: `\xff`. */
const ESCAPE_BYTES = 4
const isPlain = (byte: number) => byte >= 0x20 && byte < 0x7f
const isEscaped = (byte: number) => byte === QUOTE || byte === BACKSLASH

const lengthOf = (byte: number) => (isPlain(byte) ? (isEscaped(byte) ? 2 : 1) : ESCAPE_BYTES)

/** A bytes literal. Written byte by byte into one buffer, so that a body of megabytes takes milliseconds. */
function bytes(value: Uint8Array): string {
  let length = 0
  // By index: an iterator takes ten times as long.
  for (let index = 0; index < value.length; index += 1) length += lengthOf(value[index] ?? 0)
  const literal = Buffer.allocUnsafe(length)
  let at = 0
  for (let index = 0; index < value.length; index += 1) {
    const byte = value[index] ?? 0
    if (isPlain(byte)) {
      if (isEscaped(byte)) literal[at++] = BACKSLASH
      literal[at++] = byte
    } else {
      literal[at++] = BACKSLASH
      literal[at++] = SMALL_X
      literal[at++] = HEX.charCodeAt(byte >> 4)
      literal[at++] = HEX.charCodeAt(byte & 0x0f)
    }
  }
  return `b"${literal.toString('latin1')}"`
}

/** A text literal: every JSON string is a valid Python string, because Python sources are UTF-8. */
const text = (value: string) => JSON.stringify(value)

function python(request: ExportedRequest): string {
  const fields = joinedHeaders(request).map(
    ([name, value]) => `    ${text(name)}: ${bytes(Buffer.from(value, 'latin1'))},\n`,
  )
  const body = request.body.length === 0 ? 'None' : bytes(request.body)
  return `import requests

headers = {
${fields.join('')}}
body = ${body}

response = requests.request(${text(request.method)}, ${text(request.url)}, headers=headers, data=body)
print(response.status_code, response.text)
`
}

/** A Python script that sends the request with the Requests library. */
export const PYTHON: Format = {
  contentType: 'text/x-python; charset=utf-8',
  extension: 'py',
  about: 'a call of Python requests',
  write: python,
}
