import { CONNECTION_FIELDS } from '@creel/core/engine/words'
import type { RequestDetail } from '../trpc.ts'

/** HTTP Archive 1.2 with this one request and no response; bodies that are not text in base64. */
export function asHar(request: RequestDetail): string {
  const { body, bodyIsBinary, contentType, method, query, rawHeaders, receivedAt, sizeBytes, url } = request
  const queryString = Object.entries(query).flatMap(([name, values]) =>
    values.map((value) => ({ name, value })),
  )
  const postData =
    body === null
      ? {}
      : {
          postData: {
            mimeType: contentType ?? '',
            text: body,
            ...(bodyIsBinary ? { encoding: 'base64' } : {}),
          },
        }
  const entry = {
    startedDateTime: receivedAt,
    time: 0,
    request: {
      method,
      url,
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: rawHeaders,
      queryString,
      headersSize: -1,
      bodySize: sizeBytes,
      ...postData,
    },
    response: {
      status: 0,
      statusText: '',
      httpVersion: '',
      cookies: [],
      headers: [],
      content: { size: 0, mimeType: '' },
      redirectURL: '',
      headersSize: -1,
      bodySize: -1,
    },
    cache: {},
    timings: { send: 0, wait: 0, receive: 0 },
  }
  const log = { version: '1.2', creator: { name: 'Creel', version: '1' }, entries: [entry] }
  return `${JSON.stringify({ log }, null, 2)}\n`
}

/** A `.http` file for editors: request line, fields, body. */
export function asHttp({ body, bodyIsBinary, method, rawHeaders, url }: RequestDetail): string {
  const fields = rawHeaders
    .filter(({ name }) => !CONNECTION_FIELDS.has(name.toLowerCase()))
    .map(({ name, value }) => `${name}: ${value}`)
  const note = bodyIsBinary ? ['# Binary body, in base64:'] : []
  return `${[...note, `${method} ${url}`, ...fields, '', body ?? ''].join('\n')}\n`
}

/** The request in the API's format, without delivery results; for tests. */
export function asJson({
  body,
  bodyIsBinary,
  contentType,
  label,
  method,
  path,
  queryString,
  rawHeaders,
}: RequestDetail): string {
  const fixture = { method, path, queryString, headers: rawHeaders, contentType, label, body, bodyIsBinary }
  return `${JSON.stringify(fixture, null, 2)}\n`
}
