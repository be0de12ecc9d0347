import { afterAll } from 'bun:test'

/** What a test file leaves is taken away in this order: nothing goes before what uses it. */
const STAGES = ['borrowers', 'owners', 'databases', 'disks', 'folders'] as const
export type Stage = (typeof STAGES)[number]

type Tasks = ReadonlyMap<Stage, Set<() => Promise<unknown>>>

/** Files that run one after the other in a process share this module, so tasks belong to the file that is running. */
let file = Bun.main
let tasks = noTasks()
const cleanings: Promise<readonly unknown[]>[] = []

/**
 * Does something after the test file ended: when the next one of the same process asks for the same, or at the end of
 * the run. Tasks of one stage run side by side, stages one after the other, and all run even where one fails; then the
 * run fails.
 *
 * @param stage `borrowers`: services and processes that use what another one owns; `owners`: the others
 * @returns takes the task back, when it was done sooner
 */
export function atEnd(stage: Stage, task: () => Promise<unknown>): () => void {
  if (file !== Bun.main) {
    cleanings.push(clean(tasks))
    file = Bun.main
    tasks = noTasks()
  }
  const stageTasks = tasks.get(stage)
  stageTasks?.add(task)
  return () => stageTasks?.delete(task)
}

const closings: (() => Promise<unknown>)[] = []

/** Does something after the last test file of this process, and after what any of them leaves was taken away. */
export function atEndOfRun(task: () => Promise<unknown>): void {
  closings.push(task)
}

/** This file is preloaded: a hook of one test file would not come after the others of its process. */
afterAll(async () => {
  cleanings.push(clean(tasks))
  tasks = noTasks()
  const errors: unknown[] = (await Promise.all(cleanings.splice(0))).flat()
  const closed = await Promise.allSettled(closings.splice(0).map((task) => task()))
  for (const result of closed) if (result.status === 'rejected') errors.push(result.reason)
  if (errors.length > 0) throw new AggregateError(errors, 'The tests could not clean up after themselves.')
})

function noTasks(): Tasks {
  return new Map(STAGES.map((stage) => [stage, new Set()]))
}

async function clean(tasksOfFile: Tasks): Promise<readonly unknown[]> {
  const errors: unknown[] = []
  for (const stage of STAGES) {
    const settled = await Promise.allSettled([...(tasksOfFile.get(stage) ?? [])].map((task) => task()))
    for (const result of settled) if (result.status === 'rejected') errors.push(result.reason)
  }
  return errors
}
