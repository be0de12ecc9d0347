import { SMTPServer } from 'smtp-server'

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
  #arrived = Promise.withResolvers<void>()
  readonly #server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onRcptTo: (_address, _session, callback) => {
      const { refusal } = this
      callback(refusal && Object.assign(new Error(refusal.words), { responseCode: refusal.code }))
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
        this.#arrived.resolve()
        this.#arrived = Promise.withResolvers()
      })
    },
  })

  /** Listens on a free port of loopback. */
  static async start(): Promise<MailReceiver> {
    const receiver = new MailReceiver()
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', () => resolve()))
    return receiver
  }

  /** For `CREEL_SMTP_URL`. */
  get url(): string {
    const address = this.#server.server.address()
    return `smtp://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`
  }

  /** Begins anew: no mail has come, and all are taken. */
  forget(): void {
    this.mails.length = 0
    this.refusal = null
  }

  /** Resolves when that many mails have come in all. */
  async received(count: number): Promise<readonly ReceivedMail[]> {
    while (this.mails.length < count) await this.#arrived.promise
    return this.mails
  }

  stop(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }
}
