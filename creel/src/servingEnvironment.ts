/** Four times the engine's own thresholds of its last tier, whose compilation costs most. */
const LATER = {
  BUN_JSC_thresholdForFTLOptimizeAfterWarmUp: '400000',
  BUN_JSC_thresholdForFTLOptimizeSoon: '4000',
} as const

/** Variables of the operator that decide this already. */
const DECIDED = ['BUN_JSC_useFTLJIT', 'BUN_JSC_useJIT', ...Object.keys(LATER)]

/**
 * The environment of a process that serves. The last tier of the compiler begins later: by the engine's own
 * thresholds it takes half of the processor time of the first ten thousand captures.
 */
export function servingEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  return DECIDED.some((name) => environment[name] !== undefined) ? environment : { ...environment, ...LATER }
}

/**
 * Replaces this process by the same program with {@link servingEnvironment}, under the same process id: the engine reads
 * the environment only once. Returns if the environment is set already, or if the system has no `execve`. To be called before
 * anything is opened.
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

function definedOf(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
