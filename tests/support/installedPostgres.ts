import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from './process.ts'

/** The oldest PostgreSQL that the service supports, where Debian's package of it is installed. */
const BINARIES = '/usr/lib/postgresql/15/bin'

export const hasPostgres15 = existsSync(join(BINARIES, 'postgres'))

/** A server of the test's own on that PostgreSQL. */
export interface InstalledPostgres {
  readonly url: string
  stop(): Promise<void>
}

/**
 * Starts it in a folder that is removed when the test file ends, with libc's plain locale, as Debian's clusters may have.
 *
 * @throws what initdb or pg_ctl said
 */
export async function startPostgres15(): Promise<InstalledPostgres> {
  const folder = await temporaryFolder()
  const data = join(folder, 'data')
  const isRoot = process.getuid?.() === 0
  const asPostgres = isRoot ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups'] : []
  if (isRoot) await Bun.$`chown postgres:postgres ${folder}`.quiet()
  const run = async (...command: string[]) => {
    // Its output goes to a file: a pipe would stay open as long as the server that it starts.
    const output = join(folder, 'output')
    const child = Bun.spawn([...asPostgres, ...command], {
      cwd: folder,
      stdio: ['ignore', Bun.file(output), Bun.file(output)],
    })
    if ((await child.exited) !== 0) throw new Error(await readFile(output, 'utf8'))
  }
  await run(
    join(BINARIES, 'initdb'),
    '-D',
    data,
    '-U',
    'creel',
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--locale=C',
    '-N',
  )
  const options = `-c listen_addresses='' -c unix_socket_directories=${folder} -c fsync=off -c shared_buffers=32MB`
  await run(join(BINARIES, 'pg_ctl'), '-D', data, '-w', '-o', options, '-l', join(folder, 'log'), 'start')
  return {
    url: `postgresql://creel@${encodeURIComponent(folder)}:5432/postgres`,
    stop: () => run(join(BINARIES, 'pg_ctl'), '-D', data, '-w', '-m', 'immediate', 'stop'),
  }
}
