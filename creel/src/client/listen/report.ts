import { isUtf8 } from 'node:buffer'
import type { ApiClient } from '../api/apiClient.ts'
import { requestsPath } from '../api/requests.ts'
import { ClientError } from '../clientError.ts'
import type { LocalMessage } from './localSender.ts'
import type { Shown } from './view.ts'

/** As much of an answer's body is reported. */
const REPORTED_BYTES = 65_536

/**
 * Tells the service what the local server answered to a replay. A report that cannot be made is dropped: it is only a
 * record, and listening goes on.
 */
export async function reportReplay(
  api: ApiClient,
  listener: string,
  { request, answer, replayId }: Shown,
): Promise<void> {
  if (answer === null) return
  const { method, url, at, durationMs, statusCode, error, sent, received } = answer
  const body = {
    listener,
    replayId,
    url,
    at,
    durationMs,
    error,
    sent: { method, headers: fields(sent) },
    received: received === null || statusCode === null ? null : { statusCode, ...reported(received) },
  }
  try {
    await api.call('POST', `${requestsPath(request.endpointId, request.id)}/listen-attempts`, { body })
  } catch (failure) {
    if (!(failure instanceof ClientError)) throw failure
  }
}

const fields = ({ headers }: LocalMessage) =>
  headers.map(([name, value]) => {
    const bytes = Buffer.from(value, 'latin1')
    return { name, value: isUtf8(bytes) ? bytes.toString() : value }
  })

function reported(message: LocalMessage) {
  const kept = Buffer.from(message.body).subarray(0, REPORTED_BYTES)
  const text = kept.toString('utf8')
  const bodyIsBinary = !Buffer.from(text).equals(kept)
  return {
    headers: fields(message),
    body: kept.length === 0 ? null : bodyIsBinary ? kept.toString('base64') : text,
    bodyIsBinary,
    bodyTruncated: kept.length < message.body.length,
  }
}
