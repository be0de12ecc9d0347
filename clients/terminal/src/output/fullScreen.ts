import { createLogUpdate } from 'log-update'
import type { SafeText } from './safeText.ts'

/** The alternate buffer of a terminal; leaving it restores the former screen. */
const ENTER_ALTERNATE = '\u001b[?1049h\u001b[H'
const LEAVE_ALTERNATE = '\u001b[?1049l'

/** The screen of stdout, which must be a terminal, drawn frame by frame. */
export function fullScreen() {
  const { stdout } = process
  const update = createLogUpdate(stdout, { showCursor: false })
  return {
    enter: () => void stdout.write(ENTER_ALTERNATE),
    leave: () => void stdout.write(LEAVE_ALTERNATE),
    draw: (lines: readonly SafeText[]) => update(lines.join('\n')),
    /** Discards the last frame, so that the next one is drawn completely. */
    clear: () => update.clear(),
    /** Shows the cursor again. */
    done: () => update.done(),
  }
}
