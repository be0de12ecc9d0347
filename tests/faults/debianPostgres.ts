import { existsSync, readdirSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from '../support/process.ts'

const VERSIONS = '/usr/lib/postgresql'

/** Folder with the programs of Debian's newest installed PostgreSQL; undefined if there is none. */
export function debianPostgresPrograms(): string | undefined {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS).sort((a, b) => Number(b) - Number(a)) : []
  return versions
    .map((version) => join(VERSIONS, version, 'bin'))
    .find((bin) => existsSync(join(bin, 'initdb')))
}

/** A separate server, on a unix socket in its folder. */
export interface DebianPostgres {
  readonly socket: string
  readonly url: string
  /** A standby; commits wait for one that is synchronous. */
  addStandby(options?: { isSynchronous?: boolean }): Promise<DebianPostgres>
  promote(): Promise<void>
  /** Starts it again after {@link kill}. */
  restart(): Promise<void>
  /** Ends it as a power failure would. */
  kill(): Promise<void>
}

/** Command prefix: as root, PostgreSQL must run under another account. */
const ACCOUNT =
  process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : []

async function run(...command: string[]): Promise<void> {
  const child = Bun.spawn([...ACCOUNT, ...command], { stdio: ['ignore', 'ignore', 'pipe'], env: {} })
  const errors = await new Response(child.stderr).text()
  if ((await child.exited) !== 0) throw new Error(`${command[0]}: ${errors}`)
}

/**
 * @param bin from {@link debianPostgresPrograms}
 * @param prepare makes files in PostgreSQL's folder, and returns further settings that name them
 */
export async function startDebianPostgres(
  bin: string,
  prepare: (folder: string) => Promise<readonly string[]> = async () => [],
): Promise<DebianPostgres> {
  const folder = await ownedFolder()
  const settings = await prepare(folder)
  const data = join(folder, 'data')
  await run(join(bin, 'initdb'), '-D', data, '-U', 'creel', '-E', 'UTF8', '--auth=trust', '--no-sync')
  if (ACCOUNT.length > 0) await Bun.$`chown -R 65534:65534 ${folder}`.quiet()
  return await startCluster(bin, folder, ['max_wal_senders=4', ...settings])
}

async function ownedFolder(): Promise<string> {
  const folder = join(await temporaryFolder(), 'postgres')
  await mkdir(folder)
  if (ACCOUNT.length > 0) await Bun.$`chown 65534:65534 ${folder}`.quiet()
  return folder
}

async function startCluster(
  bin: string,
  folder: string,
  settings: readonly string[],
): Promise<DebianPostgres> {
  const data = join(folder, 'data')
  const control = (...words: string[]) => run(join(bin, 'pg_ctl'), '-w', '-D', data, ...words)
  const options = `-c listen_addresses= -c unix_socket_directories=${folder} ${settings.map((setting) => `-c ${setting}`).join(' ')}`
  const start = () => control('-o', options, '-l', join(folder, 'log'), 'start')
  await start()
  return {
    socket: join(folder, '.s.PGSQL.5432'),
    url: `postgresql://creel@${encodeURIComponent(folder)}:5432/postgres`,
    async addStandby({ isSynchronous = true } = {}) {
      const standbyFolder = await ownedFolder()
      const standbyData = join(standbyFolder, 'data')
      await run(
        join(bin, 'pg_basebackup'),
        '-h',
        folder,
        '-U',
        'creel',
        '-D',
        standbyData,
        '-R',
        '-X',
        'stream',
        '-c',
        'fast',
      )
      const standby = await startCluster(bin, standbyFolder, ["synchronous_standby_names=''"])
      if (!isSynchronous) return standby
      await run(
        join(bin, 'psql'),
        '-qh',
        folder,
        '-U',
        'creel',
        'postgres',
        '-c',
        "alter system set synchronous_standby_names = '*'",
      )
      await control('reload')
      return standby
    },
    promote: () => control('promote'),
    restart: start,
    kill: () => control('-m', 'immediate', 'stop'),
  }
}

/** Sends a signal to a process. @returns false if it has ended meanwhile, as a session of PostgreSQL may */
export function signalProcess(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false
    throw error
  }
}
