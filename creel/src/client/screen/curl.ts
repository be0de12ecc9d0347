import type { RequestDetail } from '../api/shapes.ts'

/** Fields that curl sets itself. */
const OWN = /^(host|content-length|connection|transfer-encoding|accept-encoding)$/i

/**
 * A curl command that sends the request again: to the target, with path suffix and query.
 *
 * @param target a URL; that of the local server, or the capture URL with everything
 */
export function curlCommand(request: RequestDetail, target: string): string {
  const query = request.queryString === null ? '' : `?${request.queryString}`
  const url = target === request.url ? target : `${target}${request.path}${query}`
  const headers = request.rawHeaders
    .filter(({ name }) => !OWN.test(name))
    .map(({ name, value }) => `-H ${quoted(`${name}: ${value}`)}`)
  const { body, bodyIsBinary } = request
  const parts = ['curl', '--path-as-is', '-X', quoted(request.method), quoted(url), ...headers]
  if (body === null) return parts.join(' ')
  if (!bodyIsBinary) return [...parts, `--data-binary ${quoted(body)}`].join(' ')
  return `echo ${body} | base64 -d | ${[...parts, '--data-binary @-'].join(' ')}`
}

/** A word of a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
