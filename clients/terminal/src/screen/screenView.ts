import { emitKeypressEvents } from 'node:readline'
import type { ListenView, Shown } from '../listen/view.ts'
import { fullScreen } from '../output/fullScreen.ts'
import { render } from './render.ts'
import { chosenItem, EMPTY_SCREEN, moved, type ScreenState, withItem } from './state.ts'

/** Minimum time between frames. */
const FRAME_MILLISECONDS = 40
const SECOND_MILLISECONDS = 1_000

/** Actions of keys; each returns one line for the screen. */
export type ScreenActions = Readonly<Record<Exclude<Request, 'quit'>, (item: Shown) => Promise<string>>>

/** Opens a full-screen view, controlled by keys; stdin and stdout must be a terminal. */
export function screenView({ actions, quit }: { actions: ScreenActions; quit: () => void }) {
  const { stdin, stdout } = process
  const screen = fullScreen()
  let state: ScreenState = EMPTY_SCREEN
  let frame: ReturnType<typeof setTimeout> | undefined
  let isPaused = false
  let isClosed = false

  const drawNow = () => {
    frame = undefined
    if (isPaused || isClosed) return
    // One row stays free: a full last row would scroll the screen.
    const size = { columns: stdout.columns ?? 80, rows: Math.max(4, (stdout.rows ?? 24) - 1) }
    screen.draw(render(state, size))
  }
  const change = (next: ScreenState) => {
    state = next
    frame ??= setTimeout(drawNow, FRAME_MILLISECONDS)
  }
  const say = (message: string) => change({ ...state, message })

  const act = async (request: Exclude<Request, 'quit'>) => {
    const item = chosenItem(state)
    if (item === undefined) return
    // The editor takes over the terminal.
    if (request === 'edit') pause()
    try {
      say(await actions[request](item))
    } catch (error) {
      say(error instanceof Error ? error.message : String(error))
    } finally {
      if (request === 'edit') resume()
    }
  }
  const onKey = (_text: string | undefined, key: Key) => {
    const { state: next, request } = press(state, key)
    change(next)
    if (request === 'quit') quit()
    else if (request !== undefined) void act(request)
  }
  const onResize = () => {
    screen.clear()
    drawNow()
  }
  const pause = () => {
    isPaused = true
    stdin.off('keypress', onKey)
    stdin.setRawMode(false)
    stdin.pause()
    screen.leave()
  }
  const resume = () => {
    isPaused = false
    screen.enter()
    screen.clear()
    stdin.setRawMode(true)
    stdin.resume()
    stdin.on('keypress', onKey)
    drawNow()
  }

  // Redrawn, because an unchanged state shows its duration.
  const clock = setInterval(() => {
    if (state.link.kind !== 'connected') drawNow()
  }, SECOND_MILLISECONDS)

  emitKeypressEvents(stdin)
  stdout.on('resize', onResize)
  resume()
  return {
    started: (facts) => change({ ...state, facts }),
    link: (link, { behind }) => change({ ...state, link, behind }),
    progress: (behind) => change({ ...state, behind }),
    shown: (item) => change(withItem(state, item)),
    note: say,
    stopped: () => {},
    close() {
      if (isClosed) return
      isClosed = true
      clearTimeout(frame)
      clearInterval(clock)
      stdout.off('resize', onResize)
      if (!isPaused) pause()
      screen.done()
    },
  } satisfies ListenView & { close(): void }
}

/** A key as node's readline names it. */
interface Key {
  readonly name?: string | undefined
  /** The characters that the terminal sent. */
  readonly sequence?: string | undefined
  readonly ctrl?: boolean | undefined
}

/** An action of a key beyond changing the view. */
type Request = 'replay' | 'edit' | 'copy' | 'open' | 'quit'

interface Pressed {
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
