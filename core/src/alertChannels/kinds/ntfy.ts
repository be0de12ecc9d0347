import { isMarkup, type Severity } from '../../alerts/index.ts'
import { field, textSetting } from '../settings.ts'
import { readByStatus, textMember, wordsOfBody } from './answers.ts'
import type { ChannelKind, Markup } from './kind.ts'
import { contextLine, cut, messageIn, postJson } from './text.ts'

/** A message over 4 096 bytes becomes an attachment; a UTF-16 unit takes at most three bytes in UTF-8. */
const markup: Markup = { escape: (text) => text, maxCharacters: 1365 }

const PRIORITIES: { readonly [S in Severity]: number } = { critical: 5, error: 4, warning: 3, info: 3 }
const TAGS: { readonly [S in Severity]: string } = {
  critical: 'rotating_light',
  error: 'rotating_light',
  warning: 'warning',
  info: 'information_source',
}

/**
 * ntfy "publish as JSON": POST to the server's root, the topic in the body. Errors are JSON with `error`.
 * Source: docs.ntfy.sh/publish/#publish-as-json.
 */
export const ntfy: ChannelKind = {
  displayName: 'ntfy',
  credentialLabel: 'Access token (optional)',
  credentialRequired: false,
  credential: 'token',
  fields: [
    field({
      name: 'topic',
      label: 'Topic',
      type: 'string',
      required: true,
      help: 'On a public server, anyone with the topic name can read it.',
      maxCharacters: 64,
      pattern: { regex: /^[-_A-Za-z0-9]+$/, words: 'letters, digits, - and _' },
    }),
    field({
      name: 'serverUrl',
      label: 'Server',
      type: 'url',
      default: 'https://ntfy.sh',
      help: 'Address of your own ntfy server.',
    }),
  ],
  markup,
  destination: ({ settings }) => textSetting(settings, 'topic') || null,
  build(alert, { settings, secret }) {
    const message = messageIn(markup, alert)
    return postJson(
      textSetting(settings, 'serverUrl'),
      {
        topic: textSetting(settings, 'topic'),
        title: cut(alert.title, 250),
        message: isMarkup(alert) ? message : `${message}\n${cut(contextLine(alert), 300)}`,
        priority: alert.status === 'closed' ? PRIORITIES.info : PRIORITIES[alert.severity],
        tags: [alert.status === 'closed' ? 'white_check_mark' : TAGS[alert.severity]],
      },
      secret === null ? {} : { authorization: `Bearer ${secret}` },
    )
  },
  read: (answer) => readByStatus(answer, (body) => wordsOfBody(body, (json) => textMember(json, 'error'))),
}
