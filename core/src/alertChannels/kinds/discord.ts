import { isMarkup, type Severity } from '../../alerts/index.ts'
import { readByStatus, textMember, wordsOfBody } from './answers.ts'
import { type ChannelKind, INCOMING_WEBHOOK, type Markup } from './kind.ts'
import { contextLine, cut, hookText, messageIn, postJson } from './text.ts'

const EMBED_TITLE_MAX = 256

/** Only mentions could do harm, and `allowed_mentions` switches them off, so values need no escaping. */
const markup: Markup = { escape: (text) => text, maxCharacters: 2000 }

const COLORS: { readonly [S in Severity]: number } = {
  info: 0x3498db,
  warning: 0xf1c40f,
  error: 0xe67e22,
  critical: 0xe74c3c,
}
const CLOSED_COLOR = 0x2ecc71

/**
 * Discord "Execute Webhook": a notify message is `content`, an alert an embed. Errors are JSON with `message`.
 * Source: docs.discord.com, Webhook Resource, Message Resource (allowed mentions, embed limits).
 */
export const discord: ChannelKind = {
  displayName: 'Discord',
  credentialLabel: 'Webhook URL',
  ...INCOMING_WEBHOOK,
  markup,
  destination: ({ secret }) => hookText(secret, /\/webhooks\/([^/]+)\/[^/]+/),
  build(alert, { secret }) {
    const content = isMarkup(alert)
      ? { content: alert.message }
      : {
          embeds: [
            {
              title: cut(alert.title, EMBED_TITLE_MAX),
              description: messageIn(markup, alert),
              color: alert.status === 'closed' ? CLOSED_COLOR : COLORS[alert.severity],
              footer: { text: contextLine(alert) },
              timestamp: alert.occurredAt.toISOString(),
            },
          ],
        }
    return postJson(secret ?? '', { ...content, allowed_mentions: { parse: [] } })
  },
  read: (answer) => readByStatus(answer, (body) => wordsOfBody(body, (json) => textMember(json, 'message'))),
}
