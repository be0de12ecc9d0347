import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openDatabase } from '@creel/core'
import { BIG, LEFT, movedTables } from '@creel/core/cells/move'
import { sql } from 'kysely'
import { z } from 'zod'
import { makeSearchPages } from '../../core/src/requests/searchPages/index.ts'
import { type CellsProgram, startTwoCells, type TestCell, type TwoCells } from '../support/cells.ts'
import type { TestEndpoint } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { isWaitingForLock } from '../support/lockWaits.ts'
import { runCreel, spawnCreel } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'

/** Workspaces that move between two cells while they capture, on the real program. */

let cells: TwoCells
let program: CellsProgram
let one: TestCell
let two: TestCell

beforeAll(async () => {
  cells = await startTwoCells()
  ;({ program, one, two } = cells)
})

afterAll(() => cells.stop())

const Moved = z.looseObject({ state: z.string(), toCell: z.string(), sealedMs: z.int().nullable() })
const Counts = z.looseObject({ storage: z.looseObject({ storedRequestCount: z.int() }) })

async function creel(...words: readonly string[]) {
  return await runCreel(['workspaces', ...words], { env: program.env })
}

/** Moves a workspace. A busy machine may seal too late or copy too slowly, and leaves the move to be run again. */
async function move(workspaceId: string, cell: string) {
  for (let tries = 1; ; tries += 1) {
    const { stderr, exitCode } = await creel('move', workspaceId, '--to', cell)
    if (exitCode === 0 || stderr.includes(`is in ${cell} already`)) return
    if (tries === 5 || !/Run it again|The seal took too long|do not end|Another command moves/.test(stderr))
      throw new Error(stderr)
  }
}

async function moves(workspaceId: string) {
  const { stdout } = await creel('moves', '--json')
  const all = z.array(z.looseObject({ workspaceId: z.string(), state: z.string() })).parse(JSON.parse(stdout))
  return all.filter((move) => move.workspaceId === workspaceId)
}

/** Pause of a sender between its captures. */
const PACE_MS = 30

/** Sends numbers as a good sender does: each again until it is acknowledged. */
function sendNumbers(endpoint: TestEndpoint) {
  let isStopped = false
  let next = 0
  let pauseMs = PACE_MS
  const statuses = new Set<number>()
  const senders = Array.from({ length: 4 }, async () => {
    while (!isStopped) {
      const body = JSON.stringify({ number: next })
      next += 1
      for (;;) {
        const response = await endpoint.send({ body, headers: { 'Content-Type': 'application/json' } })
        await response.text()
        statuses.add(response.status)
        // A hundred a second: what they have sent is moved several times.
        await Bun.sleep(pauseMs)
        if (response.ok) break
      }
    }
  })
  return {
    statuses,
    sent: () => next,
    slowDown() {
      pauseMs *= 2
    },
    async stop() {
      isStopped = true
      await Promise.all(senders)
      return next
    },
  }
}

/** Reads what is new, by the id of the last one, until it is stopped and nothing is left. */
function follow(endpoint: TestEndpoint) {
  const ids: number[] = []
  let isStopped = false
  const reading = (async () => {
    for (;;) {
      const answer = await endpoint.client.get(
        endpoint.at(`/requests?afterId=${ids.at(-1) ?? 0}&pageSize=100`),
      )
      if (answer.status === 503) continue
      const { items } = z.object({ items: z.array(z.looseObject({ id: z.int() })) }).parse(answer.body)
      ids.push(...items.map(({ id }) => id).sort((a, b) => a - b))
      if (items.length === 0 && isStopped) return ids
      // The pace of a reader.
      await Bun.sleep(PACE_MS)
    }
  })()
  return {
    stop() {
      isStopped = true
      return reading
    },
  }
}

