import { expect, test } from 'bun:test'
import { Client } from 'pg'
import { z } from 'zod'
import { envOf, startCells } from '../support/cells.ts'
import { createTestDatabase } from '../support/database.ts'
import { startFar } from '../support/far.ts'
import { runCreel } from '../support/process.ts'

const Moved = z.looseObject({ state: z.string(), toCell: z.string() })

/** Round trips from the seal to the end of the command. Each takes what one to the other database takes. */
const SEALED_TRIPS = 45

test('a workspace moves between cells that are far away, keeps its captures, and is sealed for few round trips', async () => {
  const cells = await Promise.all([1, 2].map(async () => await startFar(await createTestDatabase())))
  const program = await startCells(cells)
  const [source] = program.cells
  if (source === undefined) throw new Error('There are no cells.')
  const endpoint = await source.owner.endpoint({ name: 'moving' })
  await Promise.all(Array.from({ length: 50 }, () => endpoint.send()))
  const before = (await endpoint.requests()).map(({ id }) => id)
  const ofCommand = await Promise.all(cells.map(async ({ near }) => await startFar(near)))
  const trips = () => ofCommand.reduce((sum, { path }) => sum + path.sent, 0)
  const noting = new Client(cells[0]?.near.url)
  await noting.connect()
  await noting.query(`
    create function note_seal() returns trigger language plpgsql as
      'begin perform pg_notify(''sealed'', current_setting(''statement_timeout'')); return null; end';
    create trigger note_seal after update of sealed_until on workspaces for each row execute function note_seal();
    listen sealed`)
  let sealedAt = 0
  let limit: string | undefined
  noting.once('notification', ({ payload }) => {
    sealedAt = trips()
    limit = payload
  })
  const words = ['workspaces', 'move', source.owner.workspaceId, '--to', 'cell-2', '--json']
  const { stdout, exitCode } = await runCreel(words, { env: await envOf(ofCommand) })
  expect(exitCode).toBe(0)
  expect(Moved.parse(JSON.parse(stdout))).toMatchObject({ state: 'moved', toCell: 'cell-2' })
  expect(sealedAt).toBeGreaterThan(0)
  // Statements of a large workspace take longer than those of a service may.
  expect(limit).toBe('0')
  expect(trips() - sealedAt).toBeLessThanOrEqual(SEALED_TRIPS)
  await noting.end()
  expect(before).toHaveLength(50)
  expect((await endpoint.requests()).map(({ id }) => id)).toEqual(before)
  expect((await endpoint.send()).status).toBe(200)
  await program.process.stop()
})
