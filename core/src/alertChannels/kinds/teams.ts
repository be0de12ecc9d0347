import { isMarkup } from '../../alerts/index.ts'
import { isSuccess, readByStatus, refused, textMember, wordsOfBody } from './answers.ts'
import { type ChannelKind, INCOMING_WEBHOOK, type Markup } from './kind.ts'
import { contextLine, cut, messageIn, postJson } from './text.ts'

/** A whole message is limited to 28 KB: 8 000 characters of three bytes, and the card around them. */
const TEXT_MAX = 8000
/** Every line is a separate block, which costs bytes as well. */
const LINES_MAX = 40

/**
 * Text runs are displayed literally (Adaptive Cards interpret Markdown in `TextBlock` only), so nothing needs escaping.
 * Control characters are removed, because JSON needs six bytes for each.
 */
const markup: Markup = {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed.
  escape: (text) => text.toWellFormed().replace(/[\u0000-\u0009\u000b-\u001f]/g, ' '),
  maxCharacters: TEXT_MAX,
}

const line = (text: string, style: object = {}) => ({
  type: 'RichTextBlock',
  inlines: [{ type: 'TextRun', text: text === '' ? ' ' : text, ...style }],
})

/**
 * Teams Workflows, trigger "When a Teams webhook request is received": a message that carries one Adaptive Card.
 * Answers 202 with an empty body; the older connectors answered 200 with an error in words.
 * Source: learn.microsoft.com, "Create incoming webhooks with Workflows", Adaptive Cards schema 1.4.
 */
export const teams: ChannelKind = {
  displayName: 'Microsoft Teams',
  credentialLabel: 'Workflow webhook URL',
  ...INCOMING_WEBHOOK,
  markup,
  destination: ({ secret }) => (secret === null ? null : new URL(secret).host),
  build(alert, { secret }) {
    const lines = messageIn(markup, alert).split('\n')
    const message = [...lines.slice(0, LINES_MAX), lines.slice(LINES_MAX).join(' ')]
      .filter((text, at) => at < LINES_MAX || text !== '')
      .map((text) => line(text))
    const body = isMarkup(alert)
      ? message
      : [
          line(cut(alert.title, 256), { weight: 'Bolder', size: 'Medium' }),
          ...message,
          line(contextLine(alert), { isSubtle: true, size: 'Small' }),
        ]
    return postJson(secret ?? '', {
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          contentUrl: null,
          content: {
            $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
            type: 'AdaptiveCard',
            version: '1.4',
            body,
          },
        },
      ],
    })
  },
  read(answer) {
    if (isSuccess(answer) && /delivery failed/i.test(answer.body)) return refused(answer, answer.body)
    return readByStatus(answer, (body) =>
      wordsOfBody(body, (json) => textMember(json.error, 'message') || textMember(json, 'message')),
    )
  },
}
