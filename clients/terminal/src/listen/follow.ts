import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { type ApiClient, ApiProblem, type Query, reasonOf } from '../api/apiClient.ts'
import { pagesOf, requestOf, requestsPath } from '../api/requests.ts'
import { RequestDetail } from '../api/shapes.ts'
import { ClientError } from '../clientError.ts'
import { framesOf } from './eventFrames.ts'

const RECONNECT_MILLISECONDS = { first: 250, max: 5_000 } as const

/** Events of a follower's connection to the service. */
export type FeedEvent =
  | { readonly kind: 'connected' }
  /** The connection is lost; the next attempt starts in `waitMs`. */
  | { readonly kind: 'lost'; readonly reason: string; readonly waitMs: number }
  /** A heartbeat: connected, and nothing new. */
  | { readonly kind: 'alive' }
  /** Requests that match, oldest first. Every request up to `lastId` has been checked. */
  | { readonly kind: 'arrived'; readonly requests: readonly RequestDetail[]; readonly lastId: number }
  /** A user asks the listeners to send a request again. */
  | { readonly kind: 'replay'; readonly requestId: number; readonly replayId: number }

/** Parameters of a follower. */
export interface Followed {
  readonly endpointId: string
  /** The stream begins after this request. */
  readonly afterId: number
  readonly filters: Query
  /** Registers as a listener that takes replays, under this name. */
  readonly listener?: string
}

const Listed = z.looseObject({ id: z.int() })
const Captured = z.looseObject({ requests: z.array(RequestDetail) })
const Replay = z.looseObject({ requestId: z.int(), replayId: z.int() })

/**
 * Follows an endpoint until `signal` aborts, without gaps. When the connection breaks, it reconnects and resumes after
 * the last request that was yielded.
 *
 * @throws ClientError when the service refuses permanently: the key, the endpoint or the filters
 */
export async function* follow(
  api: ApiClient,
  { endpointId, afterId, filters, listener }: Followed,
  signal: AbortSignal,
): AsyncGenerator<FeedEvent> {
  let after = afterId
  for (let failures = 0; !signal.aborted; failures += 1) {
    let reason = 'the service ended the stream'
    try {
      const query = { ...filters, whole: true, afterId: after, listener }
      const response = await api.open('GET', `${requestsPath(endpointId)}/stream`, {
        query,
        headers: { Accept: 'text/event-stream' },
        signal,
      })
      if (response.body === null) throw new Error('the answer has no body')
      yield { kind: 'connected' }
      failures = 0
      for await (const frame of framesOf(response.body)) {
        if (signal.aborted) return
        if (frame.kind !== 'alive' && frame.event.event === 'behind') {
          for await (const missed of readMissed(api, endpointId, { ...filters, afterId: after }, signal)) {
            after = missed.lastId
            yield missed
          }
          continue
        }
        const event: FeedEvent = frame.kind === 'alive' ? frame : eventOf(frame.event)
        if (event.kind === 'arrived') after = Math.max(after, event.lastId)
        yield event
      }
    } catch (error) {
      if (signal.aborted) return
      if (isFinal(error)) throw error
      reason = error instanceof ClientError ? error.message : reasonOf(error)
    }
    if (signal.aborted) return
    const waitMs = Math.min(RECONNECT_MILLISECONDS.max, RECONNECT_MILLISECONDS.first * 2 ** failures)
    yield { kind: 'lost', reason, waitMs }
    await sleep(waitMs, undefined, { signal }).catch(() => undefined)
  }
}

/** Requests that arrived meanwhile, oldest first, one by one at the consumer's pace. */
async function* readMissed(
  api: ApiClient,
  endpointId: string,
  query: Query,
  signal: AbortSignal,
): AsyncGenerator<Extract<FeedEvent, { readonly kind: 'arrived' }>> {
  const ids: number[] = []
  for await (const { id } of pagesOf(api, requestsPath(endpointId), Listed, query)) ids.push(id)
  for (const id of ids.reverse()) {
    if (signal.aborted) return
    const request = await requestOf(api, endpointId, id).catch((error: unknown) => {
      // Deleted meanwhile.
      if (error instanceof ApiProblem && error.status === 404) return undefined
      throw error
    })
    yield { kind: 'arrived', requests: request === undefined ? [] : [request], lastId: id }
  }
}

/** Whether reconnecting is useless: only a refusal is final. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof ClientError)) return false
  return error instanceof ApiProblem && error.status < 500 && error.status !== 429 && error.status !== 408
}

function eventOf({
  id,
  event,
  data,
}: {
  id?: string | undefined
  event?: string | undefined
  data: string
}): FeedEvent {
  if (event === 'captured') {
    const { requests } = Captured.parse(JSON.parse(data))
    const last = requests.at(-1)?.id ?? 0
    return { kind: 'arrived', requests, lastId: Math.max(last, Number(id ?? 0)) }
  }
  if (event === 'replay') return { kind: 'replay', ...Replay.parse(JSON.parse(data)) }
  // Unknown kinds from a newer service, and changes of deliveries, count as heartbeats.
  return { kind: 'alive' }
}
