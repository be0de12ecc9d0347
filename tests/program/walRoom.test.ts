import { expect, spyOn, test } from 'bun:test'
import { readdirSync, readlinkSync } from 'node:fs'
import { type FileHandle, open, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { restFor } from '@creel/core/platform/time'
import { startEmbeddedPostgres } from '@creel/program'
import { Client } from 'pg'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/process.ts'

const quiet = { info: () => {}, warn: () => {}, error: () => {} }

async function query<Row>(url: string, text: string): Promise<Row[]> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

test('segments of the WAL are ready before sessions need them, more under load, and recovery reads past none', async () => {
  // A slow disk: sessions use segments up while others are still being made.
  using _ = await watchSyncs(() => restFor(300))
  const dataDir = join(await temporaryFolder(), '.creel')
  await using running = await start(dataDir)
  const { postgres } = running
  const folder = join(dataDir, 'postgres/cluster-18/pg_wal')
  const ahead = async () => {
    const [{ name } = { name: '' }] = await query<{ name: string }>(
      postgres.url,
      'select pg_walfile_name(pg_current_wal_lsn()) as name',
    )
    return (await readdir(folder)).filter((file) => /^[0-9A-F]{24}$/.test(file) && file > name).length
  }
  // Each query is a session of its own, which has reported when it has ended.
  const madeBySessions = async () => {
    const [row] = await query<{ made: number }>(
      postgres.url,
      `select coalesce(sum(write_bytes), 0)::int as made from pg_stat_io
      where object = 'wal' and context = 'init' and backend_type = 'client backend'`,
    )
    return row?.made
  }
  await eventually('room for the first captures', async () => (await ahead()) >= 4)
  await query(postgres.url, 'create table kept (id int)')
  const before = await madeBySessions()
  // A segment is used up: its successor is written to.
  for (let count = 1; count <= 3; count += 1) {
    await query(postgres.url, 'select pg_switch_wal()')
    await query(postgres.url, `insert into kept values (${count})`)
  }
  await eventually('room for a flood', async () => (await ahead()) >= 8)
  expect(await madeBySessions()).toBe(before)
  const crashed = postgres.pid()
  process.kill(crashed, 'SIGKILL')
  const kept = await eventually('recovery', async () => {
    if (postgres.pid() === crashed) return undefined
    return query<{ id: number }>(postgres.url, 'select id from kept order by id').catch(() => undefined)
  })
  expect(kept).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }])
  // It goes on into the segments that were made ahead.
  await query(postgres.url, 'select pg_switch_wal()')
  await query(postgres.url, 'insert into kept values (4)')
  await postgres.stop()
  expect((await readdir(folder)).filter((file) => file.startsWith('xlogtemp'))).toEqual([])
})

/** Stopped at the end of its test, failed or not: one that goes on would be seen by the test after it. */
async function start(dataDir: string) {
  const postgres = await startEmbeddedPostgres({ dataDir, log: quiet })
  return { postgres, dataDir, [Symbol.asyncDispose]: () => postgres.stop() }
}

const isSegment = (name: string) => /^[0-9A-F]{24}$/.test(name)

test('a busy process writes more at once, so that a flood does not overtake it', async () => {
  using written = await countWrites()
  await using running = await start(join(await temporaryFolder(), '.creel'))
  // As in a flood, every timer fires late.
  const busy = setInterval(() => Bun.sleepSync(20), 0)
  const folder = join(running.dataDir, 'postgres/cluster-18/pg_wal')
  const segments = async () => (await readdir(folder)).filter(isSegment).length
  try {
    await eventually('four segments', async () => (await segments()) > 4)
  } finally {
    clearInterval(busy)
  }
  // A segment has 64 pieces. More may have been made before the look.
  const count = written.count()
  expect(count).toBeLessThan(((await segments()) - 1) * 32)
})

/** The object whose methods all open files of this process have. */
async function methodsOfFiles(): Promise<FileHandle> {
  await using handle = await open(import.meta.path)
  return Object.getPrototypeOf(handle)
}

/** Counts the writes of this process to open files. */
async function countWrites() {
  const watch = spyOn(await methodsOfFiles(), 'write')
  return { count: () => watch.mock.calls.length, [Symbol.dispose]: () => watch.mockRestore() }
}

/** Watches what this process syncs: the names of files, and for folders the segments that are in them by then. */
async function watchSyncs(before?: () => Promise<unknown>) {
  const prototype = await methodsOfFiles()
  const files: string[] = []
  const folders: (readonly string[])[] = []
  const original = prototype.sync
  const watch = spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
    await before?.()
    const path = readlinkSync(`/proc/self/fd/${this.fd}`)
    if (basename(path) === 'pg_wal') folders.push(readdirSync(path).filter(isSegment))
    else files.push(path)
    return original.call(this)
  })
  return { files, folders, [Symbol.dispose]: () => watch.mockRestore() }
}

test.if(process.platform === 'linux')(
  'the name of a segment is as durable as its content before the next one is made',
  async () => {
    using synced = await watchSyncs()
    const dataDir = join(await temporaryFolder(), '.creel')
    await using running = await start(dataDir)
    await eventually('four segments', () => synced.files.length >= 4)
    await running.postgres.stop()
    expect(synced.folders).toHaveLength(synced.files.length)
    // Each sync is of another segment, and a later one.
    const newest = synced.folders.map((segments) => segments.toSorted().at(-1))
    expect(newest).toEqual([...new Set(newest)].toSorted())
  },
)