test('a workspace moves under load: nothing is lost, none comes twice, and numbers rise', async () => {
  await using receiver = await startReceiver()
  const endpoint = await one.owner.endpoint({ name: 'moving' })
  await one.owner.post(endpoint.at('/actions'), { kind: 'forward', name: 'to us', url: receiver.url })
  const sealed = await one.owner.endpoint({ name: 'sealed', encryptBodies: true })
  const noted = await sealed.capture({ body: 'sealed before' })
  await one.owner.patch(sealed.at(`/requests/${noted.id}`), { note: 'moves, too' })
  const sending = sendNumbers(endpoint)
  const following = follow(endpoint)
  await eventually('some captures', () => sending.sent() > 100)
  const moveAway = () => creel('move', one.owner.workspaceId, '--to', 'cell-2', '--json')
  let moved = await moveAway()
  // A busy machine may copy no faster than it captures, and says so.
  while (moved.stderr.includes('Run it again when less arrives.')) {
    sending.slowDown()
    moved = await moveAway()
  }
  const { stdout, stderr, exitCode } = moved
  expect(stderr).toContain('Moved.')
  expect(exitCode).toBe(0)
  expect(Moved.parse(JSON.parse(stdout))).toMatchObject({ state: 'moved', toCell: 'cell-2' })
  const before = sending.sent()
  await eventually('captures in the other cell', () => sending.sent() > before + 40)
  const sent = await sending.stop()
  const ids = await following.stop()
  expect([...sending.statuses].filter((status) => status !== 200 && status !== 503)).toEqual([])
  expect(ids).toHaveLength(sent)
  expect(ids.every((id, at) => at === 0 || id > (ids[at - 1] ?? 0))).toBe(true)
  const stats = await one.owner.expect(one.owner.get(endpoint.at('/stats')), Counts)
  expect(stats.storage.storedRequestCount).toBe(sent)
  await sealed.capture({ body: 'sealed after' })
  expect((await one.owner.get(sealed.at('/requests'))).body).toMatchObject({
    items: [
      { bodyPreview: 'sealed after', sealed: true, shredded: false },
      { bodyPreview: 'sealed before', note: 'moves, too', sealed: true, shredded: false },
    ],
  })
  await eventually('every delivery', () => receiver.received.length >= sent)
  const delivered = receiver.received.map(({ body }) => body.toString())
  expect(new Set(delivered).size).toBe(sent)
  // An attempt whose answer is not recorded when the workspace leaves is made again. A busy machine has more of them, but
  // not as many as were made before the move.
  expect(delivered.length - sent).toBeLessThan(sent / 4)

  const purge = await creel('move', one.owner.workspaceId, '--purge')
  expect(purge.stdout).toContain('purged')
  const former = openDatabase(one.database.url)
  const left = await former.db
    .selectFrom('requests')
    .select('id')
    .where('endpointId', '=', endpoint.id)
    .execute()
  await former.close()
  expect(left).toEqual([])
})

test('a move that is killed at any moment goes on, and can be ended', async () => {
  const endpoint = await two.owner.endpoint({ name: 'killed' })
  const sending = sendNumbers(endpoint)
  await eventually('some captures', () => sending.sent() > 50)
  const words = ['workspaces', 'move', two.owner.workspaceId, '--to', 'cell-1']
  const killed = spawnCreel(words, { env: program.env })
  await eventually('a move under way', async () => (await moves(two.owner.workspaceId)).length === 1)
  killed.kill('SIGKILL')
  await killed.exited
  const [first] = await moves(two.owner.workspaceId)
  if (first?.state === 'copying') {
    const ended = await creel('move', two.owner.workspaceId, '--abort')
    expect(ended.stdout).toContain('aborted')
  } else {
    // It was killed late: between the last two commits the workspace stays sealed until the move is finished.
    for (const cell of ['cell-1', 'cell-2']) await move(two.owner.workspaceId, cell)
  }
  await eventually('a capture after the seal', async () => (await endpoint.send()).status === 200)
  for (let killings = 0; killings < 2; killings += 1) {
    const again = spawnCreel(words, { env: program.env })
    const seen = sending.sent()
    await eventually('more captures', () => sending.sent() > seen + 20 * (killings + 1))
    again.kill('SIGKILL')
    await again.exited
  }
  await move(two.owner.workspaceId, 'cell-1')
  expect((await moves(two.owner.workspaceId))[0]?.state).toBe('moved')
  const sent = await sending.stop()
  const stats = await two.owner.expect(two.owner.get(endpoint.at('/stats')), Counts)
  expect(stats.storage.storedRequestCount).toBe(sent + 1)
})

test('a purge spares a workspace that has come back, and finds the cell that it left', async () => {
  const { workspaceId } = two.owner
  const endpoint = await two.owner.endpoint({ name: 'back' })
  await endpoint.capture()
  await move(workspaceId, 'cell-2')
  await move(workspaceId, 'cell-1')
  await move(workspaceId, 'cell-2')
  const purged = await creel('move', workspaceId, '--purge')
  expect(purged.stdout).toContain('purged (')
  expect(await endpoint.requests()).toHaveLength(1)
  const again = await creel('move', workspaceId, '--purge')
  expect(again.exitCode).not.toBe(0)
  expect(await endpoint.requests()).toHaveLength(1)
})

