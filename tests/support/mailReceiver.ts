import { SMTPServer } from 'smtp-server'

/** One mail that the mail server accepted. */
export interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  /** Headers and body, unchanged. */
  readonly raw: string
}

/** A mail server that records every mail. */
export class MailReceiver {
  readonly mails: ReceivedMail[] = []
  /** Reply that refuses recipients; null accepts all. */
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

  /** Value for `CREEL_SMTP_URL`. */
  get url(): string {
    const address = this.#server.server.address()
    return `smtp://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`
  }

  /** Resets: drops all mails, and accepts all recipients. */
  forget(): void {
    this.mails.length = 0
    this.refusal = null
  }

  /** Resolves when `count` mails have come in all. */
  async received(count: number): Promise<readonly ReceivedMail[]> {
    while (this.mails.length < count) await this.#arrived.promise
    return this.mails
  }

  stop(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }
}
