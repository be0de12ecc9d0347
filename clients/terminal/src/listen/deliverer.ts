import { setTimeout as sleep } from 'node:timers/promises'
import { backoffMs, type WholeRequest } from 'creel-client'
import type { Progress } from './checkpoint.ts'
import type { LocalAnswer, LocalSender } from './localSender.ts'

/** Delays before a port without a server is tried again. */
const HELD_MILLISECONDS = { first: 250, max: 2_000 } as const

/** A request for the local server. */
export interface Item {
  readonly request: WholeRequest
  /** Set for a replay, which is sent out of order. */
  readonly replayId?: number
}

/** Options of a deliverer. `concurrency` must be at least 1. */
export interface DelivererOptions {
  readonly sender: Pick<LocalSender, 'send'>
  /** Requests in flight at once. With one, each is answered before the next is sent. */
  readonly concurrency: number
  /** Retries until there is an answer, except for requests that can never be sent. */
  readonly retry: boolean
  readonly start: Progress
  /** Called after each answer, before the request counts as done. */
  readonly onAnswer: (item: Item, answer: LocalAnswer) => void
  /** Called when the port has no server; once, until a server is back. */
  readonly onHeld: (answer: LocalAnswer) => void
  readonly onProgress: (progress: Progress) => void
  /** Stops waiting and retrying; a send in flight may finish. */
  readonly signal: AbortSignal
}

/** Sends requests in order, up to `concurrency` at once, and tracks which of them are answered. */
export class Deliverer {
  private readonly open = new Map<number, 'sent' | 'done'>()
  private readonly beyond: Set<number>
  private done: number
  private running = 0
  private isHeld = false
  private freed = Promise.withResolvers<void>()

  constructor(private readonly options: DelivererOptions) {
    this.done = options.start.done
    this.beyond = new Set(options.start.beyond)
  }

  get progress(): Progress {
    return { done: this.done, beyond: [...this.beyond].sort((left, right) => left - right) }
  }

  /** Whether nothing is in flight. */
  get isIdle(): boolean {
    return this.running === 0
  }

  /**
   * Sends a request as soon as there is room, and resolves when the send has begun. A no-op if the request was answered
   * already, or if it still waits when `signal` aborts.
   */
  async take(item: Item): Promise<void> {
    const isReplay = item.replayId !== undefined
    if (!isReplay && (item.request.id <= this.done || this.beyond.has(item.request.id))) return
    while (this.running >= this.options.concurrency) await this.freed.promise
    if (this.options.signal.aborted) return
    if (!isReplay) this.open.set(item.request.id, 'sent')
    this.running += 1
    this.send(item).then(
      (isAnswered) => this.finish(item, isAnswered),
      () => this.finish(item, false),
    )
  }

  /**
   * Marks a request as done that is not to be sent, together with all earlier ones that were never taken. A no-op after a
   * stop, since a request that waited for room was then not sent: the next start looks at what follows again.
   */
  passOver(requestId: number): void {
    if (this.options.signal.aborted) return
    // A request in flight is done only when the local server answers it.
    if (requestId <= this.done || this.open.has(requestId)) return
    if (this.open.size === 0) this.advance(requestId)
    else this.open.set(requestId, 'done')
  }

  /** Resolves when nothing is in flight. */
  async idle(): Promise<void> {
    while (this.running > 0) await this.freed.promise
  }

  private async send(item: Item): Promise<boolean> {
    const { sender, signal, retry, onAnswer, onHeld } = this.options
    for (let failures = 0; ; failures += 1) {
      const answer = await sender.send(item.request)
      const isAgain = answer.isRefused || (retry && answer.statusCode === null && !answer.isUnsendable)
      if (!isAgain) {
        this.isHeld = false
        onAnswer(item, answer)
        return true
      }
      if (signal.aborted) return false
      if (!this.isHeld) onHeld(answer)
      this.isHeld = true
      const waitMs = backoffMs(HELD_MILLISECONDS, failures)
      await sleep(waitMs, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return false
    }
  }

  private finish(item: Item, isAnswered: boolean): void {
    this.running -= 1
    if (item.replayId === undefined && isAnswered) {
      this.open.set(item.request.id, 'done')
      this.settle()
    }
    this.freed.resolve()
    this.freed = Promise.withResolvers()
  }

  /** Advances past all requests that are answered without a gap, and reports the progress. */
  private settle(): void {
    let newest = this.done
    for (const [id, state] of this.open) {
      if (state === 'sent') break
      this.open.delete(id)
      newest = id
    }
    for (const [id, state] of this.open) if (state === 'done') this.beyond.add(id)
    this.advance(newest)
  }

  private advance(done: number): void {
    this.done = Math.max(this.done, done)
    for (const id of this.beyond) if (id <= this.done) this.beyond.delete(id)
    this.options.onProgress(this.progress)
  }
}
