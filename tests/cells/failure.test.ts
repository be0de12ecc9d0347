import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openDatabase } from '@creel/core'
import { migrate } from '@creel/migrations'
import {
  type DebianPostgres,
  debianPostgresPrograms,
  signalProcess,
  startDebianPostgres,
} from '../faults/debianPostgres.ts'
import { type CellsProgram, startCells, type TestCell } from '../support/cells.ts'
import type { TestEndpoint } from '../support/client.ts'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'

/** Two cells, one of which is on a server of its own that dies, or hangs. */

const programs = debianPostgresPrograms()

let postgres: DebianPostgres
let program: CellsProgram
let safe: TestCell
let doomed: TestCell
let endpoints: { readonly safe: TestEndpoint; readonly doomed: TestEndpoint }

beforeAll(async () => {
  if (programs === undefined) return
  postgres = await startDebianPostgres(programs)
  const database = openDatabase(postgres.url)
  await migrate(database.db)
  await database.close()
  const ofDoomed = { url: postgres.url, drop: async () => {} }
  program = await startCells([await createTestDatabase(), ofDoomed])
  const [first, second] = program.cells
  if (first === undefined || second === undefined) throw new Error('There are no cells.')
  safe = first
  doomed = second
  endpoints = { safe: await safe.owner.endpoint(), doomed: await doomed.owner.endpoint() }
})

afterAll(async () => {
  if (programs === undefined) return
  await program.process.stop()
  await postgres.kill()
})

const pidFile = () => join(dirname(postgres.socket), 'data/postmaster.pid')

/** Processes of the doomed cell's server. */
function serverProcesses(): number[] {
  const pid = Number(readFileSync(pidFile(), 'utf8').split('\n')[0])
  const children = readdirSync('/proc').flatMap((name) => {
    try {
      const status = /^\d+$/.test(name) ? readFileSync(`/proc/${name}/status`, 'utf8') : ''
      return Number(/^PPid:\s+(\d+)$/m.exec(status)?.[1]) === pid ? [Number(name)] : []
    } catch {
      // It has ended meanwhile.
      return []
    }
  })
  return [pid, ...children]
}

function signal(name: NodeJS.Signals): readonly number[] {
  const pids = serverProcesses()
  return pids.filter((pid) => signalProcess(pid, name))
}

/** Sends one capture after the other, each with a number as its body, until it is stopped. */
function sendTo(endpoint: TestEndpoint) {
  const statuses = new Map<number, number>()
  const acknowledged: string[] = []
  let isStopped = false
  const sending = (async () => {
    for (let at = 0; !isStopped; at += 1) {
      const { status } = await endpoint.send({ body: `number-${at}.` })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status === 200) acknowledged.push(`number-${at}.`)
      else await Bun.sleep(5)
    }
  })()
  return {
    statuses,
    acknowledged,
    async stop() {
      isStopped = true
      await sending
    },
  }
}

const stored = async (endpoint: TestEndpoint) => {
  const { body } = await endpoint.client.get(`${endpoint.at('/requests')}?pageSize=1`)
  return body
}

describe.skipIf(programs === undefined)('the server of a cell', () => {
  test('that hangs delays no caller of another cell, whose key names no cell', async () => {
    signal('SIGSTOP')
    try {
      expect((await safe.owner.get('/api/v1/endpoints')).status).toBe(200)
      expect((await fetch(safe.oldUrl, { method: 'POST' })).status).toBe(200)
    } finally {
      signal('SIGCONT')
    }
    await eventually('a capture', async () => (await endpoints.doomed.send()).status === 200)
  })

  test('that is killed under load: 503 for its senders only, and everything acknowledged is there afterwards', async () => {
    const { totalCount: before } = (await stored(endpoints.doomed)) as { totalCount: number }
    expect(before).toBeGreaterThan(0)
    const loads = { safe: sendTo(endpoints.safe), doomed: sendTo(endpoints.doomed) }
    await eventually('captures in both cells', () =>
      [loads.safe, loads.doomed].every(({ acknowledged }) => acknowledged.length >= 20),
    )
    const killed = signal('SIGKILL')
    await eventually('senders that are told 503', () => (loads.doomed.statuses.get(503) ?? 0) >= 5)
    const sentMeanwhile = loads.safe.acknowledged.length
    await eventually('captures in the other', () => loads.safe.acknowledged.length >= sentMeanwhile + 20)
    await eventually('the end of its processes', () => killed.every((pid) => !existsSync(`/proc/${pid}`)))
    await postgres.restart()
    const acknowledgedBefore = loads.doomed.acknowledged.length
    await eventually('captures again', () => loads.doomed.acknowledged.length >= acknowledgedBefore + 20)
    await Promise.all([loads.safe.stop(), loads.doomed.stop()])

    expect([...loads.safe.statuses.keys()]).toEqual([200])
    expect([...loads.doomed.statuses.keys()].sort()).toEqual([200, 503])
    expect(await stored(endpoints.safe)).toMatchObject({ totalCount: loads.safe.acknowledged.length })
    const { totalCount } = (await stored(endpoints.doomed)) as { totalCount: number }
    // A capture of the moment may be stored without an answer.
    expect(totalCount).toBeGreaterThanOrEqual(before + loads.doomed.acknowledged.length)
    expect(totalCount).toBeLessThanOrEqual(before + 1 + loads.doomed.acknowledged.length)
  })
})
