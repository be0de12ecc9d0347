import { FORMATS } from '@creel/core/exports/formats'
import { headerBytes } from '../api/requests.ts'
import type { RequestDetail } from '../api/shapes.ts'

/**
 * A curl command that sends the request again, as an export writes it: to the target, with path suffix and query.
 *
 * @param target a URL; that of the local server, or the capture URL with everything
 */
export function curlCommand(request: RequestDetail, target: string): string {
  const query = request.queryString === null ? '' : `?${request.queryString}`
  const isText = !request.bodyIsBinary
  return FORMATS.curl.write({
    receivedAt: new Date(request.receivedAt),
    method: request.method,
    url: target === request.url ? target : `${target}${request.path}${query}`,
    headers: request.rawHeaders.map((header) => [header.name, headerBytes(header)]),
    contentType: request.contentType,
    label: request.label,
    body: Buffer.from(request.body ?? '', isText ? 'utf8' : 'base64'),
    isText,
    bodyTruncated: request.bodyTruncated,
  })
}
