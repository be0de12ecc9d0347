import { addressOf, traceIdOf } from '../requestIdentity.ts'
import type { BodyReceiver, PeerState, RequestHandler, WireExchange } from './exchange.ts'
import type { ReadyAnswer } from './readyAnswer.ts'
import type { RequestHead } from './requestHead.ts'

/** An Elysia handler that our listener calls directly, without a `Request` or a `Response`. */
export interface WireRoute {
  (context: { readonly request: Request }): Promise<Response>
  readonly onWire: RequestHandler
}

/** Turns a handler of wire requests into the handler of an Elysia route. */
export function wireRoute(onWire: RequestHandler): WireRoute {
  return Object.assign(({ request }: { readonly request: Request }) => answerRequest(onWire, request), {
    onWire,
  })
}

/** Whether a handler of an app was made by {@link wireRoute}. */
export function isWireRoute(handler: unknown): handler is WireRoute {
  return typeof handler === 'function' && 'onWire' in handler
}

const NOTHING: Buffer = Buffer.alloc(0)

/**
 * Lets a handler of wire routes answer a `Request`. Header names are in lower case then, repeats are joined, and the
 * path is normalised, because a `Request` carries no more.
 */
function answerRequest(handler: RequestHandler, request: Request): Promise<Response> {
  const answered = Promise.withResolvers<Response>()
  handler(new RequestExchange(request, answered.resolve))
  return answered.promise
}

class RequestExchange implements WireExchange {
  readonly #request: Request
  readonly #resolve: (answer: Response) => void
  readonly head: RequestHead
  readonly address: string | null
  readonly traceId: string
  #resumed = Promise.resolve()
  #resume = () => {}
  #isOver = false

  constructor(request: Request, resolve: (answer: Response) => void) {
    this.#request = request
    this.#resolve = resolve
    this.head = headOf(request)
    this.address = addressOf(request)
    this.traceId = traceIdOf(request)
  }

  takeWhole(): Buffer | undefined {
    return this.#request.body === null ? NOTHING : undefined
  }

  receive(receiver: BodyReceiver): void {
    this.#pump(receiver).catch(() => receiver.onAbort())
  }

  pause(): void {
    this.#resumed = new Promise((resolve) => {
      this.#resume = resolve
    })
  }

  resume(): void {
    this.#resume()
  }

  answer(answer: ReadyAnswer): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#resolve(answer.toResponse({ isHead: this.#request.method === 'HEAD', traceId: this.traceId }))
  }

  /** A caller in the process has no connection: it gets the answer of a network error. */
  abort(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#resolve(Response.error())
  }

  answerHalf(): void {
    this.abort()
  }

  get peer(): PeerState {
    return this.#request.signal.aborted ? 'gone' : 'open'
  }

  onHangUp(listener: () => void): void {
    this.#request.signal.addEventListener('abort', () => this.#isOver || listener(), { once: true })
  }

  /** Passes the body on. If the answer comes before its end, the body is cancelled. */
  async #pump(receiver: BodyReceiver): Promise<void> {
    for await (const piece of this.#request.body ?? []) {
      if (this.#isOver) return
      receiver.onData(Buffer.from(piece.buffer, piece.byteOffset, piece.length))
      await this.#resumed
    }
    receiver.onEnd([])
  }
}

function headOf(request: Request): RequestHead {
  const { headers, method, url, body } = request
  const length = headers.get('content-length')
  const forwardedFor = headers.get('x-forwarded-for')
  return {
    method,
    target: url.slice(new URL(url).origin.length),
    fields: [...headers],
    isHttp10: false,
    keepAlive: true,
    bodyLength: body === null ? 0 : length === null ? undefined : Number(length),
    expectsContinue: false,
    host: headers.get('host') ?? undefined,
    contentType: headers.get('content-type'),
    forwardedFor: forwardedFor === null ? [] : [forwardedFor],
  }
}
