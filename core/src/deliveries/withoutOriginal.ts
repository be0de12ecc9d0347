import { type EvaluatedRequest, targetUrl, type WireHeader } from '../engine/message/index.ts'
import type { Attempt, AttemptResult, SentMessage } from './attempt.ts'

/** Shown instead of a value that the record may not keep. */
const NOT_KEPT = '***'

/** Fields that we write ourselves, and that name no value of a capture. */
const OWN_FIELD = /^(?:creel-|webhook-(?:id|timestamp|signature)$|host$|content-length$)/i

/**
 * The result of an attempt as it is recorded. If it has sent the original of a request that is stored without what
 * rules take out, neither the message nor the answer, which may repeat it, is recorded: only what is stored anyway,
 * status and time.
 */
export function recordable(
  { stored, action }: Pick<Attempt, 'stored' | 'action'>,
  { sent, received }: AttemptResult,
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
  const known = new Set(stored.headers.map(fieldKey))
  return {
    method: sent.method,
    url,
    headers: sent.headers.map((field) =>
      known.has(fieldKey(field)) || OWN_FIELD.test(field[0]) ? field : [field[0], NOT_KEPT],
    ),
    // The record shows the stored body instead of the captured one, and nothing instead of one that a rule made.
    body: new Uint8Array(),
    bodyIsCaptured: sent.bodyIsCaptured,
  }
}

const fieldKey = ([name, value]: WireHeader) => `${name.toLowerCase()}:${value}`
