import { type EvaluatedRequest, targetUrl, type WireHeader } from '../engine/message/index.ts'
import type { Attempt, AttemptResult, SentMessage } from './attempt.ts'
import { EVENT_ID_HEADER, eventIdHeader } from './forwardHeaders.ts'

/** Shown instead of a value that the record may not keep. */
const NOT_KEPT = '***'

/** Fields of the connection; those of a capture are never passed on. */
const OF_CONNECTION: ReadonlySet<string> = new Set(['host', 'connection', 'content-length'])

/**
 * The result of an attempt as it is recorded. If it has sent the original of a request that is stored without what
 * rules take out, neither the message nor the answer, which may repeat it, is recorded: only what is stored anyway,
 * status and time.
 */
export function recordable(
  { stored, action }: Pick<Attempt, 'stored' | 'action'>,
  { sent, received }: Pick<AttemptResult, 'sent' | 'received'>,
): Pick<AttemptResult, 'sent' | 'received'> {
  if (stored === undefined) return { sent, received }
  return {
    sent: sent === null ? null : withoutOriginal(sent, stored, targetUrl(action, stored)),
    received: received && {
      statusCode: received.statusCode,
      headers: [],
      body: new Uint8Array(),
      bodyTruncated: true,
    },
  }
}

function withoutOriginal(sent: SentMessage, stored: EvaluatedRequest, url: string): SentMessage {
  const known = new Set([...stored.headers, ...sent.own].map(fieldKey))
  const eventId = sent.own.find(([name]) => name === EVENT_ID_HEADER)
  const shown = (field: WireHeader): WireHeader => {
    if (eventId !== undefined && fieldKey(field) === fieldKey(eventId))
      return eventIdHeader(stored.eventId) ?? [field[0], NOT_KEPT]
    return OF_CONNECTION.has(field[0]) || known.has(fieldKey(field)) ? field : [field[0], NOT_KEPT]
  }
  return {
    method: sent.method,
    url,
    headers: sent.headers.map(shown),
    own: [],
    // The record shows the stored body instead of the captured one, and nothing instead of one that a rule made.
    body: sent.bodyIsCaptured ? stored.body : new Uint8Array(),
    bodyIsCaptured: sent.bodyIsCaptured,
  }
}

const fieldKey = ([name, value]: WireHeader) => `${name.toLowerCase()}:${value}`
