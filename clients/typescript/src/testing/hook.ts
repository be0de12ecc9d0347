import type { Endpoint } from '../endpoint.ts'
import type { CapturedRequest, EndpointChange } from '../types.ts'
import { described, differences, type HookRequest, hookRequest, type Matcher, summary } from './matcher.ts'

/** Timeout of a hook. */
export interface WaitOptions {
  /** Seconds; fractions count. */
  readonly within?: number
}

const NEXT_SECONDS = 10
const NONE_SECONDS = 1
/** Timeout of the last look at what has arrived. */
const LOOK_MS = 30_000

/** An expectation of a test that failed, with the requests that arrived instead. */
export class HookError extends Error {
  override readonly name = 'HookError'
  /** All requests that arrived and that no expectation had taken. */
  readonly arrived: readonly HookRequest[]

  constructor(message: string, arrived: readonly HookRequest[]) {
    super(message)
    this.arrived = arrived
  }
}

/** An endpoint of one test. Each request that arrives is taken by one expectation at most. */
export class Hook {
  readonly endpoint: Endpoint
  /** The URL to which the code under test must send. */
  readonly url: string
  /** Requests that arrived and are not taken, in order. */
  #untaken: HookRequest[] = []
  /** Requests that expectations have taken, in order. */
  readonly #taken: HookRequest[] = []
  #lastId = 0

  constructor(endpoint: Endpoint) {
    this.endpoint = endpoint
    this.url = endpoint.url
  }

  /**
   * Takes the first request that matches: one that has arrived already, or the next to arrive.
   *
   * @throws HookError when none came within 10 seconds, or `within`
   */
  async next(matcher: Matcher = {}, { within = NEXT_SECONDS }: WaitOptions = {}): Promise<HookRequest> {
    const found = await this.#take(matcher, Date.now() + within * 1000)
    if (found !== null) return found
    throw this.#failure(`No request with ${described(matcher)} within ${within} s.`, matcher, this.#taken)
  }

  /**
   * Scripts the answers to the code under test: `await hook.respond([{ status: 500, times: 2 }])` answers 500 twice,
   * then as before.
   *
   * @returns takes the answers back, at the end of a block with `await using`. An endpoint of one test needs no end.
   */
  async respond(responses: NonNullable<EndpointChange['responses']>): Promise<AsyncDisposable> {
    const { responses: before } = this.endpoint.data
    await this.endpoint.update({ responses })
    // The same list again would go on where it was.
    await this.endpoint.resetResponses()
    return {
      [Symbol.asyncDispose]: async () => {
        await this.endpoint.update({ responses: before })
      },
    }
  }

  /**
   * Waits, and asserts that no request matches, arrived or to arrive.
   *
   * @throws HookError as soon as one matches, within 1 second or `within`
   */
  async none(matcher: Matcher = {}, { within = NONE_SECONDS }: WaitOptions = {}): Promise<void> {
    const found = await this.#take(matcher, Date.now() + within * 1000)
    if (found === null) return
    throw new HookError(`Expected no request with ${described(matcher)}, but got\n  ${summary(found)}`, [
      found,
    ])
  }

  /**
   * Takes requests that match one after the other, in this order; others may come in between.
   *
   * @throws HookError naming the first that did not come within 10 seconds in all, or `within`
   */
  async sequence(
    matchers: readonly Matcher[],
    { within = NEXT_SECONDS }: WaitOptions = {},
  ): Promise<readonly HookRequest[]> {
    const until = Date.now() + within * 1000
    const taken: HookRequest[] = []
    const earlier = [...this.#taken]
    for (const [at, matcher] of matchers.entries()) {
      const found = await this.#take(matcher, until, taken.at(-1)?.id ?? 0)
      if (found === null) {
        const place = `Request ${at + 1} of ${matchers.length} in sequence did not come within ${within} s`
        const after = taken.map((request) => `\n  after ${summary(request)}`).join('')
        throw this.#failure(`${place}: ${described(matcher)}${after}`, matcher, earlier)
      }
      taken.push(found)
    }
    return taken
  }

  /** Takes the first match above an id, or waits for it; null when the time is up. */
  async #take(matcher: Matcher, until: number, aboveId = 0): Promise<HookRequest | null> {
    for (;;) {
      const at = this.#untaken.findIndex(
        (request) => request.id > aboveId && differences(matcher, request).length === 0,
      )
      const [found] = at < 0 ? [] : this.#untaken.splice(at, 1)
      if (found !== undefined) {
        this.#taken.push(found)
        return found
      }
      if (!(await this.#receive(until))) return null
    }
  }

  /** Reads the next arrival; false when none came in time. */
  async #receive(until: number): Promise<boolean> {
    const left = until - Date.now()
    // Requests that have arrived are read even if no time is left.
    const signal = AbortSignal.timeout(Math.max(left, 250))
    try {
      const timeoutSeconds = Math.min(60, Math.max(1, Math.ceil(left / 1000)))
      const request = await this.endpoint.requests.await({ afterId: this.#lastId, timeoutSeconds, signal })
      if (request === null) return until > Date.now()
      this.#arrive(request)
      return true
    } catch (error) {
      if (signal.aborted) return await this.#look()
      throw error
    }
  }

  /** Reads what has arrived; false if nothing has. A call that was not answered in time does not say so. */
  async #look(): Promise<boolean> {
    const { requests } = this.endpoint
    const signal = AbortSignal.timeout(LOOK_MS)
    const before = this.#lastId
    for await (const { id } of requests.list({ afterId: before, order: 'asc', signal }))
      this.#arrive(await requests.get(id, { signal }))
    return this.#lastId > before
  }

  /** Another expectation may have waited for the same request. */
  #arrive(request: CapturedRequest): void {
    if (request.id <= this.#lastId) return
    this.#lastId = request.id
    this.#untaken.push(hookRequest(request))
  }

  /** @param earlier requests that other expectations have taken */
  #failure(what: string, matcher: Matcher, earlier: readonly HookRequest[]): HookError {
    const arrived = this.#untaken.map(
      (request) =>
        `\n  ${summary(request)}${differences(matcher, request)
          .map((line) => `\n    ${line}`)
          .join('')}`,
    )
    const others = arrived.length === 0 ? 'Nothing else arrived.' : `What arrived:${arrived.join('')}`
    const gone = earlier
      .filter((request) => differences(matcher, request).length === 0)
      .map((request) => `\n  ${summary(request)}`)
    const taken = gone.length === 0 ? '' : `\nTaken by an earlier expectation, and matching:${gone.join('')}`
    return new HookError(`${what}\n${others}${taken}`, [...this.#untaken])
  }
}
