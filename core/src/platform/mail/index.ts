export { alertMail } from '../../alertChannels/sending/alertMail.ts'
export { createMailer, type Mail, type Mailer, type MailerOptions, type MailResult } from './mailer.ts'
