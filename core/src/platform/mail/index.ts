import type { Transporter } from 'nodemailer'

/** One mail, ready to be sent. */
export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  /**
   * The part before the @ of `Message-ID`. Stable over attempts, so that a mail sent twice after a crash is shown once.
   */
  readonly messageKey: string
}

/** Result of a send. A mail that cannot be sent is a result, never an exception. */
export type MailResult =
  | { readonly outcome: 'sent'; readonly durationMs: number }
  | {
      /** `rejected` is final (5xx to this mail); `failed` may be temporary (4xx, no connection, no session). */
      readonly outcome: 'rejected' | 'failed' | 'notConfigured'
      /** The server's reply, without credentials. */
      readonly detail: string
      /** The server's reply code, if any. */
      readonly statusCode: number | null
      readonly durationMs: number
    }

/** Sends mail. A failure is a result with its reason. */
export interface Mailer {
  /**
   * Sends one mail, within {@link SEND_MS}, whatever the server does.
   *
   * @param signal cuts the send off
   * @returns null when it was cut off
   */
  send(mail: Mail, signal?: AbortSignal): Promise<MailResult | null>
  close(): void
}

/** The mail settings of a process, as the operator wrote them. */
export interface MailerOptions {
  /** `CREEL_SMTP_URL`; undefined when no mail server is configured. */
  readonly smtpUrl: string | undefined
  /** `CREEL_MAIL_FROM`. */
  readonly from: string | undefined
  /** Time limit of a whole send; {@link SEND_MS} by default. */
  readonly sendMs?: number
}

/**
 * Time limit of a mail, from the look-up of the server to its last reply: less than the lease of a send, so that no other
 * process sends the mail meanwhile.
 */
export const SEND_MS = 25_000
/** Time limit of connecting and of the greeting, and of each pause of the server. */
const TIMEOUT_MS = 10_000
const DEFAULT_FROM = 'Creel <creel@localhost>'

/** Builds the mailer of a process. Connects when the first mail is sent. */
export function createMailer({ smtpUrl, from = DEFAULT_FROM, sendMs = SEND_MS }: MailerOptions): Mailer {
  if (smtpUrl === undefined) return UNCONFIGURED
  let transport: Promise<Transporter> | undefined
  const host = /@([^@>\s]+)>?$/.exec(from)?.[1] ?? 'localhost'
  return {
    async send({ to, subject, text, html, messageKey }, signal) {
      const timeUp = AbortSignal.timeout(sendMs)
      const startedAt = performance.now()
      const durationMs = () => Math.round(performance.now() - startedAt)
      try {
        transport ??= openTransport(smtpUrl)
        await (await transport).sendMail({
          from,
          // As an object, the address cannot inject a display name or a second address.
          to: { name: '', address: to },
          subject,
          text,
          html,
          messageId: `<${messageKey}@${host}>`,
          headers: { 'Auto-Submitted': 'auto-generated' },
          signal: signal === undefined ? timeUp : AbortSignal.any([signal, timeUp]),
        })
        return { outcome: 'sent', durationMs: durationMs() }
      } catch (error) {
        if (signal?.aborted === true) return null
        if (timeUp.aborted)
          return {
            outcome: 'failed',
            detail: `The mail server did not take the mail within ${sendMs / 1000} s.`,
            statusCode: null,
            durationMs: durationMs(),
          }
        return { ...failureOf(error), durationMs: durationMs() }
      }
    },
    close: () => void transport?.then((opened) => opened.close()),
  }
}

async function openTransport(url: string): Promise<Transporter> {
  // Twenty megabytes, which most processes never need.
  const { createTransport } = await import('nodemailer')
  return createTransport({
    url,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
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

/** Codes of refusals of this mail. A refused greeting, STARTTLS or login may have been mended by the next attempt. */
const REFUSED = new Set<unknown>(['EENVELOPE', 'EMESSAGE'])

/** 5xx is final, 4xx is temporary; without a code the server was not reached or broke off. */
function failureOf(error: unknown) {
  const members: Readonly<Record<string, unknown>> = error instanceof Error ? { ...error } : {}
  const { responseCode, response, code, originalCode = code } = members
  const statusCode = typeof responseCode === 'number' ? responseCode : null
  const isFinal = statusCode !== null && statusCode >= 500 && REFUSED.has(code)
  const detail = code === 'EAUTH' ? 'The mail server refused the login.' : wordsOf(originalCode, response)
  return { outcome: isFinal ? 'rejected' : 'failed', detail, statusCode } as const
}

/** The server's reply, if any. The server's address and our login are left out: they concern only the operator. */
function wordsOf(code: unknown, response: unknown): string {
  if (typeof response === 'string' && response !== '') return response
  return `The mail server could not be reached${typeof code === 'string' ? ` (${code})` : ''}.`
}
