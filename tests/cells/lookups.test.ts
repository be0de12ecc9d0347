import { expect, test } from 'bun:test'
import { openDatabase } from '@creel/core'
import { sql } from 'kysely'
import { envOf, startCells } from '../support/cells.ts'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startFar } from '../support/far.ts'
import { holdUpWrites } from '../support/heldWrites.ts'
import { runCreel } from '../support/process.ts'

test('a sender is never told 404 while its workspace moves, whatever moment each cell answers at', async () => {
  const [source, target] = await Promise.all([createTestDatabase(), createTestDatabase()])
  const far = await startFar(source, 0)
  const { cells, env, process } = await startCells([far, target])
  const [{ owner, oldUrl } = { owner: undefined, oldUrl: '' }] = cells
  if (owner === undefined) throw new Error('There are no cells.')
  const { db, close } = openDatabase(target.url)
  try {
    await using arrival = await holdUpWrites(
      db,
      'update on workspaces',
      'old.sealed_until is not null and new.sealed_until is null',
    )
    const near = { ...env, ...(await envOf([source, target])) }
    const moving = runCreel(['workspaces', 'move', owner.workspaceId, '--to', 'cell-2'], { env: near })
    await arrival.arrived()
    const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db)
    // The source answers the gateway only after the move.
    far.path.isSilent = true
    const first = fetch(oldUrl, { method: 'POST' })
    await eventually('the answer of the target', async () => {
      const asked =
        await sql`select from pg_stat_activity where datname = current_database() and state = 'idle'
        and query like '%capture_id%' and query_start > ${rows[0]?.now} and pid <> pg_backend_pid()`.execute(
          db,
        )
      return asked.rows.length > 0
    })
    await arrival.release()
    expect((await moving).exitCode).toBe(0)
    far.path.isSilent = false
    // On a slow machine the source may count as out of reach: 503.
    const statuses = [(await first).status]
    await eventually('a capture', async () => {
      statuses.push((await fetch(oldUrl, { method: 'POST' })).status)
      return statuses.at(-1) === 200
    })
    expect(statuses).not.toContain(404)
  } finally {
    await close()
    await process.stop()
    await far.drop()
  }
})

test('a sender whose cell hangs is told 503 in time, although its URL names the cell', async () => {
  const far = await startFar(await createTestDatabase(), 0)
  const { cells, process } = await startCells([far, await createTestDatabase()])
  try {
    const endpoint = await cells[0]?.owner.endpoint()
    far.path.isSilent = true
    const startedAt = performance.now()
    expect((await endpoint?.send())?.status).toBe(503)
    // PostgreSQL's own limit would end the statement after a minute.
    expect(performance.now() - startedAt).toBeLessThan(30_000)
  } finally {
    far.path.isSilent = false
    await process.stop()
    await far.drop()
  }
})
