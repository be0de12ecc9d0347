import { afterAll } from 'bun:test'

/** What a test file leaves is taken away in this order: nothing goes before what uses it. */
const STAGES = ['borrowers', 'owners', 'databases', 'disks', 'folders'] as const
export type Stage = (typeof STAGES)[number]

const tasks = new Map<Stage, Set<() => Promise<unknown>>>(STAGES.map((stage) => [stage, new Set()]))

/**
 * Does something when the test file ends. Tasks of one stage run side by side, stages one after the other, and all run
 * even where one fails; then the file fails.
 *
 * @param stage `borrowers`: services and processes that use what another one owns; `owners`: the others
 * @returns takes the task back, when it was done sooner
 */
export function atEnd(stage: Stage, task: () => Promise<unknown>): () => void {
  tasks.get(stage)?.add(task)
  return () => tasks.get(stage)?.delete(task)
}

afterAll(async () => {
  const errors: unknown[] = []
  for (const stage of STAGES) {
    const settled = await Promise.allSettled([...(tasks.get(stage) ?? [])].map((task) => task()))
    for (const result of settled) if (result.status === 'rejected') errors.push(result.reason)
  }
  if (errors.length > 0) throw new AggregateError(errors, 'The test file could not clean up after itself.')
})
