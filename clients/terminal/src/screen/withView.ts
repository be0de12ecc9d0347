import type { ApiClient } from '../api/apiClient.ts'
import { exitCodeOf, firstSignals } from '../exitCodes.ts'
import type { LocalMessage, LocalSender } from '../listen/localSender.ts'
import { plainView } from '../listen/plainView.ts'
import type { ListenView, Shown } from '../listen/view.ts'
import { printJson } from '../output/print.ts'
import type { TerminalTools } from '../tools.ts'

/**
 * Shows a listener until it stops: JSON lines with `--json`, a full screen if stdin and stdout are a terminal, else
 * plain lines.
 */
export async function withView(
  { json, plain }: { readonly json?: boolean; readonly plain?: boolean },
  of: { readonly api: ApiClient; readonly sender: LocalSender | null; readonly tools: TerminalTools },
  work: (view: ListenView, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true
  if (json === true || plain === true || !isTerminal) {
    const view = json === true ? jsonView() : plainView()
    return await untilStopped((signal) => work(view, signal))
  }
  const [{ screenView }, { screenActions }] = await Promise.all([
    import('./screenView.ts'),
    import('./actions.ts'),
  ])
  await untilStopped(async (signal, stop) => {
    const quit = () => {
      if (!signal.aborted) return stop()
      screen.close()
      process.exit(exitCodeOf('SIGINT'))
    }
    const screen = screenView({ actions: screenActions(of.api, of.sender, of.tools), quit })
    const show = async (item: Shown) => {
      const decodedBody = await of.tools.decodedBody(item.request)
      screen.shown({ ...item, request: { ...item.request, decodedBody } })
    }
    const view = { ...screen, shown: (item: Shown) => void show(item) }
    of.api.onWait = view.note
    try {
      await work(view, signal)
    } finally {
      view.close()
    }
  })
}

/** One JSON object a line, each with `event`: `started`, `link`, `request`, `note`, `stopped`. */
function jsonView(): ListenView {
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

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs something until it ends or a signal stops it. The first signal lets work in flight finish, the second ends the
 * process at once. A reader that goes away (`| head`) stops it, too.
 *
 * @param work gets the signal that aborts on a stop
 */
export async function untilStopped<Result>(
  work: (signal: AbortSignal, stop: () => void) => Promise<Result>,
): Promise<Result> {
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  const isFirst = firstSignals()
  let isAsked = false
  const onSignal = (signal: (typeof SIGNALS)[number]) => {
    if (!isFirst()) process.exit(exitCodeOf(signal))
    isAsked = true
    stop()
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  process.stdout.on('error', stop)
  try {
    return await work(stopping.signal, stop)
  } finally {
    // The echo of the signal may still come, and would end the process by itself.
    if (!isAsked) for (const signal of SIGNALS) process.off(signal, onSignal)
    process.stdout.off('error', stop)
  }
}
