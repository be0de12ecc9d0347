import { isMarkup } from '../../alerts/index.ts'
import { readByStatus } from './answers.ts'
import { type ChannelKind, INCOMING_WEBHOOK, type Markup } from './kind.ts'
import { contextLine, cut, hookText, messageIn, postJson } from './text.ts'

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Slack reserves these three characters, and asks that no others be escaped. */
const escapeReserved = (text: string) => text.replace(/[&<>]/g, (found) => ENTITIES[found] ?? found)

/** Slack accepts 40 000 characters of `text`, and escaping makes at most five of one. */
const markup: Markup = { escape: escapeReserved, maxCharacters: 8000 }

/**
 * Slack incoming webhooks: `text` is the notification and the fallback of `blocks`; only `& < >` are escaped.
 * Source: docs.slack.dev, "Sending messages using incoming webhooks", "Formatting message text".
 */
export const slack: ChannelKind = {
  displayName: 'Slack',
  credentialLabel: 'Incoming webhook URL',
  ...INCOMING_WEBHOOK,
  markup,
  destination: ({ secret }) => hookText(secret, /^\/services\/[^/]+\/([^/]+)\/[^/]+/),
  build(alert, { secret }) {
    const title = escapeReserved(cut(alert.title, 150))
    const message = messageIn(markup, alert)
    const content = isMarkup(alert)
      ? { text: message }
      : {
          text: `${title}: ${message}`,
          blocks: [
            { type: 'section', text: { type: 'mrkdwn', text: `*${title}*` } },
            { type: 'section', text: { type: 'mrkdwn', text: message } },
            { type: 'context', elements: [{ type: 'mrkdwn', text: escapeReserved(contextLine(alert)) }] },
          ],
        }
    return postJson(secret ?? '', { ...content, unfurl_links: false, unfurl_media: false })
  },
  read: (answer) => readByStatus(answer, (body) => body),
}
