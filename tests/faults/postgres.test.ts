import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@creel/program'
import pg from 'pg'
import { eventually } from '../support/eventually.ts'
import { prepareDataFolder, preparedFolder, temporaryDisk } from '../support/process.ts'
import { debianPostgresPrograms, signalProcess, startDebianPostgres } from './debianPostgres.ts'
import { expectNothingLost } from './findings.ts'
import { createRandom } from './random.ts'
import { openWorld, type WorldOptions } from './world.ts'

const quiet = { info: () => {}, warn: () => {}, error: () => {} }
/** Size of a disk that has room for a cluster and its log, and is soon full. */
const DISK_MEGABYTES = 512
/** Light traffic: these faults are about Postgres, not about load. */
const light = { gateways: 1, senders: { parallel: 3, pauseMs: 20 } } satisfies Partial<WorldOptions>

function worldOn(databaseUrl: string, options: Partial<WorldOptions> = {}) {
  return openWorld({ random: createRandom(1), databaseUrl, ...light, ...options })
}

const disk = await temporaryDisk(DISK_MEGABYTES)
const programs = debianPostgresPrograms()

describe('Postgres in trouble', () => {
  test('stopped in its tracks for a while (SIGSTOP), then out of connections: senders wait or are told 503; a gateway that has its own goes on, one that starts meanwhile comes up later', async () => {
    const postgres = await startEmbeddedPostgres({
      dataDir: join(await preparedFolder(), '.creel'),
      log: quiet,
    })
    try {
      await using world = await worldOn(postgres.url, { gateways: 2 })
      await world.acknowledgedMore(20)
      const all = [postgres.pid(), ...childrenOf(postgres.pid())]
      const processes = all.filter((pid) => signalProcess(pid, 'SIGSTOP'))
      // The length of the stop.
      await Bun.sleep(2_000)
      for (const pid of processes) process.kill(pid, 'SIGCONT')
      await world.acknowledgedMore(20)

      const hoard = await takeAllConnections(postgres.url)
      await world.gateways[1]?.kill()
      await world.acknowledgedMore(20)
      await Promise.all(hoard.map((client) => client.end()))
      await world.gateways[1]?.up()
      await world.acknowledgedMore(20)
      expectNothingLost(await world.settle())
    } finally {
      await postgres.stop()
    }
  })

  test.skipIf(disk === undefined)(
    'out of disk: senders are told 503, and captures go on when there is room again',
    async () => {
      const folder = disk ?? ''
      const dataDir = join(folder, 'data')
      await prepareDataFolder(dataDir)
      const postgres = await startEmbeddedPostgres({ dataDir, log: quiet })
      try {
        await using world = await worldOn(postgres.url)
        await world.acknowledgedMore(20)
        const ballast = join(folder, 'ballast')
        await fill(ballast)
        // Senders that get little processor time need minutes to fill the log's last segment.
        await eventually('refusals with 503', () => (world.ledger.refusals.get(503) ?? 0) >= 5, {
          seconds: 500,
        })
        await rm(ballast)
        await world.acknowledgedMore(20)
        expectNothingLost(await world.settle())
      } finally {
        await postgres.stop()
      }
    },
  )

  test.skipIf(programs === undefined)(
    'a primary that dies and a synchronous standby that takes over: nothing acknowledged is lost',
    async () => {
      const primary = await startDebianPostgres(programs ?? '')
      const standby = await primary.addStandby()
      const hosts = [standby, primary].map(({ url }) => new URL(url).host)
      try {
        // The standby is first, so that a connection to the first host alone would not do.
        await using world = await worldOn(
          `postgres://creel@${hosts.join()}/postgres?target_session_attrs=read-write`,
        )
        await world.acknowledgedMore(50)
        await primary.kill()
        await standby.promote()
        await world.acknowledgedMore(50)
        expectNothingLost(await world.settle())
      } finally {
        await standby.kill()
      }
    },
  )
})

/** Processes whose parent is `pid`. */
function childrenOf(pid: number): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const [, parent] = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${name}/status`, 'utf8')) ?? []
      return Number(parent) === pid ? [Number(name)] : []
    } catch {
      // It has ended meanwhile.
      return []
    }
  })
}

async function takeAllConnections(url: string): Promise<pg.Client[]> {
  const taken: pg.Client[] = []
  for (;;) {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => {})
    try {
      await client.connect()
      taken.push(client)
    } catch (error) {
      expect(error).toMatchObject({ code: '53300' })
      return taken
    }
  }
}

/** Writes a file until the disk is full. */
async function fill(file: string): Promise<void> {
  const handle = await open(file, 'w')
  try {
    for (let bytes = 1 << 20; bytes >= 4096; bytes >>= 4) {
      try {
        for (;;) await handle.write(Buffer.alloc(bytes))
      } catch (error) {
        expect(error).toMatchObject({ code: 'ENOSPC' })
      }
    }
  } finally {
    await handle.close()
  }
}
