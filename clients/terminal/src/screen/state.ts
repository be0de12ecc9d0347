import type { LinkState, ListenerFacts, Shown } from '../listen/view.ts'

/** Captures kept in memory, the newest; older ones can still be read with `creel requests`. */
const ITEMS_MAX = 1_000
/** Characters of their bodies and answers; the newest capture is kept whatever its size. */
const CHARACTERS_MAX = 64_000_000

/** Main content of the screen. */
export type Mode = 'list' | 'details' | 'help' | 'filter'

/** Data from which the screen is drawn. Keys and arriving captures change it. */
export interface ScreenState {
  readonly mode: Mode
  readonly facts: ListenerFacts | undefined
  readonly link: LinkState
  readonly behind: number
  /** Oldest first. */
  readonly items: readonly Shown[]
  /** The key of the chosen item; undefined follows the newest. */
  readonly chosen: string | undefined
  /** Only items that contain this text are listed. */
  readonly filter: string
  /** First visible line of the details. */
  readonly scroll: number
  /** One line about the result of the last key. */
  readonly message: string
}

export const EMPTY_SCREEN: ScreenState = {
  mode: 'list',
  facts: undefined,
  link: { kind: 'connecting' },
  behind: 0,
  items: [],
  chosen: undefined,
  filter: '',
  scroll: 0,
  message: '',
}

/** Key of an item, unique also among replays. */
export function keyOf({ request, replayId }: Shown): string {
  return replayId === undefined ? String(request.id) : `${request.id}/${replayId}`
}

/** The items that match the filter, oldest first. */
export function listed({ items, filter }: ScreenState): readonly Shown[] {
  if (filter === '') return items
  const wanted = filter.toLowerCase()
  return items.filter(({ request }) => {
    const { method, path, queryString, label, body, decodedBody } = request
    const text = decodedBody?.text ?? body ?? ''
    const texts = [String(request.id), method, path, queryString ?? '', label ?? '', text]
    return texts.some((text) => text.toLowerCase().includes(wanted))
  })
}

export function chosenItem(state: ScreenState): Shown | undefined {
  const items = listed(state)
  return items.find((item) => keyOf(item) === state.chosen) ?? items.at(-1)
}

export function withItem(state: ScreenState, item: Shown): ScreenState {
  const items = [...state.items.slice(1 - ITEMS_MAX), item]
  let left = CHARACTERS_MAX
  const first = items.findLastIndex((kept) => {
    left -= charactersOf(kept)
    return left < 0
  })
  return { ...state, items: items.slice(Math.min(first + 1, items.length - 1)) }
}

/** A body that was sent is kept as it arrived, too. */
function charactersOf({ request, answer }: Shown): number {
  const { body, decodedBody, rawHeaders } = request
  const sent = answer === null ? 0 : answer.sent.body.length + (answer.received?.body.length ?? 0)
  const fields = rawHeaders.reduce((sum, { name, value }) => sum + name.length + value.length, 0)
  return (body?.length ?? 0) + (decodedBody?.text?.length ?? 0) + sent + fields
}

/** The state with the cursor moved; at the newest item it follows new ones. */
export function moved(state: ScreenState, by: number): ScreenState {
  const items = listed(state)
  const chosen = chosenItem(state)
  const at = chosen === undefined ? 0 : items.indexOf(chosen)
  const next = Math.min(items.length - 1, Math.max(0, at + by))
  const item = items[next]
  const isNewest = next === items.length - 1 && by > 0
  return { ...state, chosen: item === undefined || isNewest ? undefined : keyOf(item), message: '' }
}
