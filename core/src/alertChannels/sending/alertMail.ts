import type { Alert, Severity } from '../../alerts/index.ts'
import type { Mail } from '../../platform/mail/index.ts'
import { cut, escapeHtml } from '../kinds/text.ts'

const COLORS: { readonly [S in Severity]: string } = {
  info: '#3498db',
  warning: '#b7860b',
  error: '#d35400',
  critical: '#c0392b',
}
const CLOSED_COLOR = '#1e8449'

/** Text for a header: no line breaks, no control characters, short enough for a list. */
const oneLine = (text: string) => cut(text.replace(/\p{Cc}+/gu, ' '), 200)

/**
 * An alert as a mail: the same facts as text and as HTML without images, scripts or styles from elsewhere.
 *
 * @param note why it came by mail, if a channel should have carried it; else null
 */
export function alertMail(alert: Alert, note: string | null): Pick<Mail, 'subject' | 'text' | 'html'> {
  const word = alert.status === 'closed' ? 'recovered' : alert.severity
  const facts = factsOf(alert)
  const text = [
    alert.title,
    '',
    alert.message,
    '',
    ...facts.map(([name, value]) => `${name}: ${value}`),
    ...(note === null ? [] : ['', note]),
    '',
    '-- ',
    `Creel, workspace ${alert.workspaceName}`,
    '',
  ].join('\n')
  return { subject: oneLine(`[${word}] ${alert.title}`), text, html: htmlOf(alert, word, facts, note) }
}

function factsOf(alert: Alert): [name: string, value: string][] {
  const facts: [string, string][] = [['Severity', alert.severity]]
  if (alert.endpoint !== null) facts.push(['Endpoint', `${alert.endpoint.name} (${alert.endpoint.id})`])
  facts.push([titleCase(alert.subject.type), `${alert.subject.name} (${alert.subject.id})`])
  if (alert.requestId !== null) facts.push(['Request', String(alert.requestId)])
  if (alert.count > 1) facts.push(['Count', String(alert.count)])
  if (alert.openedAt !== null) facts.push(['Opened', alert.openedAt.toISOString()])
  if (alert.closedAt !== null) facts.push(['Closed', alert.closedAt.toISOString()])
  else facts.push(['Time', alert.occurredAt.toISOString()])
  return facts
}

function htmlOf(alert: Alert, word: string, facts: readonly [string, string][], note: string | null): string {
  const color = alert.status === 'closed' ? CLOSED_COLOR : COLORS[alert.severity]
  const paragraphs = (text: string) => escapeHtml(text).replaceAll('\n', '<br>')
  const rows = facts.map(
    ([name, value]) =>
      `<tr><td style="padding:2px 16px 2px 0;color:#666">${escapeHtml(name)}</td><td>${escapeHtml(value)}</td></tr>`,
  )
  return [
    '<!doctype html><html lang="en"><body style="margin:0;padding:24px;font:15px/1.5 sans-serif;color:#222">',
    `<div style="max-width:600px;border-left:4px solid ${color};padding-left:16px">`,
    `<p style="margin:0;color:${color};font-weight:bold">${escapeHtml(word)}</p>`,
    `<h1 style="margin:0 0 8px;font-size:20px">${escapeHtml(alert.title)}</h1>`,
    `<p>${paragraphs(alert.message)}</p>`,
    `<table style="border-collapse:collapse;font-size:14px">${rows.join('')}</table>`,
    ...(note === null ? [] : [`<p style="color:#666">${paragraphs(note)}</p>`]),
    `<p style="color:#999;font-size:13px">Creel, workspace ${escapeHtml(alert.workspaceName)}</p>`,
    '</div></body></html>',
  ].join('\n')
}

const titleCase = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)
