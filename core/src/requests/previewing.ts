import type { Context } from '../api/context.ts'
import { Turns, WAIT_MS_MAX } from '../platform/turns/index.ts'

/** The most previews that run at once in the process: each may hold bodies of tens of megabytes. */
const AT_ONCE = 4

const turns = new Turns({
  atOnce: 1,
  inAll: AT_ONCE,
  wait: { msMax: WAIT_MS_MAX, noun: 'previews' },
})

/**
 * Runs a preview on stored requests in its turn. A workspace has one preview at a time, also those of one batch, and
 * workspaces take turns. All reading must be done inside `work`, so that waiting previews hold nothing in memory.
 *
 * @param kind label of previews that take about the same time, for the estimate of the wait
 * @throws LineTooLong when the wait behind other previews of the workspace is over ten seconds; errors of `work`
 */
export async function previewing<Result>(
  { workspace, signal }: Pick<Context, 'workspace' | 'signal'>,
  kind: string,
  work: () => Promise<Result>,
): Promise<Result> {
  return await turns.run(workspace.id, work, { kind: `${kind} ${workspace.id}`, signal })
}
