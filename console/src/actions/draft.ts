import {
  ALWAYS_TEXT,
  type ConditionText,
  documentOfText,
  textOfCondition,
} from '../conditions/ConditionField.tsx'
import { EMPTY_LEAF } from '../conditions/model.ts'
import type { Action } from '../trpc.ts'

/** An action while it is written. */
export interface ActionDraft {
  readonly kind: 'forward' | 'notify'
  readonly name: string
  readonly url: string
  readonly alertChannelId: string
  readonly messageTemplate: string
  readonly condition: ConditionText
}

const TEMPLATE = '{{ label }} on {{ endpoint.name }}: {{ body.id }}'

/** A new action; with a condition where the reader came from a value of a body. */
export function newDraft(params: URLSearchParams): ActionDraft {
  const path = params.get('path')
  const condition: ConditionText =
    path === null
      ? ALWAYS_TEXT
      : {
          as: 'builder',
          draft: {
            kind: 'group',
            mode: 'all',
            items: [{ ...EMPTY_LEAF, path, value: plainOf(params.get('value') ?? '') }],
          },
        }
  return {
    kind: 'forward',
    name: '',
    url: '',
    alertChannelId: '',
    messageTemplate: TEMPLATE,
    condition,
  }
}

/** A text stands for itself; what would be read as a number stays in quotes. */
function plainOf(json: string): string {
  const plain = /^"([^"\\]*)"$/.exec(json)?.[1]
  return plain === undefined || plain === '' || /^(-?\d|true$|false$|null$|[[{"\s])/.test(plain)
    ? json
    : plain
}

/** A saved action, to be changed. */
export function draftOfAction(action: Action): ActionDraft {
  return {
    kind: action.kind === 'notify' ? 'notify' : 'forward',
    name: action.name,
    url: action.url ?? '',
    alertChannelId: action.alertChannelId ?? '',
    messageTemplate: action.messageTemplate ?? TEMPLATE,
    condition: textOfCondition(action.condition),
  }
}

/**
 * The members that the API takes for this kind; a condition that is no JSON is sent as text, and refused in its words.
 *
 * @param signingSecret null keeps the one that is set
 */
export function membersOf(draft: ActionDraft, signingSecret: string | null) {
  const { alertChannelId, condition, kind, messageTemplate, name, url } = draft
  const shared = {
    ...(name.trim() === '' ? {} : { name: name.trim() }),
    condition: documentOfText(condition) ?? (condition.as === 'json' ? condition.text : {}),
  }
  if (kind === 'notify') return { ...shared, alertChannelId, messageTemplate }
  return { ...shared, url: url.trim(), ...(signingSecret === null ? {} : { signingSecret }) }
}
