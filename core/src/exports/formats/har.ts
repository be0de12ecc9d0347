import { shownFields, urlEncodedPairs } from '../../engine/message/index.ts'
import type { ExportedRequest, Format } from './format.ts'

export const HAR_START = '{"log":{"version":"1.2","creator":{"name":"Creel","version":"1"},"entries":[\n'
/** Closes a file that {@link HAR_START} began. */
export const HAR_END = '\n]}}\n'

/**
 * One entry of HAR 1.2. Answers are not stored, so the response has status 0, which HAR uses for exchanges without one.
 *
 * @param body its text, or base64 if it is not text; and its number of bytes
 */
export function harEntry(
  request: Omit<ExportedRequest, 'body'>,
  { text, bytes }: { readonly text: string; readonly bytes: number },
): string {
  const fields = shownFields(request.headers)
  const cookies = fields
    .filter(({ name }) => name.toLowerCase() === 'cookie')
    .flatMap(({ value }) => value.split(';'))
    .map((pair) => {
      const [name = '', ...rest] = pair.trim().split('=')
      return { name, value: rest.join('=') }
    })
  const query = request.url.includes('?') ? request.url.slice(request.url.indexOf('?') + 1) : ''
  return JSON.stringify({
    startedDateTime: request.receivedAt.toISOString(),
    time: 0,
    request: {
      method: request.method,
      url: request.url,
      httpVersion: 'HTTP/1.1',
      cookies,
      headers: fields,
      queryString: [...urlEncodedPairs(query)].map(([name, value]) => ({ name, value })),
      ...(bytes === 0
        ? {}
        : {
            postData: {
              mimeType: request.contentType ?? 'application/octet-stream',
              text,
              ...(request.isText ? {} : { comment: 'base64' }),
            },
          }),
      headersSize: -1,
      bodySize: bytes,
    },
    response: {
      status: 0,
      statusText: '',
      httpVersion: '',
      cookies: [],
      headers: [],
      content: { size: 0, mimeType: 'x-unknown' },
      redirectURL: '',
      headersSize: -1,
      bodySize: -1,
    },
    cache: {},
    timings: { send: 0, wait: 0, receive: 0 },
    ...(request.label === null ? {} : { comment: request.label }),
  })
}

export const HAR: Format = {
  contentType: 'application/json',
  extension: 'har',
  about: 'a HAR 1.2 file with one entry',
  write: (request) => {
    const { body, isText } = request
    const text = body.toString(isText ? 'utf8' : 'base64')
    return HAR_START + harEntry(request, { text, bytes: body.length }) + HAR_END
  },
}
