import { type Alert, isMarkup } from '../../alerts/index.ts'
import type { Markup, ProviderRequest } from './kind.ts'

/**
 * Cuts text to at most `max` UTF-16 units without splitting a character; a cut text ends in `…`. Cut before escaping,
 * never after, or an entity could be split.
 */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text
  const end = max - 1
  const splitsPair = /[\ud800-\udbff]/.test(text.charAt(end - 1))
  return `${text.slice(0, splitsPair ? end - 1 : end)}…`
}

/** Limit of an alert's message, so that message and title fit into every kind's formats. */
const ALERT_MESSAGE_MAX = 590

/**
 * An alert's message in a kind's markup. A notify action's message is in that markup already, and cut to the kind's
 * limit.
 */
export function messageIn(markup: Markup, alert: Alert): string {
  return isMarkup(alert) ? alert.message : markup.escape(cut(alert.message, ALERT_MESSAGE_MAX))
}

/** One line with further facts: severity, endpoint, request, workspace. Plain text. */
export function contextLine(alert: Alert): string {
  const parts = [`severity ${alert.severity}`]
  if (alert.endpoint !== null) parts.push(`endpoint ${alert.endpoint.name}`)
  if (alert.requestId !== null) parts.push(`request ${alert.requestId}`)
  parts.push(`workspace ${alert.workspaceName}`)
  return parts.join(' · ')
}

export const JSON_HEADERS = { 'content-type': 'application/json' } as const

export const postJson = (
  url: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): ProviderRequest => ({
  method: 'POST',
  url,
  headers: { ...JSON_HEADERS, ...headers },
  body: JSON.stringify(body),
})

/** An incoming webhook as text: its host, and the part of its path that is no secret. */
export function hookText(secret: string | null, shown: RegExp): string | null {
  if (secret === null) return null
  const { host, pathname } = new URL(secret)
  const part = shown.exec(pathname)?.[1]
  return part === undefined ? `${host}/...` : `${host}/.../${part}`
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Escapes text for HTML, in elements and in double-quoted attributes. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (found) => ENTITIES[found] ?? found)
