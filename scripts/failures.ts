export interface Failure {
  readonly place: string
  readonly test: string
  /** First line of its error. */
  readonly error: string
}

/** Outcome of one process of Bun and its workers. */
export interface Ran {
  readonly passed: number
  readonly failed: number
  readonly failures: readonly Failure[]
  /** Errors outside of any test. */
  readonly outside: readonly string[]
}

/** Files of which tests failed, that run once more. More of them say that the code is wrong. */
const REPEATED_FILES_MAX = 6

/** Lines that a summary takes at most, so that it is seen whole. */
const LINES_MAX = 18

const CASE = /<testcase ([^>]*[^/])>\s*<failure ([^>]*?)\/?>/g
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }

function attribute(attributes: string, name: string): string {
  const [, value = ''] = new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes) ?? []
  return value.replaceAll(/&(?:#(\d+)|(\w+));/g, (whole, code?: string, entity = '') =>
    code === undefined ? (ENTITIES[entity] ?? whole) : String.fromCodePoint(Number(code)),
  )
}

const firstLine = (text: string): string => text.trimStart().split('\n')[0] ?? ''

/** The failed tests of a report that Bun's reporter `junit` has written. */
export function failuresOf(report: string): Failure[] {
  return [...report.matchAll(CASE)].map(([, test = '', failure = '']) => {
    const line = attribute(test, 'line')
    const names = [attribute(test, 'classname'), attribute(test, 'name')].filter((name) => name !== '')
    return {
      place: `${attribute(test, 'file')}${line === '' ? '' : `:${line}`}`,
      test: names.join(' > '),
      error: `${attribute(failure, 'type')}: ${firstLine(attribute(failure, 'message'))}`,
    }
  })
}

/**
 * Errors outside of any test, as of a file that cannot be loaded: no report has them. Each is named with the file under
 * which Bun prints it, whose process had it, perhaps after an earlier file.
 */
export function errorsOutside(output: string): string[] {
  const found = Bun.stripANSI(output).matchAll(
    /^(\S+\.test\.tsx?):$|^# Unhandled error between tests\n-+\n(?:.*\n){0,40}?((?:error|\w*Error): .*)$/gm,
  )
  let file = ''
  return [...found].flatMap(([, header, error = '']) => {
    file = header ?? file
    return header === undefined ? [`${file}: ${error}`] : []
  })
}

/** The last lines of a run before its summary: each failure with its place and the first line of its error. At most 18 lines. */
export function failureLines(failures: readonly Failure[], outside: readonly string[]): string[] {
  const named = ({ place, test }: Failure) => `  ${place}: ${test}`
  const whole = [
    ...failures.flatMap((one) => [named(one), `    ${one.error}`]),
    ...outside.map((error) => `  ${error}`),
  ]
  const lines =
    whole.length <= LINES_MAX ? whole : [...failures.map(named), ...outside.map((error) => `  ${error}`)]
  if (lines.length <= LINES_MAX) return lines
  return [...lines.slice(0, LINES_MAX - 1), `  and ${lines.length - LINES_MAX + 1} more`]
}

const failuresIn = (runs: readonly Ran[]): Failure[] => runs.flatMap(({ failures }) => failures)

const fileOf = ({ place }: Failure): string => place.replace(/:\d+$/, '')

/**
 * The files of failed tests, to run once more, alone. None if there are more than six, or if something failed that is
 * no test of a known file. An error outside of tests in a file with a failed test counts as its consequence: the test
 * may have left a transaction or a command behind.
 */
export function filesToRepeat(runs: readonly Ran[]): string[] {
  const failures = failuresIn(runs)
  const outside = runs.flatMap((run) => run.outside)
  const failed = runs.reduce((sum, run) => sum + run.failed, 0)
  const files = [...new Set(failures.map(fileOf))]
  const areConsequences = outside.every((error) => files.some((file) => error.startsWith(`${file}: `)))
  const areKnown = areConsequences && failures.length + outside.length === failed
  return areKnown && files.length <= REPEATED_FILES_MAX ? files.map((file) => `./${file}`) : []
}

export interface Summary extends Ran {
  /** Tests that failed among all others, and passed alone. */
  readonly passedAlone: readonly Failure[]
}

/** @param repeated the second run of {@link filesToRepeat}. Its result counts for these files. */
export function summaryOf(runs: readonly Ran[], repeated: Ran | undefined): Summary {
  const failures = failuresIn(runs)
  const passed = runs.reduce((sum, run) => sum + run.passed, 0)
  const failed = runs.reduce((sum, run) => sum + run.failed, 0)
  if (repeated === undefined) {
    const outside = runs.flatMap((run) => run.outside)
    return { passed, failed, failures, outside, passedAlone: [] }
  }
  const keyOf = ({ place, test }: Failure) => `${place} ${test}`
  const failsAgain = new Set(repeated.failures.map(keyOf))
  return {
    passed: passed + failures.length - repeated.failed,
    failed: repeated.failed,
    failures: repeated.failures,
    outside: repeated.outside,
    passedAlone: failures.filter((one) => !failsAgain.has(keyOf(one))),
  }
}
