import { printText } from '../output/print.ts'
import { SafeText } from '../output/safeText.ts'
import { spanText } from '../output/text.ts'
import { writeLines } from '../output/write.ts'
import { captureLine } from './captureLine.ts'
import { type LinkState, type ListenView, RESUMED } from './view.ts'

/** Everything but captures goes to stderr, so that the lines can be piped. */
const toStderr = (line: string) => writeLines(process.stderr, [SafeText.styled('dim', line, process.stderr)])

/** Line width when stdout is not a terminal. */
const PIPED_COLUMNS = 160

/** Creates a view with one line a capture, and one whenever the connection changes. */
export function plainView(): ListenView {
  return {
    started({ endpointName, captureUrl, target, from, behind }) {
      printText(captureUrl)
      const to = target === null ? 'nothing is sent' : `sending to ${target}`
      const waiting = behind === 0 ? '' : `, ${behind} waiting`
      toStderr(
        `${from === RESUMED ? `Resuming "${endpointName}"` : `Listening to "${endpointName}" from ${from}`}${waiting}; ${to}.`,
      )
    },
    link(state, { behind, lasting }) {
      if (!lasting || state.kind === 'reconnecting' || state.kind === 'held')
        toStderr(linkText(state, behind))
    },
    shown: (item) => printText(captureLine(item, process.stdout.columns ?? PIPED_COLUMNS)),
    note: toStderr,
    stopped: ({ done, isSaved }) =>
      toStderr(`Stopped after #${done}.${isSaved ? ' The next start resumes there.' : ''}`),
  }
}

export function linkText(state: LinkState, behind: number): string {
  const waiting = behind > 0 ? `, ${behind} waiting` : ''
  switch (state.kind) {
    case 'connecting':
      return 'connecting'
    case 'connected':
      return `connected${waiting}`
    case 'reconnecting':
      return `reconnecting (for ${spanText((Date.now() - state.since) / 1000)}): ${state.reason}`
    case 'held':
      return `waiting for the local server, will retry (for ${spanText((Date.now() - state.since) / 1000)}${behind > 0 ? `, ${behind} queued` : ''}): ${state.reason}`
  }
}
