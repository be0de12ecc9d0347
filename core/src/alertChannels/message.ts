import type { ReadRoot } from '../engine/conditions/index.ts'
import { renderTemplate, type Template } from '../engine/templates/index.ts'
import { storable } from '../platform/db/index.ts'
import { type ChannelKindName, channelKind } from './kinds/index.ts'
import { cut } from './kinds/text.ts'

/** Characters that one value may add to a message. */
const VALUE_MAX = 500

/**
 * Fills in a notify action's template in its channel's markup. Values are escaped, the template's own text is not. The
 * message is cut to the provider's limit before anything is escaped, and holds no character that cannot be stored.
 */
export function renderMessage(template: Template, root: ReadRoot, kind: ChannelKindName): string {
  const { markup } = channelKind(kind)
  let message = ''
  let room = markup.maxCharacters
  for (const part of template) {
    const plain = storable(renderTemplate([part], root, { cutAt: VALUE_MAX }))
    const kept = cut(plain, room)
    message += typeof part === 'string' ? kept : markup.escape(kept)
    room -= plain.length
    if (room <= 0) break
  }
  return message
}
