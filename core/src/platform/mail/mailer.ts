import { createTransport } from 'nodemailer'

/** One mail, ready to go. */
export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  /** Stable over attempts, so that a mail sent twice after a crash shows once: the part before the @ of `Message-ID`. */
  readonly messageKey: string
}

/** What became of a mail. A mail that cannot be sent is a result, never an exception. */
export type MailResult =
  | { readonly outcome: 'sent'; readonly durationMs: number }
  | {
      /** `rejected` is final (5xx); `failed` may go away (4xx, no connection). */
      readonly outcome: 'rejected' | 'failed' | 'notConfigured'
      /** The server's words, without credentials. */
      readonly detail: string
      /** The server's reply code, where it gave one. */
      readonly statusCode: number | null
      readonly durationMs: number
    }

/** Sends mail, or says why it cannot. */
export interface Mailer {
  send(mail: Mail): Promise<MailResult>
  close(): void
}

/** The mail settings of a process, as the operator wrote them. */
export interface MailerOptions {
  /** `CREEL_SMTP_URL`; undefined when no mail server is configured. */
  readonly smtpUrl: string | undefined
  /** `CREEL_MAIL_FROM`. */
  readonly from: string | undefined
}

const TIMEOUT_MS = 10_000
const DEFAULT_FROM = 'Creel <creel@localhost>'

/** Builds the mailer of a process. Connects when the first mail is sent. */
export function createMailer({ smtpUrl, from = DEFAULT_FROM }: MailerOptions): Mailer {
  if (smtpUrl === undefined) return UNCONFIGURED
  const transport = createTransport({
    url: smtpUrl,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const host = /@([^@>\s]+)>?$/.exec(from)?.[1] ?? 'localhost'
  return {
    async send({ to, subject, text, html, messageKey }) {
      const startedAt = performance.now()
      const durationMs = () => Math.round(performance.now() - startedAt)
      try {
        await transport.sendMail({
          from,
          // An object: a display name or a second address cannot be smuggled in.
          to: { name: '', address: to },
          subject,
          text,
          html,
          messageId: `<${messageKey}@${host}>`,
          headers: { 'Auto-Submitted': 'auto-generated' },
        })
        return { outcome: 'sent', durationMs: durationMs() }
      } catch (error) {
        return { ...failureOf(error), durationMs: durationMs() }
      }
    },
    close: () => transport.close(),
  }
}

const UNCONFIGURED: Mailer = {
  send: async () => ({
    outcome: 'notConfigured',
    detail: 'Not mailed: no mail server is configured (CREEL_SMTP_URL).',
    statusCode: null,
    durationMs: 0,
  }),
  close: () => {},
}

/** 5xx says never, 4xx says not now; no code says that the server was not reached or broke off. */
function failureOf(error: unknown) {
  const { responseCode, response, code } = fields(error)
  const statusCode = typeof responseCode === 'number' ? responseCode : null
  // A login that is refused is the operator's to mend, and may be mended by the next attempt.
  const isFinal = statusCode !== null && statusCode >= 500 && code !== 'EAUTH'
  return { outcome: isFinal ? 'rejected' : 'failed', detail: wordsOf(code, response), statusCode } as const
}

/** The server's words, if it spoke. Where it is, and as whom we log in, is the operator's business. */
function wordsOf(code: unknown, response: unknown): string {
  if (code === 'EAUTH') return 'The mail server refused the login.'
  if (typeof response === 'string' && response !== '') return response
  return `The mail server could not be reached${typeof code === 'string' ? ` (${code})` : ''}.`
}

function fields(error: unknown): Readonly<Record<string, unknown>> {
  return error instanceof Error ? { ...error } : {}
}
