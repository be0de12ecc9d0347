import { chosenItem, moved, type ScreenState } from './state.ts'

/** A key as node's readline names it. */
export interface Key {
  readonly name?: string | undefined
  /** The characters that the terminal sent. */
  readonly sequence?: string | undefined
  readonly ctrl?: boolean | undefined
}

/** An action of a key beyond changing the view. */
export type Request = 'replay' | 'edit' | 'copy' | 'open' | 'quit'

export interface Pressed {
  readonly state: ScreenState
  readonly request?: Request
}

const LINE = 1
const PAGE = 10
const EVERYTHING = 1_000_000

const REQUESTS: Readonly<Record<string, Request>> = {
  r: 'replay',
  e: 'edit',
  c: 'copy',
  o: 'open',
  q: 'quit',
}

export function press(state: ScreenState, key: Key): Pressed {
  if (key.ctrl === true && key.name === 'c') return { state, request: 'quit' }
  if (state.mode === 'filter') return { state: typed(state, key) }
  const request = REQUESTS[key.sequence ?? '']
  if (request !== undefined) {
    const needsItem = request !== 'quit'
    if (needsItem && chosenItem(state) === undefined)
      return { state: { ...state, message: 'No capture is selected.' } }
    return { state, request }
  }
  const step = stepOf(key)
  if (step !== undefined) {
    if (state.mode === 'details')
      return { state: { ...state, scroll: Math.max(0, state.scroll + step), message: '' } }
    return { state: moved(state, step) }
  }
  switch (key.sequence) {
    case '?':
      return { state: { ...state, mode: state.mode === 'help' ? 'list' : 'help', message: '' } }
    case '/':
      return { state: { ...state, mode: 'filter', message: '' } }
  }
  if (key.name === 'escape') return { state: { ...state, mode: 'list', message: '' } }
  if (key.name !== 'return' && key.name !== 'enter') return { state }
  if (state.mode !== 'list') return { state: { ...state, mode: 'list', message: '' } }
  return chosenItem(state) === undefined
    ? { state }
    : { state: { ...state, mode: 'details', scroll: 0, message: '' } }
}

function stepOf({ name, sequence }: Key): number | undefined {
  if (name === 'up' || sequence === 'k') return -LINE
  if (name === 'down' || sequence === 'j') return LINE
  if (name === 'pageup') return -PAGE
  if (name === 'pagedown') return PAGE
  if (sequence === 'g') return -EVERYTHING
  if (sequence === 'G') return EVERYTHING
  return undefined
}

/** Applies a key while the filter is typed. */
function typed(state: ScreenState, { name, sequence = '' }: Key): ScreenState {
  if (name === 'return' || name === 'enter') return { ...state, mode: 'list' }
  if (name === 'escape') return { ...state, mode: 'list', filter: '' }
  if (name === 'backspace') return { ...state, filter: state.filter.slice(0, -1) }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: keys that are no text send control characters.
  return /^[^\x00-\x1f\x7f]+$/.test(sequence)
    ? { ...state, filter: state.filter + sequence, chosen: undefined }
    : state
}
