import { createServer, type IncomingHttpHeaders } from 'node:http'
import { SMTPServer } from 'smtp-server'

/** One message that a receiver got. */
export interface ReceivedMessage {
  readonly method: string
  /** Path and query. */
  readonly target: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly json: unknown
}

/** What a receiver answers; `hold` keeps the answer back until it resolves. */
export interface Reply {
  readonly status?: number
  readonly body?: string
  readonly hold?: Promise<void>
}

/** A provider's end of the wire: a real HTTP server that notes every message. */
export class AlertReceiver {
  readonly messages: ReceivedMessage[] = []
  /** What the next messages are answered; the last one goes on. */
  replies: Reply[] = [{ status: 200, body: 'ok' }]
  #waiting: (() => void)[] = []
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', async () => {
      const text = Buffer.concat(chunks).toString('utf8')
      const { method = '', url = '', headers } = request
      this.messages.push({ method, target: url, headers, text, json: parsed(text) })
      for (const wake of this.#waiting.splice(0)) wake()
      const {
        status = 200,
        body = '',
        hold,
      } = (this.replies.length > 1 ? this.replies.shift() : this.replies[0]) ?? {}
      await hold
      response.writeHead(status, { 'content-type': 'text/plain' }).end(body)
    })
  })

  /** Listens on a free port of loopback. */
  static async start(): Promise<AlertReceiver> {
    const receiver = new AlertReceiver()
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve))
    return receiver
  }

  get url(): string {
    const address = this.#server.address()
    return `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`
  }

  /** Resolves when that many messages have come in all. */
  async received(count: number): Promise<readonly ReceivedMessage[]> {
    while (this.messages.length < count) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    return this.messages
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** One mail that the mail server took. */
export interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  /** Headers and body as they came. */
  readonly raw: string
}

/** A real mail server that notes every mail. */
export class MailReceiver {
  readonly mails: ReceivedMail[] = []
  /** Refuses recipients with this; null takes all. */
  refusal: { readonly code: number; readonly words: string } | null = null
  #waiting: (() => void)[] = []
  readonly #server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onRcptTo: (_address, _session, callback) => {
      const { refusal } = this
      callback(
        refusal === null ? null : Object.assign(new Error(refusal.words), { responseCode: refusal.code }),
      )
    },
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        this.mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks).toString('utf8'),
        })
        callback()
        for (const wake of this.#waiting.splice(0)) wake()
      })
    },
  })

  static async start(): Promise<MailReceiver> {
    const receiver = new MailReceiver()
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', () => resolve()))
    return receiver
  }

  get url(): string {
    const address = this.#server.server.address()
    return `smtp://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`
  }

  /** Resolves when that many mails have come in all. */
  async received(count: number): Promise<readonly ReceivedMail[]> {
    while (this.mails.length < count) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    return this.mails
  }

  stop(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }
}
