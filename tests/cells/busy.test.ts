import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type RawBuilder, sql } from 'kysely'
import { type CellName, envOf, startTwoCells, type TestCell, type TwoCells } from '../support/cells.ts'
import { eventually } from '../support/eventually.ts'
import { holdOpen } from '../support/heldWrites.ts'
import { runCreel, startProcess } from '../support/process.ts'

/** Moves of workspaces while much is written: by their senders, and by other moves. */

let cells: TwoCells

beforeAll(async () => {
  cells = await startTwoCells()
})

afterAll(() => cells.stop())

const move = ({ owner }: TestCell, to: CellName) =>
  runCreel(['workspaces', 'move', owner.workspaceId, '--to', to], { env: cells.program.env })

/** Stores requests of an endpoint `endpoint` at once. */
const someRequests = (endpoint: RawBuilder<unknown>, count: number) => sql`
  insert into requests (endpoint_id, id, received_at, method, path, header_names, header_values, body, size_bytes,
                        body_truncated, body_is_binary, body_preview, dispatch_state)
  select ${endpoint}, nextval('request_ids'), now(), 'POST', '', '', '', '', 0, false, false, '', 'NotAttempted'
  from generate_series(1, ${sql.lit(count)}) n`

/** Opens a transaction that writes in a cell, for which moves out of it wait. */
async function beginWriting(cell: CellName) {
  const writing = holdOpen(cells.databases[cell].db, (trx) =>
    sql`insert into failing_actions (action_id, workspace_id, since, attempts, request_id)
      values (gen_random_uuid(), gen_random_uuid(), now(), 1, 1)`.execute(trx),
  )
  await writing.isOpen
  return writing
}

/** Waits until a move out of a cell waits for transactions. Its workspace arrives in the other cell then. */
const waitsForWriters = (cell: CellName) =>
  eventually('a move that waits', async () => {
    const { rows } = await sql`select from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and query like '%virtualxid = any%'`.execute(
      cells.databases[cell].db,
    )
    return rows.length > 0
  })

test('two workspaces move in opposite directions at once', async () => {
  const { one, two } = cells
  const [writing, writingToo] = [await beginWriting('cell-1'), await beginWriting('cell-2')]
  const moving = [move(one, 'cell-2'), move(two, 'cell-1')]
  await Promise.all([waitsForWriters('cell-1'), waitsForWriters('cell-2')])
  await Promise.all([writing.release(), writingToo.release()])
  for (const { stderr, exitCode } of await Promise.all(moving)) {
    expect(stderr).toContain('Moved.')
    expect(exitCode).toBe(0)
  }
  for (const { owner } of [one, two])
    await eventually('the workspace', async () => (await owner.get('/api/v1/endpoints')).status === 200)
})

test('what was copied is not copied again because of a transaction of another database', async () => {
  const { one, databases } = cells
  const endpoint = await one.owner.endpoint()
  const writing = await beginWriting('cell-2')
  // Its transaction in the target, of the same server, is open for long.
  const moving = move(one, 'cell-1')
  await waitsForWriters('cell-2')
  await someRequests(sql`${endpoint.id}::uuid`, 2000).execute(databases['cell-2'].db)
  await writing.release()
  const { stderr, exitCode } = await moving
  expect(stderr).toContain('Moved.')
  expect(exitCode).toBe(0)
  await eventually('the workspace', async () => (await one.owner.get('/api/v1/endpoints')).status === 200)
})

test('the first pass ends, although as much arrives as is copied', async () => {
  const { one, databases } = cells
  const { db } = databases['cell-1']
  const endpoint = await one.owner.endpoint()
  const arriving = someRequests(sql.raw(`'${endpoint.id}'::uuid`), 500).compile(db)
  await sql.raw(arriving.sql).execute(db)
  // Each batch is noted. Another one arrives then, some times.
  await sql
    .raw(`
    create function more_arrives() returns trigger language plpgsql as $$ begin
      if new.copied_rows <= 9000 and new.progress::json #>> '{cursor,endpointId}' = '${endpoint.id}' then ${arriving.sql}; end if;
      return null;
    end $$;
    create trigger more_arrives after update of copied_rows on workspace_moves
      for each row execute function more_arrives()`)
    .execute(db)
  const { stderr, exitCode } = await move(one, 'cell-2')
  // With those of another endpoint.
  expect(Number(/Copied (\d+) rows/.exec(stderr)?.[1])).toBeLessThan(3000)
  expect(exitCode).toBe(0)
})

test('old keys are not to be removed while a workspace moves with their secrets', async () => {
  const rotate = () => runCreel(['secrets', 'rotate'], { env: cells.program.env })
  const writing = await beginWriting('cell-2')
  const moving = move(cells.one, 'cell-1')
  await waitsForWriters('cell-2')
  const { stderr, exitCode } = await rotate()
  expect(stderr).toContain('A workspace is being moved')
  expect(stderr).not.toContain('Now remove the old keys')
  expect(exitCode).toBe(1)
  await writing.release()
  expect((await moving).exitCode).toBe(0)
  expect((await rotate()).stderr).toContain('Now remove the old keys')
})

test('a workspace does not move to a cell that a gateway does not serve', async () => {
  const { two } = cells
  const endpoint = await two.owner.endpoint()
  const older = await startProcess({ env: await envOf([cells.one.database]) })
  const send = () => fetch(`${older.captureUrl}${new URL(endpoint.url).pathname}`, { method: 'POST' })
  expect((await send()).status).toBe(200)
  const { stderr, exitCode } = await move(two, 'cell-2')
  expect(stderr).toContain('A gateway does not serve cell-2')
  expect(exitCode).toBe(1)
  expect((await send()).status).toBe(200)
  await older.stop()
})
