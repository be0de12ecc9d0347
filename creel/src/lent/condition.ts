import { matches, parseCondition } from '@creel/core/engine/conditions'
import { verdictOf } from '@creel/core/engine/words'
import { usageError } from '@creel/terminal/clientError'
import { fieldsAsSent } from '@creel/terminal/tools'
import type { WholeRequest } from 'creel-client'

/**
 * Parses a condition of the API's language. It is evaluated in this process, by the same code as in the service.
 *
 * @throws ClientError naming every invalid part
 */
export function readCondition(text: string): (request: WholeRequest) => boolean {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw usageError(
      `--filter has a condition that is not valid JSON: ${error instanceof Error ? error.message : error}`,
    )
  }
  const parsed = parseCondition(value, text)
  if ('issues' in parsed) {
    throw usageError(
      '--filter has an invalid condition.',
      ...parsed.issues.map(({ path, detail }) => `  ${path.join('.')} ${detail}`),
    )
  }
  return (request) => matches(parsed.condition, capturedRequest(request))
}

/** The request in the form that conditions take. */
function capturedRequest(request: WholeRequest): Parameters<typeof matches>[1] {
  const { verification } = request
  return {
    endpointId: request.endpointId,
    receivedAt: new Date(request.receivedAt),
    method: request.method,
    path: request.path,
    queryString: request.queryString,
    headers: fieldsAsSent(request.rawHeaders),
    contentType: request.contentType,
    body: Buffer.from(request.body ?? '', request.bodyIsBinary ? 'base64' : 'utf8'),
    sizeBytes: request.sizeBytes,
    bodyTruncated: request.bodyTruncated,
    ip: request.ip,
    label: request.label,
    eventId: request.eventId,
    verification:
      verification === null ? null : { verdict: verdictOf(verification.verdict), note: verification.note },
  }
}
