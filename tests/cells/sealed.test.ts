import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sweepImports } from '@creel/core/exports'
import { sql } from 'kysely'
import { pino } from 'pino'
import { z } from 'zod'
import { Agent, browserOf, callMcp } from '../oauth/agent.ts'
import { TestBrowser } from '../support/browser.ts'
import {
  type CellName,
  type CellsProgram,
  startTwoCells,
  type TestCell,
  type TwoCells,
} from '../support/cells.ts'
import type { Client, TestEndpoint } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { holdOpen, holdUpWrites } from '../support/heldWrites.ts'
import { countLockWaits, isWaitingForLock } from '../support/lockWaits.ts'
import { runCreel, spawnCreel, temporaryFolder } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'

/** Calls and commands for a workspace while a move has sealed it, and just after. */

let cells: TwoCells
let program: CellsProgram
let one: TestCell
let two: TestCell
let databases: TwoCells['databases']

beforeAll(async () => {
  // No sweep waits for the locks that tests hold, with writes for which a move waits.
  cells = await startTwoCells('--only', 'gateway')
  ;({ program, one, two, databases } = cells)
})

afterAll(() => cells.stop())

const creel = (...words: readonly string[]) => runCreel(words, { env: program.env })
const wordsOf = ({ workspaceId }: Client, to: CellName) => ['workspaces', 'move', workspaceId, '--to', to]

/** Waits until the gateway knows where a workspace is. */
const isServed = (owner: Client) =>
  eventually('the workspace', async () => (await owner.get('/api/v1/endpoints')).status === 200)

/** Holds up the seal of the next move from a cell. */
const holdUpSeal = (from: CellName) =>
  holdUpWrites(
    databases[from].db,
    'update on workspaces',
    'old.sealed_until is null and new.sealed_until is not null',
  )

/** Holds up the end of the next move to a cell: all is copied then, and the workspace is sealed. */
const holdUpArrival = (to: CellName) =>
  holdUpWrites(
    databases[to].db,
    'update on workspaces',
    'old.sealed_until is not null and new.sealed_until is null',
  )

const NDJSON = { 'Content-Type': 'application/x-ndjson' }

/** More bytes a second than a body must have after its grace period, however long a busy machine takes. */
const FILLER = Buffer.alloc(4096, ' ')

/** Sends the beginning of a call, and waits until its key was accepted. Its result sends the rest. */
async function beginCall(owner: Client, from: CellName, path: string, body: object, headers = {}) {
  // With its start: the count of a new window is lower.
  const windows = async () =>
    JSON.stringify(
      await databases[from].db
        .selectFrom('apiKeyWindows')
        .select(['apiKeyId', 'startedAt', 'callCount'])
        .orderBy('apiKeyId')
        .execute(),
    )
  const before = await windows()
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const answer = owner.post(path, undefined, { rawBody: readable, headers })
  const bytes = Buffer.from(JSON.stringify(body))
  await writer.write(bytes.subarray(0, 1))
  const filling = setInterval(() => writer.write(FILLER).catch(() => clearInterval(filling)), 1000)
  await eventually('the call', async () => (await windows()) !== before)
  return async () => {
    clearInterval(filling)
    await writer.write(bytes.subarray(1))
    await writer.close()
    return await answer
  }
}

const Link = z.looseObject({ url: z.string() })
const Named = z.looseObject({ items: z.array(z.looseObject({ name: z.string() })) })

