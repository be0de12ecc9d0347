import { emitKeypressEvents } from 'node:readline'
import type { ListenView, Shown } from '../listen/view.ts'
import { fullScreen } from '../output/fullScreen.ts'
import { type Key, press, type Request } from './keys.ts'
import { render } from './render.ts'
import { chosenItem, EMPTY_SCREEN, type ScreenState, withItem } from './state.ts'

/** Minimum time between frames. */
const FRAME_MILLISECONDS = 40
const SECOND_MILLISECONDS = 1_000

/** Actions of keys; each returns one line for the screen. */
export type ScreenActions = Readonly<Record<Exclude<Request, 'quit'>, (item: Shown) => Promise<string>>>

/** A full-screen view, controlled by keys. */
export interface ScreenView extends ListenView {
  close(): void
}

/** Opens the screen; stdin and stdout must be a terminal. */
export function screenView({ actions, quit }: { actions: ScreenActions; quit: () => void }): ScreenView {
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
  }
}
