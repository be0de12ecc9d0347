import { printJson } from '../output/print.ts'
import type { LocalMessage } from './localSender.ts'
import type { ListenView } from './view.ts'

/** One JSON object a line, each with `event`: `started`, `link`, `request`, `note`, `stopped`. */
export function jsonView(): ListenView {
  return {
    started: (facts) => printJson({ event: 'started', ...facts }),
    link: (state, { behind, lasting }) =>
      printJson({ event: lasting ? 'heartbeat' : 'link', state: state.kind, behind }),
    shown({ request, answer, replayId, note }) {
      const { sent: _sent, received, ...facts } = answer ?? { sent: null, received: null }
      const local =
        answer === null ? null : { ...facts, received: received === null ? null : messageJson(received) }
      printJson({ event: 'request', request, local, replayId, note })
    },
    note: (text) => printJson({ event: 'note', text }),
    stopped: ({ done }) => printJson({ event: 'stopped', done }),
  }
}

function messageJson({ headers, body }: LocalMessage) {
  return {
    headers: headers.map(([name, value]) => ({ name, value })),
    body: Buffer.from(body).toString('utf8'),
  }
}
