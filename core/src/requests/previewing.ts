import type { Context } from '../api/context.ts'
import { PATIENCE_MS, Turns } from '../platform/turns/index.ts'

/** Previews that run at once: each may hold bodies of tens of megabytes. */
const AT_ONCE = 4

const turns = new Turns({
  atOnce: 1,
  inAll: AT_ONCE,
  patience: { ms: PATIENCE_MS, noun: 'previews' },
})

/**
 * Tries something on stored requests when its turn has come: a workspace has its previews one after the other, those of a batch
 * too, and workspaces take turns. What a preview reads it must read within `work`, so that those that wait hold nothing.
 *
 * @param kind previews of the same kind take about the same time
 * @throws LineTooLong when those of the workspace before it take longer than ten seconds; what `work` throws
 */
export async function previewing<Result>(
  { workspace, signal }: Pick<Context, 'workspace' | 'signal'>,
  kind: string,
  work: () => Promise<Result>,
): Promise<Result> {
  return await turns.run(workspace.id, work, { kind: `${kind} ${workspace.id}`, signal })
}