test('what is changed under the seal is refused, so that nothing acknowledged stays behind', async () => {
  const { owner } = one
  const names = async (path: string) =>
    (await owner.expect(owner.get(path), Named)).items.map(({ name }) => name)
  const link = (await owner.expect(owner.post('/api/v1/sign-in-links'), Link)).url.split('#')[1]
  const browser = await browserOf(owner)
  const byLink = new TestBrowser(program.process)
  await using agent = await Agent.start(program.process)
  const code = await agent.code(browser)

  await using seal = await holdUpSeal('cell-1')
  await using arrival = await holdUpArrival('cell-2')
  const moving = creel(...wordsOf(owner, 'cell-2'))
  await seal.arrived()
  const ends = await beginCall(owner, 'cell-1', '/api/v1/endpoints', { name: 'ends under the seal' })
  const endsLater = await beginCall(owner, 'cell-1', '/api/v1/endpoints', { name: 'ends after the move' })
  await seal.release()
  await arrival.arrived()
  const refused = {
    call: (await ends()).status,
    signIn: (await byLink.signIn({ link })).status,
    signOut: (await browser.call('DELETE', '/console/session')).status,
    exchange: (await agent.exchange(code)).status,
  }
  const key = await creel('key', 'create', '--workspace', owner.workspaceId, '--name', 'by command')
  await arrival.release()
  const moved = await moving
  // At once, while the gateway still remembers the former cell.
  const signOut = await browser.call('DELETE', '/console/session')
  const { status, body } = await agent.exchange(code)
  const later = await endsLater()

  expect(refused).toEqual({ call: 503, signIn: 503, signOut: 503, exchange: 503 })
  expect(key.stderr).toContain('The workspace is being moved. Try again in a moment.')
  expect([key.exitCode, key.stdout]).toEqual([1, ''])
  expect(moved.exitCode).toBe(0)
  expect(signOut.status).toBe(204)
  expect((await browser.query('endpoints.list')).status).toBe(401)
  expect(status).toBe(200)
  expect((await callMcp(program.process, body.access_token)).status).toBe(200)
  expect(later.status).toBe(503)
  await eventually('a sign-in', async () => (await byLink.signIn({ link })).status === 204)
  expect((await byLink.query('endpoints.list')).status).toBe(200)
  expect(await names('/api/v1/endpoints')).toEqual(['old'])
  expect(await names('/api/v1/keys')).not.toContain('by command')
})

test('a switch in doubt is finished, wherever its cells are in the file', async () => {
  const { owner } = two
  await using leaving = await holdUpWrites(databases['cell-2'].db, 'delete on workspaces')
  const killed = spawnCreel(wordsOf(owner, 'cell-1'), { env: program.env })
  await leaving.arrived()
  killed.kill('SIGKILL')
  await killed.exited
  await leaving.breakOff()
  await leaving.release()
  const aborted = await creel('workspaces', 'move', owner.workspaceId, '--abort')
  expect(aborted.stderr).toContain('The target has the workspace already: finish the move.')
  const finished = await creel(...wordsOf(owner, 'cell-1'))
  expect(finished.stderr).toContain('The target has the workspace: the source lets it go.')
  expect(finished.exitCode).toBe(0)
  await isServed(owner)
  expect((await creel(...wordsOf(owner, 'cell-2'))).exitCode).toBe(0)
  await isServed(owner)
})

test('a workspace whose rows take longer to look at than a seal lasts is not sealed', async () => {
  const { owner } = two
  const [source, target] = [databases['cell-2'].db, databases['cell-1'].db]
  const endpoint = await owner.endpoint({ name: 'large' })
  // While this transaction is open, each pass copies what was captured after it began.
  await using older = holdOpen(source, (trx) => sql`select pg_current_xact_id()`.execute(trx))
  await older.isOpen
  await endpoint.capture()
  await sql`create sequence passes`.execute(target)
  // The first copy, the pass that begins the arrival, and then the last pass before the seal.
  await sql
    .raw(
      `create function slow_pass() returns trigger language plpgsql as
        'begin perform pg_sleep(case nextval(''passes'') when 3 then 20 else 0 end); return new; end';
      create trigger slow_pass before insert on requests for each row execute function slow_pass()`,
    )
    .execute(target)
  const moved = await creel(...wordsOf(owner, 'cell-1'))
  await sql.raw('drop function slow_pass cascade; drop sequence passes').execute(target)
  expect(moved.stderr).toContain('longer than it may be sealed')
  const ended = await creel('workspaces', 'move', owner.workspaceId, '--abort')
  expect(ended.stdout).toContain('aborted')
  expect(await endpoint.requests()).toHaveLength(1)
})

test('a move to a cell that is not in the file any more is aborted', async () => {
  const { owner } = two
  const endpoint = await owner.endpoint({ name: 'stays' })
  await endpoint.capture()
  const copy = await holdUpWrites(databases['cell-1'].db, 'insert on requests')
  const killed = spawnCreel(wordsOf(owner, 'cell-1'), { env: program.env })
  await copy.arrived()
  killed.kill('SIGKILL')
  await killed.exited
  await copy.breakOff()
  await copy.release()
  const left = { name: 'cell-2', number: 2, databaseUrl: two.database.url }
  const file = join(await temporaryFolder(), 'cells.json')
  await writeFile(file, JSON.stringify({ cells: [left] }))
  const env = { ...program.env, CREEL_CELLS_FILE: file }
  const ended = await runCreel(['workspaces', 'move', owner.workspaceId, '--abort'], { env })
  expect(ended.stdout).toContain('aborted')
  expect(ended.exitCode).toBe(0)
  expect(await endpoint.requests()).toHaveLength(1)
})

