import type { ApiClient } from '../api/apiClient.ts'
import { requestOf } from '../api/requests.ts'
import type { Endpoint } from '../api/shapes.ts'
import { ClientError } from '../clientError.ts'
import type { Checkpoint } from './checkpoint.ts'
import { Deliverer } from './deliverer.ts'
import type { Filter } from './filter.ts'
import { type FeedEvent, follow } from './follow.ts'
import type { LocalSender } from './localSender.ts'
import { countMatching, type Start } from './start.ts'
import type { LinkState, ListenView, Shown } from './view.ts'

/** The state is said again so often, so that nobody takes silence for peace. */
const HEARTBEAT_MILLISECONDS = 15_000

/** What is followed, where its captures are sent and how that is shown. */
export interface ListenerOptions {
  readonly api: ApiClient
  readonly endpoint: Endpoint
  readonly start: Start
  readonly filter: Filter
  /** Null: only look. */
  readonly sender: LocalSender | null
  /** Null: nothing is remembered. */
  readonly checkpoint: Checkpoint | null
  readonly concurrency: number
  readonly retry: boolean
  readonly view: ListenView
  /** Joins those who take replays, under this name. */
  readonly listenerName?: string
  /** Called with what the local server answered, or why it did not. */
  readonly onAnswered?: (shown: Shown) => void
  readonly signal: AbortSignal
}

/**
 * Follows an endpoint and brings its captures to the local server, until `signal` aborts.
 *
 * @throws ClientError when the service refuses for good
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
  /** Replays that were taken: after a broken connection the service names recent ones again. */
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
    // A kill before the first answer must not change where the next start begins.
    this.options.checkpoint?.write(this.deliverer.progress)
    const heartbeat = setInterval(() => void this.beat(), HEARTBEAT_MILLISECONDS)
    try {
      for await (const event of this.events()) await this.handle(event)
      await this.deliverer.idle()
    } finally {
      clearInterval(heartbeat)
      if (signal.aborted) view.stopped({ done: this.deliverer.progress.done })
    }
  }

  private events(): AsyncGenerator<FeedEvent> {
    const { api, endpoint, start, filter, listenerName, signal } = this.options
    const followed = { endpointId: endpoint.id, afterId: start.done, filters: filter.query }
    return follow(
      api,
      { ...followed, ...(listenerName === undefined ? {} : { listener: listenerName }) },
      signal,
    )
  }

  private async handle(event: FeedEvent): Promise<void> {
    switch (event.kind) {
      case 'connected':
        this.isConnected = true
        // What arrived while the connection was gone.
        if (this.lost !== undefined) await this.recount()
        this.lost = undefined
        return this.tellState()
      case 'alive':
        this.behind = this.deliverer.isIdle ? 0 : this.behind
        return
      case 'lost':
        this.isConnected = false
        this.lost ??= { since: Date.now(), reason: event.reason }
        return this.tellState()
      case 'arrived':
        return await this.arrived(event)
      case 'replay':
        return await this.replay(event)
    }
  }

  private async arrived({ requests, lastId }: Extract<FeedEvent, { kind: 'arrived' }>): Promise<void> {
    const { view, filter, sender, signal } = this.options
    this.behind = Math.max(this.behind, requests.length)
    for (const request of requests) {
      if (signal.aborted) return
      if (!filter.matches(request)) this.deliverer.passOver(request.id)
      else if (sender === null) {
        view.shown({ request, answer: null })
        this.deliverer.passOver(request.id)
      } else if (request.bodyTruncated) {
        view.shown({ request, answer: null, note: 'not sent: only the beginning of its body was kept' })
        this.deliverer.passOver(request.id)
      } else {
        await this.deliverer.take({ request })
        continue
      }
      this.counted()
    }
    this.deliverer.passOver(lastId)
  }

  /** A request that was deleted in the meantime is none any more. */
  private async replay({ requestId, replayId }: Extract<FeedEvent, { kind: 'replay' }>): Promise<void> {
    const { api, endpoint, view, sender } = this.options
    if (sender === null || this.replays.has(replayId)) return
    this.replays.add(replayId)
    try {
      const request = await requestOf(api, endpoint.id, requestId)
      if (request.bodyTruncated) throw new ClientError('only the beginning of its body was kept')
      await this.deliverer.take({ request, replayId })
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      view.note(`The replay of #${requestId} cannot be sent: ${error.message}`)
    }
  }

  private async beat(): Promise<void> {
    if (this.isConnected && !this.deliverer.isIdle) await this.recount()
    this.tell(true)
  }

  /** Asks how many wait; a number that is not to be had stays as it was. */
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
