import type { Environment } from '@creel/terminal/tools'

/**
 * Four times the engine's own thresholds of the last tier of its compiler. By its own, that tier takes half of the
 * processor time of the first ten thousand captures.
 */
const LATER = {
  BUN_JSC_thresholdForFTLOptimizeAfterWarmUp: '400000',
  BUN_JSC_thresholdForFTLOptimizeSoon: '4000',
} as const

/**
 * The allocator gives whole free pages back to the system after a second. By default it does so after a tenth of one,
 * and at each idle moment with free parts of used pages, too, which are needed again at once. At some thousand captures a
 * second that took up to half of their processor time, at the most that are possible a twentieth.
 */
export const KEPT_MEMORY = { MIMALLOC_PURGE_HOLES: '0', MIMALLOC_PURGE_DELAY: '1000' } as const

/** Values, and further variables by which an operator has decided about them. */
const CHOICES = [
  { values: LATER, decidedBy: ['BUN_JSC_useFTLJIT', 'BUN_JSC_useJIT'] },
  { values: KEPT_MEMORY, decidedBy: [] },
] as const

/** The environment of a process that serves; the same object if all is decided already. */
export function servingEnvironment(environment: Environment): Environment {
  const open = CHOICES.filter(({ values, decidedBy }) =>
    [...Object.keys(values), ...decidedBy].every((name) => environment[name] === undefined),
  )
  return open.length === 0 ? environment : Object.assign({}, environment, ...open.map(({ values }) => values))
}

/**
 * Replaces this process by the same program with {@link servingEnvironment}, under the same process id: the engine and
 * the allocator read the environment only once. Returns if all is decided already, or if the system has no `execve`. To
 * be called before anything is opened.
 *
 * @param words the program and its arguments
 */
export function runWithServingEnvironment(words: readonly string[]): void {
  const environment = servingEnvironment(process.env)
  if (environment === process.env || process.execve === undefined) return
  try {
    process.execve(process.execPath, [...words], definedOf(environment))
  } catch {
    // The service runs without it, and starts slower.
  }
}

function definedOf(environment: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
