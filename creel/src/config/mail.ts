import type { MailerOptions } from '@creel/core/platform/mail'
import type { Config } from './config.ts'

/** The configured settings for alert mail. */
export function mailOptions({ CREEL_SMTP_URL, CREEL_MAIL_FROM }: Config): MailerOptions {
  return { smtpUrl: CREEL_SMTP_URL, from: CREEL_MAIL_FROM }
}
