import { createLogUpdate } from 'log-update'
import type { SafeText } from './safeText.ts'

/** The other buffer of a terminal: what was on the screen before comes back when it is left. */
const ENTER_ALTERNATE = '\u001b[?1049h\u001b[H'
const LEAVE_ALTERNATE = '\u001b[?1049l'

/** The whole of a terminal, drawn frame by frame. */
export interface FullScreen {
  enter(): void
  leave(): void
  draw(lines: readonly SafeText[]): void
  /** Forgets the last frame: the next one is drawn whole. */
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
