import type { ApiClient } from '../api/apiClient.ts'
import type { TerminalTools } from '../tools.ts'
import { jsonView } from './jsonView.ts'
import type { LocalSender } from './localSender.ts'
import { plainView } from './plainView.ts'
import { untilStopped } from './stopping.ts'
import type { ListenView } from './view.ts'

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
    import('../screen/screenView.ts'),
    import('../screen/actions.ts'),
  ])
  await untilStopped(async (signal, stop) => {
    const view = screenView({ actions: screenActions(of.api, of.sender, of.tools), quit: stop })
    of.api.onWait = view.note
    try {
      await work(view, signal)
    } finally {
      view.close()
    }
  })
}
