export { createMailer, type Mail, type Mailer, type MailerOptions, type MailResult } from './mailer.ts'
