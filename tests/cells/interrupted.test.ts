import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { z } from 'zod'
import {
  type CellName,
  type CellsProgram,
  startTwoCells,
  type TestCell,
  type TwoCells,
} from '../support/cells.ts'
import { eventually } from '../support/eventually.ts'
import { holdOpen, holdUpWrites } from '../support/heldWrites.ts'
import { runCreel, spawnCreel } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'

const Made = z.looseObject({ id: z.string() })

/** Moves of workspaces that something slow, large or deleted comes in the way of. */

let cells: TwoCells
let program: CellsProgram
let one: TestCell
let two: TestCell
let databases: TwoCells['databases']

beforeAll(async () => {
  cells = await startTwoCells()
  ;({ program, one, two, databases } = cells)
})

afterAll(() => cells.stop())

const wordsOf = (workspaceId: string, to: CellName) => ['workspaces', 'move', workspaceId, '--to', to]

/** Moves a workspace, and waits until the gateway knows where it is. */
async function move({ owner }: TestCell, to: CellName) {
  const ended = await runCreel(wordsOf(owner.workspaceId, to), { env: program.env })
  await eventually('the workspace', async () => (await owner.get('/api/v1/endpoints')).status === 200)
  return ended
}

const count = async (cell: CellName, text: ReturnType<typeof sql<{ count: number }>>) =>
  (await text.execute(databases[cell].db)).rows[0]?.count ?? 0

const holdUp = (cell: CellName, write: Parameters<typeof holdUpWrites>[1], condition?: string) =>
  holdUpWrites(databases[cell].db, write, condition)

