import { setTimeout as sleep } from 'node:timers/promises'
import { backoffMs, type EndpointData, type FeedEvent, type WholeRequest } from 'creel-client'
import { type ApiClient, ApiProblem, reasonOf, Unreachable } from '../api/apiClient.ts'
import { ClientError } from '../clientError.ts'
import { lackOf } from '../output/requestText.ts'
import type { Checkpoint } from './checkpoint.ts'
import { Deliverer } from './deliverer.ts'
import type { Filter } from './filter.ts'
import type { LocalSender } from './localSender.ts'
import { countMatching, type Start } from './start.ts'
import type { LinkState, ListenView, Shown } from './view.ts'

/** Interval at which an unchanged state is shown again, so that silence is not mistaken for a working connection. */
const HEARTBEAT_MILLISECONDS = 15_000

/** Message of a stop that takes longer than this, since a request is in flight. */
const LATE_STOP = 'Waiting for the local server to answer. Ctrl-C again stops at once.'
const TOLD_STOP_MILLISECONDS = 1_000

/** Time for which the request of a replay is asked for again, and the waits between. */
const REPLAY_MILLISECONDS = 60_000
const AGAIN_MILLISECONDS = { first: 250, max: 5_000 } as const

/** Options of a listener: source, destination and view of the captures. */
export interface ListenerOptions {
  readonly api: ApiClient
  readonly endpoint: EndpointData
  readonly start: Start
  readonly filter: Filter
  /** Null to show captures without sending them. */
  readonly sender: LocalSender | null
  /** Null to store no progress. */
  readonly checkpoint: Checkpoint | null
  readonly concurrency: number
  readonly retry: boolean
  readonly view: ListenView
  /** Registers as a listener that takes replays, under this name. */
  readonly listenerName?: string
  /** Called with the local server's answer, or the error. */
  readonly onAnswered?: (shown: Shown) => void
  readonly signal: AbortSignal
}

/**
 * Follows an endpoint and sends its captures to the local server, until `signal` aborts.
 *
 * @throws ClientError when the service refuses permanently
 */
export async function listen(options: ListenerOptions): Promise<void> {
  await new Listener(options).run()
}

class Listener {
  private state: LinkState = { kind: 'connecting' }
  private behind = 0
  private isHeld: { since: number; reason: string } | undefined
  private lost: { since: number; reason: string } | undefined
  private isConnected = false
  private readonly deliverer: Deliverer
  /** Ids of replays that were taken. After a reconnect the service repeats recent ones. */
  private readonly replays = new Set<number>()

  constructor(private readonly options: ListenerOptions) {
    const { view, checkpoint, concurrency, retry, signal, start } = options
    this.deliverer = new Deliverer({
      sender: options.sender ?? { send: () => Promise.reject(new Error('nothing is sent')) },
      concurrency,
      retry,
      start,
      signal,
      onAnswer: ({ request, replayId }, answer) => {
        this.isHeld = undefined
        this.counted()
        const shown = { request, answer, ...(replayId === undefined ? {} : { replayId }) }
        view.shown(shown)
        options.onAnswered?.(shown)
        this.tellState()
      },
      onHeld: (answer) => {
        this.isHeld = { since: Date.now(), reason: `${answer.method} ${answer.url} ${answer.error}` }
        this.tellState()
      },
      onProgress: (progress) => checkpoint?.write(progress),
    })
  }

  async run(): Promise<void> {
    const { endpoint, start, view, sender, signal } = this.options
    this.behind = start.waiting
    view.started({
      endpointName: endpoint.name,
      captureUrl: endpoint.url,
      target: sender?.url ?? null,
      from: start.from,
      behind: this.behind,
    })
    // If the process is killed before the first answer, the next start must begin at the same place.
    this.options.checkpoint?.write(this.deliverer.progress)
    const heartbeat = setInterval(() => void this.beat(), HEARTBEAT_MILLISECONDS)
    let lateStop: Timer | undefined
    const onStop = () => {
      lateStop = setTimeout(() => view.note(LATE_STOP), TOLD_STOP_MILLISECONDS)
    }
    signal.addEventListener('abort', onStop, { once: true })
    try {
      for await (const event of this.events()) await this.handle(event)
      await this.deliverer.idle()
    } finally {
      clearInterval(heartbeat)
      clearTimeout(lateStop)
      signal.removeEventListener('abort', onStop)
      const isSaved = this.options.checkpoint !== null
      if (signal.aborted) view.stopped({ done: this.deliverer.progress.done, isSaved })
    }
  }

