import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findEmbeddedPostgres, startEmbeddedPostgres } from '@creel/program'
import { Client } from 'pg'
import { eventually } from '../support/eventually.ts'
import { preparedFolder, temporaryDisk, temporaryFolder } from '../support/process.ts'

/** The module that a child loads, instead of the whole program. */
const EMBEDDED = join(import.meta.dir, '../../creel/src/embeddedPostgres/index.ts')

const quiet = { info: () => {}, warn: () => {}, error: () => {} }

async function start(dataDir: string) {
  return startEmbeddedPostgres({ dataDir, log: quiet })
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2000 })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

/** Retries a query until it works, since PostgreSQL restarts. */
function queryWhenBack(url: string, text: string): Promise<unknown[]> {
  return eventually('an answer of PostgreSQL', () => query(url, text).catch(() => undefined))
}

/** Starts a child of the suite that owns a data folder until it is killed. */
function spawnOwner(dataDir: string, version = '') {
  const script = `
    const program = await import(${JSON.stringify(EMBEDDED)})
    const log = { info() {}, warn() {}, error() {} }
    const installed = await program.packageRuntime()
    const runtime = { ...installed, version: installed.version + ${JSON.stringify(version)} }
    const postgres = await program.startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)}, log, runtime })
    console.log(JSON.stringify({ url: postgres.url, pid: postgres.pid() }))
    setInterval(() => {}, 1000)`
  return Bun.spawn([process.execPath, '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  for await (const chunk of stream) return new TextDecoder().decode(chunk)
  throw new Error('The owner ended before it was ready.')
}

const small = await temporaryDisk(12)

describe('the embedded PostgreSQL', () => {
  // Needs permission to mount a disk.
  test.if(small !== undefined)('says that its disk is full, and names no other service', async () => {
    const dataDir = join(small ?? '', '.creel')
    expect(start(dataDir)).rejects.toThrow(
      /^PostgreSQL cannot be unpacked into .*\. It needs about 60 MB of free disk\.$/,
    )
    await start(dataDir).catch(() => undefined)
    await rm(join(dataDir, 'postgres'), { recursive: true, force: true })
    await writeFile(join(dataDir, 'filling'), new Uint8Array(20_000_000)).catch(() => undefined)
    expect(start(dataDir)).rejects.toThrow(/cannot be written: .*its disk has room\.$/)
    await start(dataDir).catch(() => undefined)
  })

  test('is version 18, in UTF-8 with the built-in C.UTF-8, durable, and on a unix socket alone', async () => {
    const postgres = await start(join(await temporaryFolder(), '.creel'))
    const [settings] = await query(
      postgres.url,
      `select current_setting('server_version_num')::int / 10000 as major, datlocprovider as provider,
              datlocale as locale, pg_encoding_to_char(encoding) as encoding,
              current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
              current_setting('full_page_writes') as pages, current_setting('listen_addresses') as addresses,
              current_setting('data_checksums') as checksums
       from pg_database where datname = current_database()`,
    )
    expect(settings).toEqual({
      major: 18,
      provider: 'b',
      locale: 'C.UTF-8',
      encoding: 'UTF8',
      fsync: 'on',
      commit: 'on',
      pages: 'on',
      addresses: '',
      checksums: 'on',
    })
    await postgres.stop()
  })

  test('has one owner; others find it through the data folder', async () => {
    const dataDir = join(await preparedFolder(), '.creel')
    const postgres = await start(dataDir)
    await expect(start(dataDir)).rejects.toThrow(`process ${process.pid}`)
    expect(await findEmbeddedPostgres(dataDir)).toBe(postgres.url)
    await postgres.stop()
    expect(await findEmbeddedPostgres(dataDir)).toBeUndefined()
    const again = await start(dataDir)
    expect(again.adopted).toBe(false)
    await again.stop()
  })

  test('is not found while its mark is half written', async () => {
    const dataDir = join(await preparedFolder(), '.creel')
    const postgres = await start(dataDir)
    const mark = join(dataDir, 'postgres', 'cluster-18', 'postmaster.pid')
    const whole = await readFile(mark, 'utf8')
    await writeFile(mark, whole.split('\n').slice(0, 2).join('\n'))
    expect(await findEmbeddedPostgres(dataDir)).toBeUndefined()
    await writeFile(mark, whole)
    expect(await findEmbeddedPostgres(dataDir)).toBe(postgres.url)
    await postgres.stop()
  })

  test('outlives an owner that is killed, and is adopted by the next', async () => {
    const dataDir = join(await preparedFolder(), '.creel')
    const owner = spawnOwner(dataDir)
    const { url, pid } = JSON.parse(await firstLine(owner.stdout))
    await query(url, 'create table kept (a int)')
    owner.kill('SIGKILL')
    await owner.exited
    const adopted = await start(dataDir)
    expect({ adopted: adopted.adopted, pid: adopted.pid(), url: adopted.url }).toEqual({
      adopted: true,
      pid,
      url,
    })
    expect(await query(adopted.url, 'select * from kept')).toEqual([])
    await adopted.stop()
    await expect(query(url, 'select 1')).rejects.toThrow()
  })

  test('of another version is not adopted but stopped, and its cluster goes on under ours', async () => {
    const dataDir = join(await preparedFolder(), '.creel')
    const owner = spawnOwner(dataDir, '-older')
    const { url, pid } = JSON.parse(await firstLine(owner.stdout))
    await query(url, 'create table kept (a int)')
    owner.kill('SIGKILL')
    await owner.exited
    const upgraded = await start(dataDir)
    expect(upgraded.adopted).toBe(false)
    expect(upgraded.pid()).not.toBe(pid)
    expect(await query(upgraded.url, 'select * from kept')).toEqual([])
    await upgraded.stop()
  })

  test('is started again when it dies, and has everything that it had committed', async () => {
    const postgres = await start(join(await preparedFolder(), '.creel'))
    await query(postgres.url, 'create table kept as select generate_series(1, 1000) as a')
    const died = postgres.pid()
    process.kill(died, 'SIGKILL')
    expect(await queryWhenBack(postgres.url, 'select count(*)::int as count from kept')).toEqual([
      { count: 1000 },
    ])
    expect(postgres.pid()).not.toBe(died)
    await postgres.stop()
  })

  test('recovers when it and its owner were killed together', async () => {
    const dataDir = join(await preparedFolder(), '.creel')
    const owner = spawnOwner(dataDir)
    const { url, pid } = JSON.parse(await firstLine(owner.stdout))
    await query(url, 'create table kept as select 1 as a')
    owner.kill('SIGKILL')
    process.kill(pid, 'SIGKILL')
    await owner.exited
    const postgres = await start(dataDir)
    expect(postgres.adopted).toBe(false)
    expect(await query(postgres.url, 'select a from kept')).toEqual([{ a: 1 }])
    await postgres.stop()
  })

  test('is not kept from starting by a stale mark whose process number is another’s by now', async () => {
    const dataDir = join(await preparedFolder(), '.creel')
    const first = await start(dataDir)
    const mark = join(dataDir, 'postgres', 'cluster-18', 'postmaster.pid')
    const lines = (await readFile(mark, 'utf8')).split('\n')
    await first.stop()
    // As after a reboot, or in a container: the number is that of a live process which is not a postmaster.
    await writeFile(mark, [String(process.pid), ...lines.slice(1)].join('\n'))
    const again = await start(dataDir)
    expect(again.adopted).toBe(false)
    await again.stop()
  })

  test('takes the folder of its socket away, also where a long path puts that outside of the data folder', async () => {
    const dataDir = join(await temporaryFolder(), 'long'.repeat(20))
    const postgres = await start(dataDir)
    const socketFolder = decodeURIComponent(new URL(postgres.url).hostname)
    expect(socketFolder).toStartWith('/tmp/creel-')
    expect(existsSync(socketFolder)).toBe(true)
    await postgres.stop()
    expect(existsSync(socketFolder)).toBe(false)
  })

  test('begins anew where a first start was killed half-way', async () => {
    const dataDir = join(await temporaryFolder(), '.creel')
    await (await start(dataDir)).stop()
    const home = join(dataDir, 'postgres')
    await rm(join(home, 'cluster-18'), { recursive: true })
    await mkdir(join(home, 'cluster-18.unfinished'))
    await writeFile(join(home, 'cluster-18.unfinished', 'PG_VERSION'), '18\n')
    const postgres = await start(dataDir)
    expect(await query(postgres.url, 'select 1 as one')).toEqual([{ one: 1 }])
    await postgres.stop()
  })

  test('mends binaries that are not whole, and removes those of another version', async () => {
    const dataDir = join(await preparedFolder(), '.creel')
    await (await start(dataDir)).stop()
    const home = join(dataDir, 'postgres')
    const [runtime = ''] = (await readdir(home)).filter((name) => name.startsWith('runtime-'))
    const binary = join(home, runtime, 'bin', 'postgres')
    // A process that has just ended may still use the file, so a new file is written.
    await rm(binary)
    await writeFile(binary, 'cut off')
    await mkdir(join(home, 'runtime-17.0-old'))
    await (await start(dataDir)).stop()
    expect((await readdir(home)).filter((name) => name.startsWith('runtime-'))).toEqual([runtime])
  })
})
