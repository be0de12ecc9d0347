import { FORMATS } from '@creel/core/exports/formats'
import { ClientError } from '@creel/terminal/clientError'
import { fieldsAsSent } from '@creel/terminal/tools'
import type { WholeRequest } from 'creel-client'

/**
 * Control characters that a shell's line editor interprets when they are pasted. Line feeds and tabs are safe within
 * quotes.
 */
const OBEYED = /(?![\t\n])\p{Cc}/u

/**
 * A curl command that sends the request again, in the form of an export. Pasted into a shell, it is exactly one
 * command: a body with control characters is in base64.
 *
 * @param url of the whole request, http or https
 * @throws ClientError when the URL has another scheme, or when control characters are anywhere but in the body
 */
export function curlCommand(request: WholeRequest, url: string): string {
  const isText = !request.bodyIsBinary && !OBEYED.test(request.body ?? '')
  const command = FORMATS.curl.write({
    receivedAt: new Date(request.receivedAt),
    method: request.method,
    url,
    headers: fieldsAsSent(request.rawHeaders),
    contentType: request.contentType,
    label: request.label,
    body: Buffer.from(request.body ?? '', request.bodyIsBinary ? 'base64' : 'utf8'),
    isText,
    bodyTruncated: request.bodyTruncated,
  })
  if (!/^https?:\/\//.test(url) || OBEYED.test(command)) {
    throw new ClientError('Not copied: the request has control characters or no HTTP URL.')
  }
  return command
}
