import { createLogUpdate } from 'log-update'
import type { SafeText } from './safeText.ts'

/** The alternate buffer of a terminal; leaving it restores the former screen. */
const ENTER_ALTERNATE = '\u001b[?1049h\u001b[H'
const LEAVE_ALTERNATE = '\u001b[?1049l'

/** The whole terminal, drawn frame by frame. */
export interface FullScreen {
  enter(): void
  leave(): void
  draw(lines: readonly SafeText[]): void
  /** Discards the last frame, so that the next one is drawn completely. */
  clear(): void
  /** Shows the cursor again. */
  done(): void
}

/** The screen of stdout, which must be a terminal. */
export function fullScreen(): FullScreen {
  const { stdout } = process
  const update = createLogUpdate(stdout, { showCursor: false })
  return {
    enter: () => void stdout.write(ENTER_ALTERNATE),
    leave: () => void stdout.write(LEAVE_ALTERNATE),
    draw: (lines) => update(lines.join('\n')),
    clear: () => update.clear(),
    done: () => update.done(),
  }
}
