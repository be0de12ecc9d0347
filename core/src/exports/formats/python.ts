import { type ExportedRequest, endToEndHeaders } from '../exportedRequest.ts'
import type { Format } from './format.ts'

/** A bytes literal. */
function bytes(value: Uint8Array): string {
  const characters = Array.from(value, (byte) => {
    if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`
    return byte >= 0x20 && byte < 0x7f
      ? String.fromCharCode(byte)
      : `\\x${byte.toString(16).padStart(2, '0')}`
  })
  return `b"${characters.join('')}"`
}

const text = (value: string) => bytes(Buffer.from(value)).slice(1)

function python(request: ExportedRequest): string {
  // requests takes a mapping: repeated fields are joined, as HTTP allows.
  const joined = new Map<string, { name: string; value: string }>()
  for (const [name, value] of endToEndHeaders(request)) {
    const known = joined.get(name.toLowerCase())
    if (known === undefined) joined.set(name.toLowerCase(), { name, value })
    else known.value += `, ${value}`
  }
  const fields = [...joined.values()].map(
    ({ name, value }) => `    ${text(name)}: ${bytes(Buffer.from(value, 'latin1'))},\n`,
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
