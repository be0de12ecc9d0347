import { chmod, mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { within } from '@creel/core/platform/time'
import type { Subprocess } from 'bun'
import { KEPT_MEMORY } from '../../creel/src/servingEnvironment.ts'
import { atEnd } from './atEnd.ts'
import type { TestDatabase } from './database.ts'

const MAIN = join(import.meta.dir, '../../creel/src/main.ts')

/** The single executable, which a run of the whole suite builds: it starts several times faster than the source. */
export const executable = process.env.CREEL_TEST_EXECUTABLE

/** Command with which tests run the program, without its arguments. */
export const PROGRAM: readonly string[] = executable === undefined ? [process.execPath, MAIN] : [executable]

/** The environment of a short-lived program, for which only the first compiler tier pays off. */
export const BRIEF: Readonly<Record<string, string>> = {
  BUN_JSC_useFTLJIT: '0',
  BUN_JSC_useDFGJIT: '0',
  ...KEPT_MEMORY,
}

/** The environment of a server: the shipped one if this process has it, for measurements. See `scripts/test.ts`. */
const LIGHT: Readonly<Record<string, string>> = process.env.BUN_JSC_useFTLJIT === undefined ? {} : BRIEF

/** As many gateway processes as the run asks for, one by default: whatever the machine. */
const GATEWAYS = { CREEL_GATEWAYS: process.env.CREEL_TEST_GATEWAYS ?? '1' }

/** Time for the rest of stderr after an end. A PostgreSQL that outlives its owner keeps it open. */
const REST_MS_MAX = 2000

/** Timeout of a start, which may have to recover a database on a busy machine. */
const READY_SECONDS_MAX = 120

export interface ProcessOptions {
  /** Variables, in addition to port 0 and a quiet log. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Command of the program; by default the executable of this run, or the checkout's source if there is none. */
  readonly program?: readonly string[]
  /** Uses this database instead of an embedded one. */
  readonly database?: Pick<TestDatabase, 'url'>
  /** The command that serves; `serve` by default. */
  readonly command?: 'serve' | 'relay'
  /** Runs it under another account, when the suite is root. */
  readonly account?: { readonly uid: number; readonly gid: number }
}

/** The secret key, 32 bytes, of all processes that share a database. */
export const TEST_SECRET_KEY = Buffer.alloc(32, 7).toString('base64')

/** Result of a command. */
export interface CommandResult {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** The real program, running `serve`. */
export interface RunningProcess {
  readonly pid: number
  readonly baseUrl: string
  readonly captureUrl: string
  /** The lines on stdout up to the ready line. */
  readonly lines: readonly string[]
  /** The key and capture URL that a first boot printed. */
  readonly first: { readonly key: string; readonly captureUrl: string } | undefined
  /** Everything on stderr so far. */
  stderr(): string
  signal(signal: NodeJS.Signals): void
  /**
   * Resolves with the exit code, once stderr is read to its end; 128 + number after a signal that was not handled.
   */
  readonly exited: Promise<number>
  /** SIGTERM, and waits. */
  stop(): Promise<number>
}

/** A folder that any account may pass through; removed with everything in it when the test file ends. */
export async function temporaryFolder(parent = tmpdir()): Promise<string> {
  const folder = await mkdtemp(join(parent, 'creel-test-'))
  await chmod(folder, 0o711)
  atEnd('folders', () => removeFolder(folder))
  return folder
}

/**
 * A temporary folder whose data folder `.creel` contains an empty PostgreSQL cluster. The next start makes the tables,
 * and is otherwise a first boot. For tests that are not about the setup, which takes seconds. A run of a few files has
 * no prepared cluster, and the start makes one.
 *
 * @param below names of nested folders within the temporary one; the data folder is in the last one
 */
export async function preparedFolder(...below: string[]): Promise<string> {
  const folder = join(await temporaryFolder(), ...below)
  await mkdir(folder, { recursive: true })
  await prepareDataFolder(join(folder, '.creel'))
  return folder
}

/** Prepares a data folder. */
export async function prepareDataFolder(dataDir: string): Promise<void> {
  const prepared = process.env.CREEL_TEST_DATA_FOLDER
  if (prepared === undefined) return
  await mkdir(dataDir, { mode: 0o711 })
  await Bun.$`cp -a ${join(prepared, 'postgres')} ${dataDir}`.quiet()
}

/**
 * A folder on a separate disk of `megabytes`, which is removed when the test file ends; undefined if mounting is not
 * permitted.
 */
export async function temporaryDisk(megabytes: number): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const folder = join(await temporaryFolder(), 'disk')
  await mkdir(folder)
  const options = `size=${megabytes}m,mode=755`
  const { exitCode } = await Bun.$`mount -t tmpfs -o ${options} creel-small-disk ${folder}`.quiet().nothrow()
  if (exitCode !== 0) return undefined
  atEnd('disks', () => unmount(folder))
  return folder
}

/** Unmounts, lazily if the disk is busy: a process that has just ended may still use its files for a moment. */
async function unmount(folder: string): Promise<void> {
  const { exitCode } = await Bun.$`umount ${folder}`.quiet().nothrow()
  if (exitCode !== 0) await Bun.$`umount -l ${folder}`.quiet()
}

/**
 * A PATH with the `bun` that runs the suite and otherwise only the system's programs, as `npx bun@… run` sets it for a
 * script of package.json on a machine without Bun.
 */
export async function pathLikeNpx(): Promise<string> {
  const folder = await temporaryFolder()
  await symlink(process.execPath, join(folder, 'bun'))
  return `${folder}:/usr/sbin:/usr/bin:/sbin:/bin`
}

async function removeFolder(folder: string): Promise<void> {
  // As root, the database may be elsewhere.
  const elsewhere = await realpath(join(folder, '.creel', 'postgres')).catch(() => undefined)
  if (elsewhere?.startsWith('/var/lib/creel/') === true) await rm(elsewhere, { recursive: true, force: true })
  await rm(folder, { recursive: true, force: true })
}

/** Starts the program with a command. */
export function spawnCreel(
  words: readonly string[],
  options: ProcessOptions,
): Subprocess<'ignore', 'pipe', 'pipe'> {
  const { env = {}, cwd, program = PROGRAM, database, account } = options
  const databaseEnv: Record<string, string> =
    database === undefined ? {} : { DATABASE_URL: database.url, CREEL_SECRET_KEY: TEST_SECRET_KEY }
  const command =
    account === undefined
      ? [...program, ...words]
      : [
          'setpriv',
          `--reuid=${account.uid}`,
          `--regid=${account.gid}`,
          '--clear-groups',
          ...program,
          ...words,
        ]
  return Bun.spawn(command, {
    env: {
      ...LIGHT,
      CREEL_PORT: '0',
      CREEL_LOG_LEVEL: 'warn',
      // Tests of limits need a plan that has them.
      CREEL_DEFAULT_PLAN: 'team',
      ...GATEWAYS,
      ...databaseEnv,
      ...env,
    },
    ...(cwd === undefined ? {} : { cwd }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** Runs a command of the program until it exits. */
export async function runCreel(
  words: readonly string[],
  options: ProcessOptions = {},
): Promise<CommandResult> {
  const child = spawnCreel(words, { ...options, env: { ...BRIEF, ...options.env } })
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { exitCode, stdout, stderr }
}

/**
 * Starts `creel serve` and waits for its ready line.
 *
 * @param words more of the command line, e.g. `--only jobs`
 * @throws Error with its stderr when it ends before that
 */
export async function startProcess(
  options: ProcessOptions = {},
  words: readonly string[] = [],
): Promise<RunningProcess> {
  const child = spawnCreel([options.command ?? 'serve', ...words], options)
  let errors = ''
  const read = collect(child.stderr, (text) => {
    errors += text
  })
  const exited = child.exited.then(async (code) => {
    await within(read, REST_MS_MAX)
    return code
  })
  const stop = () => {
    child.kill('SIGTERM')
    return exited
  }
  const forget = atEnd(options.database === undefined ? 'owners' : 'borrowers', stop)
  void child.exited.then(forget)
  const lines = await readyLines(child, { exited, errors: () => errors })
  const ready = lines.at(-1) ?? ''
  const afterStart = (start: string) => lines.find((line) => line.startsWith(start))?.slice(start.length)
  const key = afterStart('creel key ')
  const captureUrl = afterStart('creel endpoint ')
  return {
    pid: child.pid,
    baseUrl: /base=(\S+)/.exec(ready)?.[1] ?? '',
    captureUrl: /capture=(\S+)/.exec(ready)?.[1] ?? '',
    lines,
    first: key === undefined || captureUrl === undefined ? undefined : { key, captureUrl },
    stderr: () => errors,
    signal: (signal) => child.kill(signal),
    exited,
    stop,
  }
}

function readyLines(
  child: Subprocess<'ignore', 'pipe', 'pipe'>,
  { exited, errors }: { readonly exited: Promise<number>; readonly errors: () => string },
): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error(`creel serve was not ready within ${READY_SECONDS_MAX} s: ${errors()}`))
    }, READY_SECONDS_MAX * 1000)
    let text = ''
    void collect(child.stdout, (chunk) => {
      text += chunk
      const lines = text.split('\n')
      const at = lines.findIndex((line) => line.startsWith('creel ready'))
      if (at === -1 || at === lines.length - 1) return
      clearTimeout(timer)
      resolve(lines.slice(0, at + 1))
    })
    void exited.then((code) => {
      clearTimeout(timer)
      reject(new Error(`creel serve ended with ${code}: ${errors()}`))
    })
  })
}

async function collect(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder()
  for await (const chunk of stream) take(decoder.decode(chunk, { stream: true }))
}