test('a move back leaves nothing of the earlier stay, and a purge beside it deletes nothing that arrives', async () => {
  const { workspaceId } = two.owner
  await move(workspaceId, 'cell-2')
  const endpoint = await two.owner.endpoint({ name: 'arriving' })
  const deleted = await two.owner.endpoint({ name: 'deleted elsewhere' })
  for (const one of [endpoint, deleted]) await one.capture()
  await move(workspaceId, 'cell-1')
  expect((await two.owner.delete(deleted.at(''))).status).toBe(204)
  const [here, there] = [openDatabase(one.database.url), openDatabase(two.database.url)]
  try {
    // The sweep takes minutes for this.
    await here.db.deleteFrom('requests').where('endpointId', '=', deleted.id).execute()
    await here.db.deleteFrom('endpoints').where('id', '=', deleted.id).execute()
    const [isHeld, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const holding = there.db.transaction().execute(async (trx) => {
      await sql`lock table workspaces in share row exclusive mode`.execute(trx)
      isHeld.resolve()
      await mayEnd.promise
    })
    await isHeld.promise
    const moving = move(workspaceId, 'cell-2')
    await eventually('the workspace that arrives', () => isWaitingForLock(there.db))
    const purged = await creel('move', workspaceId, '--purge')
    mayEnd.resolve()
    await Promise.all([holding, moving])
    expect(purged.stderr).toContain('No cell has captures left')
    expect(await endpoint.requests()).toHaveLength(1)
    const left = there.db.selectFrom('requests').select('id').where('endpointId', '=', deleted.id)
    expect(await left.execute()).toEqual([])
  } finally {
    await Promise.all([here.close(), there.close()])
  }
})

test('search pages stay behind, and the other cell makes its own', async () => {
  const { workspaceId } = two.owner
  const endpoint = await two.owner.endpoint({ name: 'paged' })
  const [first] = await endpoint.captureMany(1, { body: 'a-needle-that-moves' })
  const [here, there] = [openDatabase(two.database.url), openDatabase(one.database.url)]
  try {
    await sql`
      insert into requests (endpoint_id, id, received_at, method, path, header_names, header_values, body, size_bytes,
                            body_truncated, body_is_binary, body_preview, dispatch_state)
      select ${endpoint.id}::uuid, nextval('request_ids'), now(), 'POST', '', '', '', convert_to('hay ' || n, 'UTF8'), 9,
             false, false, '', 'NotAttempted' from generate_series(1, 8300) n`.execute(here.db)
    await sql`
      update endpoint_counters set stored_request_count = 8301, stored_bytes = 80000
      where endpoint_id = ${endpoint.id}::uuid`.execute(here.db)
    const pagesIn = async ({ db }: typeof here) => {
      await makeSearchPages({ db, clock: { now: () => new Date() } }, new AbortController().signal)
      const pages = db.selectFrom('searchPages').select('requestCount')
      return await pages.where('endpointId', '=', endpoint.id).execute()
    }
    // The scheduled run of the cell, too, deletes pages that are not in use yet: another look makes them again.
    const somePagesIn = (cell: typeof here) =>
      eventually('a page', async () => {
        const pages = await pagesIn(cell)
        return pages.length > 0 && pages
      })
    expect(await somePagesIn(here)).toEqual([{ requestCount: 8192 }])
    await move(workspaceId, 'cell-1')
    expect(await pagesIn(here)).toEqual([])
    expect(await endpoint.requests('q=A-Needle-That')).toMatchObject([{ id: first?.id }])
    expect(await somePagesIn(there)).toEqual([{ requestCount: 8192 }])
    expect(await endpoint.requests('q=A-Needle-That')).toMatchObject([{ id: first?.id }])
    expect(await endpoint.requests('q=no-needle-at-all')).toEqual([])
  } finally {
    await Promise.all([here.close(), there.close()])
  }
})

test('new captures are above those that were deleted before the move', async () => {
  const { workspaceId } = two.owner
  await move(workspaceId, 'cell-2')
  // A call with a body is refused while the gateway remembers the former cell.
  await eventually('the workspace', async () => (await two.owner.get('/api/v1/endpoints')).status === 200)
  const endpoint = await two.owner.endpoint({ name: 'purged' })
  // The cell has captured more than the other one.
  await sql`select setval('request_ids', last_value + 10000000000) from request_ids`.execute(
    cells.databases['cell-2'].db,
  )
  const [, last] = await endpoint.captureMany(2)
  const env = { env: program.env }
  const purged = await runCreel(
    ['purge', '--workspace', workspaceId, '--endpoint', endpoint.id, '--yes'],
    env,
  )
  expect(purged.exitCode).toBe(0)
  await move(workspaceId, 'cell-1')
  await eventually('a capture', async () => (await endpoint.send()).status === 200)
  expect(await endpoint.requests(`afterId=${last?.id}`)).toHaveLength(1)
})

test('ended attempts move although the other database has used the numbers of their deliveries', async () => {
  await using receiver = await startReceiver()
  const owners = [one.owner, two.owner]
  const [mine, theirs] = [
    await one.owner.endpoint({ name: 'mine' }),
    await two.owner.endpoint({ name: 'theirs' }),
  ]
  for (const [at, endpoint] of [mine, theirs].entries()) {
    const action = { kind: 'forward', name: 'to us', url: receiver.url }
    await owners[at]?.post(endpoint.at('/actions'), action)
    await endpoint.capture()
  }
  await move(one.owner.workspaceId, 'cell-1')
  await move(two.owner.workspaceId, 'cell-2')
  const [here, there] = [openDatabase(one.database.url), openDatabase(two.database.url)]
  try {
    for (const [{ db }, { id }] of [
      [here, mine],
      [there, theirs],
    ] as const) {
      const ended = db.updateTable('deliveryAttempts').set({ deliveryId: 1 }).where('endpointId', '=', id)
      await eventually('the end of the attempt', async () => {
        const { numUpdatedRows } = await ended.where('state', '=', 'Succeeded').executeTakeFirst()
        return numUpdatedRows === 1n
      })
    }
    await move(one.owner.workspaceId, 'cell-2')
    const both = there.db.selectFrom('deliveryAttempts').select('id').where('deliveryId', '=', 1)
    expect(await both.execute()).toHaveLength(2)
  } finally {
    await Promise.all([here.close(), there.close()])
  }
})

test('a watchdog keeps its deadlines: it is credited with the outages of the cell that it was in', async () => {
  const { owner } = one
  await move(owner.workspaceId, 'cell-1')
  const endpoint = await owner.endpoint()
  const watchdog = { endpointId: endpoint.id, expectedIntervalSeconds: 86_400 }
  const { id } = await owner.expect(
    owner.post('/api/v1/watchdogs', watchdog),
    z.looseObject({ id: z.string() }),
  )
  const now = Date.now()
  const outage = (from: number, to: number) => ({
    beganAt: new Date(now - from * 60_000),
    endedAt: new Date(now - to * 60_000),
  })
  const [source, target] = [cells.databases['cell-1'].db, cells.databases['cell-2'].db]
  const baselineAt = new Date(now - 3_600_000)
  await source.updateTable('watchdogs').set({ baselineAt }).where('id', '=', id).execute()
  await source.insertInto('gatewayOutages').values(outage(50, 40)).execute()
  await target.insertInto('gatewayOutages').values(outage(30, 25)).execute()
  const due = async () => Object((await owner.get(`/api/v1/watchdogs/${id}`)).body).dueAt
  const before = await due()
  expect(before).toBe(new Date(now + 86_400_000 - 50 * 60_000).toISOString())
  await move(owner.workspaceId, 'cell-2')
  await eventually('the watchdog in its new cell', async () => (await due()) !== undefined)
  expect(await due()).toBe(before)
})

test('what cannot be moved is said before anything is copied', async () => {
  const unknown = await creel('move', 'nobody', '--to', 'cell-2')
  expect(unknown.stderr).toContain('There is no workspace with the id or name "nobody".')
  const elsewhere = await creel('move', two.owner.workspaceId, '--to', 'cell-9')
  expect(elsewhere.stderr).toContain('There is no cell "cell-9".')
  const both = await creel('move', two.owner.workspaceId)
  expect(both.stderr).toContain('Give --to <cell>, --abort or --purge.')
  const still = await creel('move', one.owner.workspaceId, '--abort')
  expect(still.stderr).toContain('No move of this workspace is under way.')
})

test('every table is of a workspace, or is left with a reason', async () => {
  const database = openDatabase(two.database.url)
  try {
    const tables = await movedTables(database.db)
    const names = tables.map(({ name }) => name)
    expect(names.filter((name) => name in LEFT)).toEqual([])
    expect(names[0]).toBe('workspaces')
    for (const big of Object.keys(BIG)) expect(names).toContain(big)
  } finally {
    await database.close()
  }
})
