import { afterAll } from 'bun:test'

/** Stages of the clean-up after a test file, in order: users of a resource come before it. */
const STAGES = ['borrowers', 'owners', 'databases', 'disks', 'folders'] as const
export type Stage = (typeof STAGES)[number]

type Tasks = ReadonlyMap<Stage, Set<() => Promise<unknown>>>

/** Files that run one after the other in a process share this module, so tasks belong to the file that is running. */
let file = Bun.main
let tasks = noTasks()
const cleanings: Promise<readonly unknown[]>[] = []

/**
 * Runs a task after the test file has ended: when the next file of the same process registers a task, or at the end of
 * the run. Tasks of one stage run in parallel, stages one after the other. If one fails, the others still run, and the
 * run fails.
 *
 * @param stage `borrowers`: services and processes that use another one's resources; `owners`: the others
 * @returns removes the task, for one that was done sooner
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

/** Runs a task after the last test file of this process, and after all clean-ups. */
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
