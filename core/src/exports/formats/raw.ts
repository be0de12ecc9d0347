import type { ExportedRequest, Format } from './format.ts'

/** The stored body is already decoded from chunks, so the message has its length instead. */
function httpMessage(request: ExportedRequest): Uint8Array {
  const { host, pathname, search } = partsOf(request.url)
  const chunked = request.headers.some(([name]) => name.toLowerCase() === 'transfer-encoding')
  const hasHost = request.headers.some(([name]) => name.toLowerCase() === 'host')
  const fields = request.headers.filter(([name]) => name.toLowerCase() !== 'transfer-encoding')
  const lines = [
    `${request.method} ${pathname}${search} HTTP/1.1`,
    ...(hasHost ? [] : [`Host: ${host}`]),
    ...fields.map(([name, value]) => `${name}: ${value}`),
    ...(chunked ? [`Content-Length: ${request.body.length}`] : []),
  ]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), request.body])
}

/** Parsed by hand: a URL object would fold dot segments and change the sender's encoding. */
function partsOf(url: string): { host: string; pathname: string; search: string } {
  const [, host = '', pathname = '/', search = ''] = /^[a-z]+:\/\/([^/?#]*)([^?]*)(.*)$/is.exec(url) ?? []
  return { host, pathname: byteText(pathname), search: byteText(search) }
}

/** One character a byte, the form in which the lines of the message are written. */
const byteText = (text: string) => Buffer.from(text).toString('latin1')

/** The request as an HTTP/1.1 message. */
export const HTTP: Format = {
  contentType: 'message/http',
  extension: 'http',
  about: 'the raw HTTP message',
  write: httpMessage,
}
