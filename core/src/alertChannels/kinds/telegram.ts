import { isMarkup } from '../../alerts/index.ts'
import { field, textSetting } from '../settings.ts'
import { DELIVERED, jsonObject, refused, textMember } from './answers.ts'
import type { ChannelKind, Markup } from './kind.ts'
import { contextLine, cut, escapeHtml, messageIn, postJson } from './text.ts'

/** The limit applies to the text after entities are parsed. */
const markup: Markup = { escape: escapeHtml, maxCharacters: 4096 }

/**
 * Telegram Bot API `sendMessage` with HTML. Answers are JSON `{ok, description}`.
 * Source: core.telegram.org/bots/api#sendmessage, #html-style.
 */
export const telegram: ChannelKind = {
  displayName: 'Telegram',
  credentialLabel: 'Bot token',
  credentialRequired: true,
  credential: 'token',
  fields: [
    field({
      name: 'chatId',
      label: 'Chat id',
      type: 'string',
      required: true,
      help: 'Id of the chat, or @name of a public channel. The bot must be a member.',
      maxCharacters: 64,
    }),
    field({
      name: 'threadId',
      label: 'Topic id',
      type: 'integer',
      help: 'Message thread of a forum group; omit for the general topic.',
    }),
  ],
  markup,
  destination: ({ settings }) => textSetting(settings, 'chatId') || null,
  build(alert, { settings, secret }, { apiUrls }) {
    const message = messageIn(markup, alert)
    const text = isMarkup(alert)
      ? message
      : `<b>${escapeHtml(cut(alert.title, 256))}</b>\n${message}\n<i>${escapeHtml(cut(contextLine(alert), 300))}</i>`
    return postJson(`${apiUrls.telegram ?? 'https://api.telegram.org'}/bot${secret ?? ''}/sendMessage`, {
      chat_id: textSetting(settings, 'chatId'),
      ...(typeof settings.threadId === 'number' ? { message_thread_id: settings.threadId } : {}),
      text,
      parse_mode: 'HTML',
      link_preview_options: { is_disabled: true },
    })
  },
  read(answer) {
    const json = jsonObject(answer.body)
    if (json?.ok === true) return DELIVERED
    return refused(answer, json === undefined ? answer.body : textMember(json, 'description'))
  },
}