/** Waits until a move has copied what is small, and waits for the transactions that write in a cell. */
const waitsForWriters = (cell: CellName) =>
  eventually('a move that waits', async () => {
    const looks = sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and query like '%virtualxid = any%'`
    return (await count(cell, looks)) > 0
  })

test('a workspace moves while a receiver does not answer', async () => {
  await using receiver = await startReceiver(() => undefined)
  const endpoint = await two.owner.endpoint({ name: 'hanging' })
  await two.owner.post(endpoint.at('/actions'), {
    kind: 'forward',
    name: 'hanging',
    url: receiver.url,
    delivery: { timeoutSeconds: 120 },
  })
  await endpoint.capture()
  await receiver.take(1)
  const { stderr, exitCode } = await move(two, 'cell-1')
  expect(stderr).toContain('Moved.')
  expect(exitCode).toBe(0)
  const { body } = await two.owner.get(endpoint.at('/deliveries'))
  expect(Object(body).items).toHaveLength(1)
  // Its lease of six timeouts is that of the former cell, as is its worker.
  const late = sql<{
    count: number
  }>`select count(*)::int as count from delivery_attempts where endpoint_id = ${endpoint.id}
    and state = 'Pending' and worker_id is null and lease_until <= now() + interval '120 s'`
  expect(await count('cell-1', late)).toBe(1)
})

test('endpoints that are deleted while they are copied leave nothing in the target', async () => {
  const made = [await one.owner.endpoint({ name: 'a' }), await one.owner.endpoint({ name: 'b' })]
  for (const endpoint of made) await endpoint.capture()
  const [first = '', second = ''] = made.map(({ id }) => id).sort()
  const held = await holdUp('cell-2', 'insert on requests', `new.endpoint_id = '${second}'`)
  const moving = move(one, 'cell-2')
  await held.arrived()
  const copied = sql<{
    count: number
  }>`select count(*)::int as count from requests where endpoint_id = ${first}`
  expect(await count('cell-2', copied)).toBe(1)
  for (const table of ['requests', 'delivery_attempts', 'attempt_details', 'event_claims'])
    await sql`delete from ${sql.table(table)} where endpoint_id = ${first}`.execute(databases['cell-1'].db)
  await sql`delete from endpoints where id = ${first}`.execute(databases['cell-1'].db)
  await held.release()
  expect((await moving).exitCode).toBe(0)
  expect(await count('cell-2', copied)).toBe(0)
})

test('a move that is killed in the switch lets captures go on while it is continued', async () => {
  const endpoint = await one.owner.endpoint({ name: 'switching' })
  await endpoint.capture()
  // Its arrival unseals it. Before the seal it may be copied again, while transactions of other databases go on.
  const arrives = 'old.sealed_until is not null and new.sealed_until is null'
  const atWorkspace = await holdUp('cell-1', 'update on workspaces', arrives)
  const killed = spawnCreel(wordsOf(one.owner.workspaceId, 'cell-1'), { env: program.env })
  await atWorkspace.arrived()
  expect((await endpoint.send()).status).toBe(503)
  killed.kill('SIGKILL')
  await killed.exited
  await atWorkspace.release()
  // Changed, so that it is copied again, and the copy is held up.
  await sql`update requests set label = label where endpoint_id = ${endpoint.id}`.execute(
    databases['cell-2'].db,
  )
  const atRequest = await holdUp('cell-1', 'insert on requests', `new.endpoint_id = '${endpoint.id}'`)
  const continued = move(one, 'cell-1')
  await atRequest.arrived()
  await eventually('a capture', async () => (await endpoint.send()).status === 200)
  await atRequest.release()
  expect((await continued).exitCode).toBe(0)
  expect(await endpoint.requests()).toHaveLength(2)
})

test('tables of a workspace are copied before the seal, and what changes meanwhile is seen', async () => {
  const { workspaceId } = one.owner
  const source = databases['cell-1'].db
  const channel = async (name: string) => {
    const settings = { url: 'https://127.0.0.1/' }
    const made = one.owner.post('/api/v1/alert-channels', { kind: 'webhook', name, settings })
    return (await one.owner.expect(made, Made)).id
  }
  const [kept, gone] = [await channel('kept'), await channel('gone')]
  await sql`insert into audit_entries (workspace_id, at, actor_kind, actor_name, action, subject_type, subject_id)
    select ${workspaceId}, now(), 'service', 'test', 'test', 'workspace', 'test' from generate_series(1, 5000)`.execute(
    source,
  )
  const endpoint = await one.owner.endpoint({ name: 'going' })
  const ids: readonly number[] = (await endpoint.captureMany(4)).map(({ id }) => id)
  // The seal waits for this transaction, whose changes the first pass does not see.
  const late = holdOpen(databases['cell-1'].db, async (trx) => {
    await sql`update alert_channels set name = 'changed' where id = ${kept}`.execute(trx)
    await sql`delete from alert_channels where id = ${gone}`.execute(trx)
    await sql`delete from requests where id in (${ids[0]}, ${ids[2]})`.execute(trx)
  })
  await late.isOpen
  const moving = move(one, 'cell-2')
  await waitsForWriters('cell-1')
  await late.release()
  const { stderr, exitCode } = await moving
  expect(exitCode).toBe(0)
  expect(Number(/in which (\d+) rows were copied/.exec(stderr)?.[1])).toBeLessThan(100)
  const audited = sql<{ count: number }>`select count(*)::int as count from audit_entries
    where workspace_id = ${workspaceId} and action = 'test'`
  expect(await count('cell-2', audited)).toBe(5000)
  const requests = await endpoint.requests()
  expect(requests.map(({ id }) => id)).toEqual([ids[3] ?? 0, ids[1] ?? 0])
  const { body } = await one.owner.get('/api/v1/alert-channels')
  expect(z.object({ items: z.array(z.looseObject({ name: z.string() })) }).parse(body).items).toMatchObject([
    { name: 'changed' },
  ])
  expect((await move(one, 'cell-1')).exitCode).toBe(0)
})

test('long bodies are copied in pieces, by their real size, and long tables before the seal', async () => {
  const endpoint = await one.owner.endpoint({ name: 'long' })
  for (let n = 0; n < 9; n += 1) await endpoint.capture({ body: 'a'.repeat(1024 * 1024) })
  const { replay } = await one.owner.expect(
    one.owner.post(endpoint.at('/replays'), { select: { filter: {} }, to: { listeners: true } }),
    z.looseObject({ replay: z.looseObject({ id: z.string() }) }),
  )
  const answers = 60
  await sql`insert into replay_items (replay_id, position, request_id, copy, due_ms, state, body)
    select ${replay.id}::uuid, n, 1, 0, 0, 'done', convert_to(repeat('b', 256 * 1024), 'UTF8')
    from generate_series(100, 99 + ${answers}::int) n`.execute(databases['cell-1'].db)
  const tables = ['requests', 'replay_items']
  const { db } = databases['cell-2']
  await sql
    .raw(
      `create schema noted; create table noted.pieces (name text, rows int);
      create function note_piece() returns trigger language plpgsql as
        'begin insert into noted.pieces select tg_table_name, count(*) from fresh; return null; end';
      ${tables
        .map(
          (name) =>
            `create trigger note_piece after insert on ${name} referencing new table as fresh
              for each statement execute function note_piece();`,
        )
        .join('\n')}`,
    )
    .execute(db)
  const { stderr, exitCode } = await move(one, 'cell-2')
  expect(exitCode).toBe(0)
  expect(Number(/in which (\d+) rows were copied/.exec(stderr)?.[1])).toBeLessThan(60)
  const { rows } = await sql<{ name: string; pieces: number; largest: number; sum: number }>`
    select name, count(*)::int as pieces, max(rows) as largest, sum(rows)::int as sum from noted.pieces group by name
    order by name`.execute(db)
  const [items, requests] = rows
  expect(items?.sum).toBe(answers + 9)
  expect(requests?.largest).toBeLessThanOrEqual(4)
  const { body } = await one.owner.get(endpoint.at(`/replays/${replay.id}/results?afterPosition=99&limit=1`))
  expect(Object(body).items[0].body).toHaveLength(256 * 1024)
})

test('an audit entry whose number is taken gets a new one', async () => {
  const { workspaceId } = one.owner
  const entries = sql<{ count: number }>`select count(*)::int as count from audit_entries
    where workspace_id = ${workspaceId}`
  const before = await count('cell-2', entries)
  const highest = sql<{ count: number }>`select max(id) as count from audit_entries
    where workspace_id = ${workspaceId}`
  await sql`insert into audit_entries (id, at, actor_kind, actor_name, action, subject_type, subject_id)
    overriding system value
    values (${await count('cell-2', highest)}, now(), 'service', 'test', 'taken', 'workspace', 'test')`.execute(
    databases['cell-1'].db,
  )
  expect((await move(one, 'cell-1')).exitCode).toBe(0)
  expect(before).toBeGreaterThan(5000)
  expect(await count('cell-1', entries)).toBe(before)
  const taken = sql<{
    count: number
  }>`select count(*)::int as count from audit_entries where action = 'taken'`
  expect(await count('cell-1', taken)).toBe(1)
})

test('keys of sealed captures are in no other schema, whenever a move is killed, and a shred reaches them', async () => {
  const endpoint = await two.owner.endpoint({ name: 'keys', encryptBodies: true })
  await endpoint.capture({ body: 'sealed' })
  const from = databases['cell-1'].db
  const { rows } = await sql<{
    key: string
  }>`select encode(data_key, 'hex') as key from creel_keys.endpoint_keys
    where endpoint_id = ${endpoint.id}`.execute(from)
  const key = rows[0]?.key ?? ''
  expect(key.length).toBeGreaterThan(0)
  const held = await holdUp('cell-2', 'update on workspaces')
  const killed = spawnCreel(wordsOf(two.owner.workspaceId, 'cell-2'), { env: program.env })
  await held.arrived()
  killed.kill('SIGKILL')
  await killed.exited
  await held.release()
  expect(await tablesWith('cell-2', key)).toEqual([])
  await sql`update workspaces set sealed_until = null where id = ${two.owner.workspaceId}`.execute(from)
  await eventually('the shred', async () => (await two.owner.post(endpoint.at('/shred'))).status < 300)
  await endpoint.capture({ body: 'sealed anew' })
  expect((await move(two, 'cell-2')).exitCode).toBe(0)
  expect(await tablesWith('cell-2', key)).toEqual([])
  expect(await tablesWith('cell-1', key)).toEqual([])
  expect((await two.owner.get(endpoint.at('/requests'))).body).toMatchObject({
    items: [{ bodyPreview: 'sealed anew' }, { shredded: true }],
  })
})

/** Names of the tables of a cell that have a value somewhere, given in hex. */
async function tablesWith(cell: CellName, value: string): Promise<readonly string[]> {
  const { db } = databases[cell]
  const { rows } = await sql<{ name: string }>`select oid::regclass::text as name from pg_class
    where relkind = 'r' and relnamespace::regnamespace::text !~ '^(pg_|information_schema)'`.execute(db)
  const found: string[] = []
  for (const { name } of rows) {
    const having = sql<{ count: number }>`select count(*)::int as count from ${sql.raw(name)} t
      where strpos(to_jsonb(t)::text, ${value}) > 0`
    if ((await count(cell, having)) > 0) found.push(name)
  }
  return found
}

test('a long transaction of another table holds up no move, and one of another workspace no capture', async () => {
  const endpoint = await two.owner.endpoint({ name: 'beside' })
  await endpoint.capture()
  await sql
    .raw('create schema elsewhere; create table elsewhere.written (id int primary key)')
    .execute(databases['cell-2'].db)
  // It locks an index, as a vacuum does.
  const elsewhere = holdOpen(databases['cell-2'].db, (trx) =>
    sql.raw('insert into elsewhere.written values (1)').execute(trx),
  )
  await elsewhere.isOpen
  const ofOthers = async () => {
    const held = holdOpen(databases['cell-2'].db, (trx) =>
      sql`insert into failing_actions (action_id, workspace_id, since, attempts, request_id)
        values (gen_random_uuid(), gen_random_uuid(), now(), 1, 1)`.execute(trx),
    )
    await held.isOpen
    return held
  }
  const first = await ofOthers()
  const moving = move(two, 'cell-1')
  await waitsForWriters('cell-2')
  expect((await endpoint.send()).status).toBe(200)
  const second = await ofOthers()
  await first.release()
  // Each seal counts one up.
  await eventually('a seal', async () => {
    const revision = sql<{ count: number }>`select revision as count from endpoint_revisions
      where endpoint_id = ${endpoint.id}`
    return (await count('cell-2', revision)) > 1
  })
  await eventually('a capture', async () => (await endpoint.send()).status === 200)
  await second.release()
  const { stderr, exitCode } = await moving
  await elsewhere.release()
  expect(stderr).toContain('Unsealed again')
  expect(exitCode).toBe(0)
})