/** Locks the counters of an endpoint, for which an import waits, until it is released. */
const lockCounters = (cell: CellName, endpointId: string) =>
  holdOpen(databases[cell].db, (trx) =>
    trx
      .selectFrom('endpointCounters')
      .where('endpointId', '=', endpointId)
      .select('endpointId')
      .forUpdate()
      .execute(),
  )

const LINE = {
  receivedAt: new Date().toISOString(),
  method: 'POST',
  path: '',
  queryString: '',
  headers: [],
  body: '',
}

/**
 * Imports one line into an endpoint of the second cell. Its import is accepted, but nothing is stored until the result is
 * released.
 *
 * @returns also how many imports there were: one that was stored before the lock was granted is followed by another
 */
async function beginImport(owner: Client, into: TestEndpoint) {
  const { db } = databases['cell-2']
  for (let count = 1; ; count += 1) {
    const first = lockCounters('cell-2', into.id)
    await first.isOpen
    const importing = owner.post(into.at('/requests/import'), LINE, { headers: NDJSON })
    await eventually('the import', () => isWaitingForLock(db))
    // It is asked for after the import is accepted and, unless the import is quicker, before it is stored.
    const second = lockCounters('cell-2', into.id)
    await eventually('the second lock', async () => (await countLockWaits(db)) === 2)
    await first.release()
    await second.isOpen
    const staged = await db.selectFrom('importBatches').select('importId').execute()
    if (staged.length > 0) return { ...second, importing, count }
    await second.release()
    await importing
  }
}

const Stats = z.looseObject({ storage: z.looseObject({ storedRequestCount: z.int() }) })

test('replays and imports are refused under the seal; an import that was accepted ends in the other cell', async () => {
  const { owner } = two
  await using receiver = await startReceiver()
  const endpoint = await owner.endpoint({ name: 'replayed' })
  const { id } = await endpoint.capture()
  await owner.post(endpoint.at('/actions'), { kind: 'forward', name: 'to us', url: receiver.url })
  const into = await owner.endpoint({ name: 'imported into' })
  const target = databases['cell-1'].db
  await using accepted = await beginImport(owner, into)

  await using seal = await holdUpSeal('cell-2')
  await using arrival = await holdUpArrival('cell-1')
  const moving = creel(...wordsOf(owner, 'cell-1'))
  await seal.arrived()
  const begin = (path: string, body: object) => beginCall(owner, 'cell-2', endpoint.at(path), body)
  const bulkReplay = await begin('/requests/bulk-replay', { requestIds: [id] })
  const replay = await begin(`/requests/${id}/replay`, {})
  const another = await beginCall(owner, 'cell-2', into.at('/requests/import'), LINE, NDJSON)
  await seal.release()
  await arrival.arrived()
  const replays = await Promise.all([bulkReplay(), replay()])
  await accepted.release()
  const imported = await accepted.importing
  const refused = [...replays, await another()].map(({ status }) => status)
  await arrival.release()
  const moved = await moving
  expect(refused).toEqual([503, 503, 503])
  expect(imported).toMatchObject({ status: 200, body: { importedCount: 1, firstId: null, lastId: null } })
  expect(moved.exitCode).toBe(0)
  expect(receiver.received).toEqual([])
  // As the sweep does a minute later.
  await target.updateTable('imports').set({ dueAt: new Date() }).execute()
  const actor = { kind: 'service', id: null, name: 'test', address: null } as const
  const log = pino({ level: 'silent' })
  await sweepImports(
    { db: target, clock: { now: () => new Date() }, actor, log },
    new AbortController().signal,
  )
  const counts = [endpoint, into].map(async (one) => {
    const stats = await owner.expect(owner.get(one.at('/stats')), Stats)
    return stats.storage.storedRequestCount
  })
  expect(await Promise.all(counts)).toEqual([1, accepted.count])
})

test('what waits for the source to let the workspace go is refused', async () => {
  const { owner } = two
  const endpoint = await owner.endpoint({ name: 'let go' })
  const { id } = await endpoint.capture()
  const source = databases['cell-1'].db
  const remove = await beginCall(owner, 'cell-1', endpoint.at('/requests/bulk-delete'), { requestIds: [id] })
  await using leaving = await holdUpWrites(source, 'delete on workspaces')
  const moving = creel(...wordsOf(owner, 'cell-2'))
  await leaving.arrived()
  const removing = remove()
  await eventually('the call', async () => (await countLockWaits(source)) === 2)
  await leaving.release()
  expect((await removing).status).toBe(503)
  expect((await moving).exitCode).toBe(0)
  await isServed(owner)
  expect((await endpoint.requests()).map((row) => row.id)).toEqual([id])
})
