import { isMarkup } from '../../alerts/index.ts'
import { readByStatus, textMember, wordsOfBody } from './answers.ts'
import { type ChannelKind, INCOMING_WEBHOOK, type Markup } from './kind.ts'
import { contextLine, cut, messageIn, postJson } from './text.ts'

/** Breaks `<users/all>` and `<url|text>` with a zero-width space after the bracket, because Chat has no escape. */
const breakTags = (text: string) => text.replaceAll('<', '<\u200b')

const markup: Markup = { escape: breakTags, maxCharacters: 4096 }

/**
 * Google Chat incoming webhooks: a text message; the events of one incident share a thread.
 * Source: developers.google.com, "Build a Google Chat app as a webhook", "Format messages".
 */
export const googlechat: ChannelKind = {
  displayName: 'Google Chat',
  credentialLabel: 'Space webhook URL',
  ...INCOMING_WEBHOOK,
  markup,
  destination({ secret }) {
    if (secret === null) return null
    const { host, pathname } = new URL(secret)
    return /\/(spaces\/[^/]+)\//.exec(pathname)?.[1] ?? `${host}/...`
  },
  build(alert, { secret }) {
    const url = new URL(secret ?? '')
    const message = messageIn(markup, alert)
    const text = isMarkup(alert)
      ? message
      : `*${breakTags(cut(alert.title, 256))}*\n${message}\n_${breakTags(contextLine(alert))}_`
    if (alert.incidentId !== null) {
      url.searchParams.set('messageReplyOption', 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD')
    }
    return postJson(
      url.href,
      {
        text,
        ...(alert.incidentId === null ? {} : { thread: { threadKey: alert.incidentId } }),
      },
      { 'content-type': 'application/json; charset=UTF-8' },
    )
  },
  read: (answer) =>
    readByStatus(answer, (body) => wordsOfBody(body, (json) => textMember(json.error, 'message'))),
}
