import { FORMATS } from '@creel/core/exports/formats'
import { headerBytes } from '../api/requests.ts'
import type { RequestDetail } from '../api/shapes.ts'
import { ClientError } from '../clientError.ts'

/** Characters that a shell's line editor obeys when they are pasted. Line feeds and tabs stay within the quotes. */
const OBEYED = /(?![\t\n])\p{Cc}/u

/**
 * A curl command that sends the request again, as an export writes it. Pasted into a shell, it is one command and nothing else: a body
 * with control characters is in base64.
 *
 * @param url of the whole request, http or https
 * @throws ClientError when the URL is another one, or another part than the body holds control characters
 */
export function curlCommand(request: RequestDetail, url: string): string {
  const isText = !request.bodyIsBinary && !OBEYED.test(request.body ?? '')
  const command = FORMATS.curl.write({
    receivedAt: new Date(request.receivedAt),
    method: request.method,
    url,
    headers: request.rawHeaders.map((header) => [header.name, headerBytes(header)]),
    contentType: request.contentType,
    label: request.label,
    body: Buffer.from(request.body ?? '', request.bodyIsBinary ? 'base64' : 'utf8'),
    isText,
    bodyTruncated: request.bodyTruncated,
  })
  if (!/^https?:\/\//.test(url) || OBEYED.test(command)) {
    throw new ClientError('It holds control characters, or no URL of HTTP: it is not copied.')
  }
  return command
}
