import { isUtf8 } from 'node:buffer'
import { within } from '@creel/core/platform/time'
import type { ApiClient } from '../api/apiClient.ts'
import { requestsPath } from '../api/requests.ts'
import { ClientError } from '../clientError.ts'
import type { LocalMessage } from './localSender.ts'
import type { Shown } from './view.ts'

/** As much of an answer's body is reported. */
const REPORTED_BYTES = 65_536

/** So many answers wait to be reported; what comes beyond is dropped. */
const WAITING_MAX = 1_000
/** How long one report may take. */
const REPORT_MILLISECONDS = 30_000
/** Reports that are still to be made when listening ends are waited for so long. */
const FINISH_MILLISECONDS = 5_000

/** Tells the service what the local server answered. */
export interface Reporter {
  /** Reports an answer soon, after those before it. */
  readonly take: (shown: Shown) => void
  /**
   * Waits for what is still to be reported, for a few seconds.
   *
   * @returns how many answers were dropped
   */
  finish(): Promise<number>
}

/**
 * Reports answers one after the other. A report is only a record: one that cannot be made, or that would wait behind a thousand
 * others, is dropped, and listening goes on.
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
      await within(last, FINISH_MILLISECONDS)
      const missingCount = droppedCount + waitingCount
      ended.abort()
      return missingCount
    },
  }
}

/** @returns whether the service took it */
async function reportAnswer(
  api: ApiClient,
  { listener, ended }: { readonly listener: string; readonly ended: AbortSignal },
  { request, answer, replayId }: Shown,
): Promise<boolean> {
  if (answer === null) return true
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
    await api.call('POST', `${requestsPath(request.endpointId, request.id)}/listen-attempts`, {
      body,
      signal: AbortSignal.any([ended, AbortSignal.timeout(REPORT_MILLISECONDS)]),
    })
    return true
  } catch (failure) {
    if (!(failure instanceof ClientError)) throw failure
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
