import type { MailerOptions } from '@creel/core/platform/mail'
import type { Config } from './config.ts'

/** How alert mail goes out, as configured. */
export function mailOptions({ CREEL_SMTP_URL, CREEL_MAIL_FROM }: Config): MailerOptions {
  return { smtpUrl: CREEL_SMTP_URL, from: CREEL_MAIL_FROM }
}
