import type { LinkState, ListenerFacts, Shown } from '../listen/view.ts'

/** So many captures are remembered; older ones can still be read with `creel requests`. */
const ITEMS_MAX = 1_000

/** What fills the screen. */
export type Mode = 'list' | 'details' | 'help' | 'filter'

/** Everything that the screen shows. */
export interface ScreenState {
  readonly mode: Mode
  readonly facts: ListenerFacts | undefined
  readonly link: LinkState
  readonly behind: number
  /** Oldest first. */
  readonly items: readonly Shown[]
  /** The key of the chosen item; undefined: the newest, as they come. */
  readonly chosen: string | undefined
  /** Only items that hold this text are listed. */
  readonly filter: string
  /** The first line of the details that is shown. */
  readonly scroll: number
  /** One line about what the last key did. */
  readonly message: string
}

/** The screen before anything has happened. */
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

/** Tells an item from every other: a replay is an item of its own. */
export function keyOf({ request, replayId }: Shown): string {
  return replayId === undefined ? String(request.id) : `${request.id}/${replayId}`
}

/** The items that the filter lets through, oldest first. */
export function listed({ items, filter }: ScreenState): readonly Shown[] {
  if (filter === '') return items
  const wanted = filter.toLowerCase()
  return items.filter(({ request }) => {
    const { method, path, queryString, label, body } = request
    const texts = [String(request.id), method, path, queryString ?? '', label ?? '', body ?? '']
    return texts.some((text) => text.toLowerCase().includes(wanted))
  })
}

/** The item under the cursor. */
export function chosenItem(state: ScreenState): Shown | undefined {
  const items = listed(state)
  return items.find((item) => keyOf(item) === state.chosen) ?? items.at(-1)
}

/** The state with one more item. */
export function withItem(state: ScreenState, item: Shown): ScreenState {
  return { ...state, items: [...state.items.slice(1 - ITEMS_MAX), item] }
}

/** The cursor moved by so many items; at the newest one it follows what comes. */
export function moved(state: ScreenState, by: number): ScreenState {
  const items = listed(state)
  const chosen = chosenItem(state)
  const at = chosen === undefined ? 0 : items.indexOf(chosen)
  const next = Math.min(items.length - 1, Math.max(0, at + by))
  const item = items[next]
  const isNewest = next === items.length - 1 && by > 0
  return { ...state, chosen: item === undefined || isNewest ? undefined : keyOf(item), message: '' }
}