  /** Events until the signal aborts. */
  private async *events(): AsyncGenerator<FeedEvent<WholeRequest>> {
    const { api, endpoint, start, filter, listenerName: listener, signal } = this.options
    const options = { ...filter.query, whole: true, listener, afterId: start.done, signal } as const
    try {
      yield* api.creel.endpoints.requests(endpoint.id).feed(options)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  private async handle(event: FeedEvent<WholeRequest>): Promise<void> {
    switch (event.type) {
      case 'connected':
        this.isConnected = true
        // Requests may have arrived while the connection was lost.
        if (this.lost !== undefined) await this.recount()
        this.lost = undefined
        return this.tellState()
      case 'alive':
        this.behind = this.deliverer.isIdle ? 0 : this.behind
        return
      case 'lost':
        this.isConnected = false
        this.lost ??= { since: Date.now(), reason: lostReason(event.error) }
        return this.tellState()
      case 'arrived':
        return await this.arrived(event)
      case 'replay':
        return await this.replay(event)
    }
  }

  private async arrived({
    requests,
    lastId,
  }: Extract<FeedEvent<WholeRequest>, { type: 'arrived' }>): Promise<void> {
    const { view, filter, sender, signal } = this.options
    this.behind = Math.max(this.behind, requests.length)
    for (const sent of requests) {
      if (signal.aborted) return
      const request = readable(sent)
      const lack = sender === null ? undefined : lackOf(request)
      const isShown = filter.matches(request)
      if (isShown && sender !== null && lack === undefined) {
        await this.deliverer.take({ request })
        continue
      }
      if (isShown) view.shown({ request, answer: null, note: lack && `not sent: ${lack}` })
      this.deliverer.passOver(request.id)
      this.counted()
    }
    this.deliverer.passOver(lastId)
  }

  /** Sends a replay. A request that was deleted meanwhile is skipped. */
  private async replay({ requestId, replayId }: Extract<FeedEvent, { type: 'replay' }>): Promise<void> {
    const { view, sender } = this.options
    if (sender === null || this.replays.has(replayId)) return
    this.replays.add(replayId)
    try {
      const request = await this.replayed(requestId)
      const lack = lackOf(request)
      if (lack !== undefined) throw new ClientError(`${lack}.`)
      await this.deliverer.take({ request, replayId })
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      view.note(`The replay of #${requestId} cannot be sent: ${error.message}`)
    }
  }

  /** Reads a request that is replayed. The service asks for a replay once, and may be away in this moment. */
  private async replayed(requestId: number): Promise<WholeRequest> {
    const { api, endpoint, signal } = this.options
    const until = Date.now() + REPLAY_MILLISECONDS
    for (let failures = 0; ; failures += 1) {
      try {
        return readable(await api.calls.requests.get({ endpointId: endpoint.id, requestId }))
      } catch (error) {
        if (signal.aborted || Date.now() > until || !isPassing(error)) throw error
      }
      await sleep(backoffMs(AGAIN_MILLISECONDS, failures), undefined, { signal }).catch(() => undefined)
    }
  }

  private async beat(): Promise<void> {
    if (this.isConnected && !this.deliverer.isIdle) await this.recount()
    this.tell(true)
  }

  /** Updates the number of waiting requests; if the call fails, the old number stays. */
  private async recount(): Promise<void> {
    const { api, endpoint, filter } = this.options
    const after = { ...filter.query, afterId: this.deliverer.progress.done }
    this.behind = await countMatching(api, endpoint.id, after).catch(() => this.behind)
  }

  private counted(): void {
    this.behind = Math.max(0, this.behind - 1)
    this.options.view.progress?.(this.behind)
  }

  private tellState(): void {
    const state = this.present()
    if (state.kind === this.state.kind) return
    this.state = state
    this.tell(false)
  }

  private tell(lasting: boolean): void {
    this.options.view.link(this.state, { behind: this.behind, lasting })
  }

  private present(): LinkState {
    if (this.lost !== undefined) return { kind: 'reconnecting', ...this.lost }
    if (this.isHeld !== undefined) return { kind: 'held', ...this.isHeld }
    return { kind: this.isConnected ? 'connected' : 'connecting' }
  }
}

/** Whether the same call may succeed in a moment. */
const isPassing = (error: unknown): boolean =>
  error instanceof Unreachable ||
  // A refusal without a code is that of a proxy.
  (error instanceof ApiProblem && (error.code === 'unknown' || [429, 502, 503, 504].includes(error.status)))

function lostReason(error: unknown): string {
  if (error === null) return 'the service ended the stream'
  return error instanceof ClientError ? error.message : reasonOf(error)
}

/**
 * Checks the types of the members that are shown and sent: another program may answer at the address.
 *
 * @throws ClientError otherwise
 */
function readable(request: WholeRequest): WholeRequest {
  const { receivedAt, method, path, queryString, label, sizeBytes, rawHeaders, body } = request
  const isRight =
    [receivedAt, method, path].every(isText) &&
    [queryString, label ?? null, body].every((value) => value === null || isText(value)) &&
    typeof sizeBytes === 'number' &&
    Array.isArray(rawHeaders) &&
    rawHeaders.every((field) => isText(field?.name) && isText(field?.value))
  if (isRight) return request
  throw new ClientError('The service sent a request that this version cannot read.', [
    'Check that the address is a Creel service, and compare the versions.',
  ])
}

const isText = (value: unknown) => typeof value === 'string'
