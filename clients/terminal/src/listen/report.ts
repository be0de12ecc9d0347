import { isUtf8 } from 'node:buffer'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ApiClient } from '../api/apiClient.ts'
import { ClientError } from '../clientError.ts'
import type { LocalMessage } from './localSender.ts'
import type { Shown } from './view.ts'

/** Bytes of an answer's body in a report. */
const REPORTED_BYTES = 65_536

/** Answers that may wait to be reported; further ones are dropped. */
const WAITING_MAX = 1_000
const REPORT_MILLISECONDS = 30_000
/** Wait for pending reports when listening ends. */
const FINISH_MILLISECONDS = 5_000

/** Reports the local server's answers to the service. */
export interface Reporter {
  readonly take: (shown: Shown) => void
  /**
   * Waits for pending reports, for a few seconds.
   *
   * @returns the number of dropped answers
   */
  finish(): Promise<number>
}

/**
 * Creates a reporter that sends one report at a time. Reports are best effort: one that fails, or that would wait
 * behind a thousand others, is dropped, and listening goes on.
 *
 * @param options `captures`: reports answers to captures too, not only those to replays
 */
export function createReporter(
  api: ApiClient,
  listener: string,
  { captures }: { readonly captures: boolean },
): Reporter {
  let last = Promise.resolve()
  let waitingCount = 0
  let droppedCount = 0
  const ended = new AbortController()
  const report = async (shown: Shown) => {
    if (ended.signal.aborted) return
    const isDone = await reportAnswer(api, { listener, ended: ended.signal }, shown)
    waitingCount -= 1
    if (!isDone) droppedCount += 1
  }
  return {
    take(shown) {
      if (shown.replayId === undefined && !captures) return
      if (waitingCount >= WAITING_MAX) {
        droppedCount += 1
        return
      }
      waitingCount += 1
      last = last.then(() => report(shown))
    },
    async finish() {
      await Promise.race([last, sleep(FINISH_MILLISECONDS, undefined, { ref: false })])
      const missingCount = droppedCount + waitingCount
      ended.abort()
      return missingCount
    },
  }
}

/** @returns whether the service accepted it */
async function reportAnswer(
  api: ApiClient,
  { listener, ended }: { readonly listener: string; readonly ended: AbortSignal },
  { request, answer, replayId }: Shown,
): Promise<boolean> {
  if (answer === null) return true
  const { method, url, at, durationMs, statusCode, error, sent, received } = answer
  const report = {
    endpointId: request.endpointId,
    requestId: request.id,
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
    await api.calls.deliveries.report(report, { signal: ended, timeoutMs: REPORT_MILLISECONDS })
    return true
  } catch (failure) {
    if (!(failure instanceof ClientError) && !ended.aborted) throw failure
    return false
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
