import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The checkout that is measured: this one, or that of `BENCH_ROOT` in the environment of the program. */
const rootOf = (env: Readonly<Record<string, string>>) => env.BENCH_ROOT ?? join(import.meta.dir, '../..')
const mainOf = (env: Readonly<Record<string, string>>) => join(rootOf(env), 'creel/src/main.ts')
/** The script of `bun run start`. */
const startOf = (env: Readonly<Record<string, string>>) => join(rootOf(env), 'scripts/start.ts')

/** A process of the program under measurement, on an embedded Postgres. */
export interface CreelProcess {
  readonly pid: number
  /** Empty without a gateway. */
  readonly baseUrl: string
  /** The key that a first boot printed. */
  readonly key: string | undefined
  /** From the start of the process to its ready line. */
  readonly bootMs: number
  /** Resolves with the exit code. */
  readonly exited: Promise<number>
  stop(): Promise<void>
}

/**
 * Starts the service like `bun run start`, with this environment, and waits for its ready line.
 *
 * @param options e.g. `--only jobs`
 */
export async function startCreel(
  env: Readonly<Record<string, string>>,
  options: readonly string[] = [],
): Promise<CreelProcess> {
  const startedAt = performance.now()
  const child = Bun.spawn([process.execPath, startOf(env), ...options], {
    env: { CREEL_PORT: '0', CREEL_LOG_LEVEL: 'silent', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  // The child is stopped even if the benchmark fails.
  process.once('exit', () => child.kill('SIGTERM'))
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of child.stdout) {
    text += decoder.decode(chunk, { stream: true })
    const ready = /^creel ready (?:base=(\S+) .*|jobs)\n/m.exec(text)
    if (ready === null) continue
    return {
      pid: child.pid,
      baseUrl: ready[1] ?? '',
      key: /^creel key (\S+)$/m.exec(text)?.[1],
      bootMs: performance.now() - startedAt,
      exited: child.exited,
      async stop() {
        child.kill('SIGTERM')
        await child.exited
      },
    }
  }
  throw new Error('creel serve ended before it was ready.')
}

/** Runs a command of the program and parses its one line of JSON. */
export async function creel(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const child = Bun.spawn([process.execPath, mainOf(env), ...words, '--json'], {
    env: { ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(`creel ${words.join(' ')} failed.`)
  return JSON.parse(text)
}

/** Resident memory of one process, without its children, in MB. */
export async function residentMegabytes(pid: number): Promise<number> {
  const kilobytes = await Bun.$`ps -o rss= -p ${pid}`.text()
  return Number(kilobytes) / 1024
}

/**
 * The share of one process in memory, in MB, without its children: pages that several processes use count in parts, as
 * those of the program's code. Linux only; else resident memory.
 */
export async function proportionalMegabytes(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
  const kilobytes = /^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1]
  return kilobytes === undefined ? await residentMegabytes(pid) : Number(kilobytes) / 1024
}

/** Processor time of a process so far, without its children, in ms. Other work on the machine hardly affects it. */
export async function processorMilliseconds(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? []
  // The kernel counts in hundredths of a second: user (14th field) and system (15th).
  return (Number(fields[11]) + Number(fields[12])) * 10
}
