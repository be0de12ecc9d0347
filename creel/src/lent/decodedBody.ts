import { decodedBody as decode, textOf } from '@creel/core/engine/message'
import { fieldsAsSent } from '@creel/terminal/tools'
import type { CapturedRequest, WholeRequest } from 'creel-client'

/** The body of a request as it is read, like that of the API; null if it is not encoded. */
export function decodedBody(request: WholeRequest): CapturedRequest['decodedBody'] {
  const decoded = decode({
    headers: fieldsAsSent(request.rawHeaders),
    body: Buffer.from(request.body ?? '', request.bodyIsBinary ? 'base64' : 'utf8'),
    bodyTruncated: request.bodyTruncated,
  })
  if (decoded === undefined) return null
  const { body, encoding, fault } = decoded
  return {
    encoding,
    fault,
    sizeBytes: body?.length ?? null,
    text: body === null ? null : (textOf(body) ?? null),
  }
}
