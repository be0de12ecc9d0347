import { type Receiver, startReceiver } from './receiver.ts'

/** One message that a provider got. */
export interface AlertMessage {
  readonly method: string
  /** Path and query. */
  readonly target: string
  /** Fields by name in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Undefined when the body is not JSON. */
  readonly json: unknown
}

/** Answer of a provider; with `hold` not before that resolves. */
export interface Reply {
  readonly status?: number
  readonly body?: string
  readonly hold?: Promise<void>
}

/** A stand-in for a provider: an HTTP server that records every message. */
export class AlertReceiver {
  /** Answers to the next messages, one each; the last one is repeated. */
  replies: readonly Reply[] = [{ body: 'ok' }]

  private constructor(readonly http: Receiver) {
    http.answer = async (_request, response) => {
      const [reply, ...others] = this.replies
      if (others.length > 0) this.replies = others
      await reply?.hold
      response.writeHead(reply?.status ?? 200, { 'content-type': 'text/plain' }).end(reply?.body)
    }
  }

  static async start(): Promise<AlertReceiver> {
    return new AlertReceiver(await startReceiver())
  }

  /** Base URL without a path. */
  get url(): string {
    return new URL(this.http.url).origin
  }

  get messages(): readonly AlertMessage[] {
    return this.http.received.map(({ method, url, rawHeaders, body }) => ({
      method,
      target: url,
      headers: Object.fromEntries(rawHeaders.map(([name, value]) => [name.toLowerCase(), value])),
      json: parsed(body.toString('utf8')),
    }))
  }

  /** Resolves when `count` messages have come in all. */
  async received(count: number): Promise<readonly AlertMessage[]> {
    await this.http.take(count)
    return this.messages
  }

  stop(): PromiseLike<void> {
    return this.http[Symbol.asyncDispose]()
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
