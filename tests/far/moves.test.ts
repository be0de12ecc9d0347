import { expect, test } from 'bun:test'
import { z } from 'zod'
import { startCells } from '../support/cells.ts'
import { createTestDatabase } from '../support/database.ts'
import { startFar } from '../support/far.ts'
import { runCreel } from '../support/process.ts'

const Moved = z.looseObject({ state: z.string(), toCell: z.string() })

test('a workspace moves between cells that are far away, and keeps its captures', async () => {
  const cells = await Promise.all([1, 2].map(async () => await startFar(await createTestDatabase())))
  const program = await startCells(cells)
  const [source] = program.cells
  if (source === undefined) throw new Error('There are no cells.')
  const endpoint = await source.owner.endpoint({ name: 'moving' })
  await Promise.all(Array.from({ length: 50 }, () => endpoint.send()))
  const before = (await endpoint.requests()).map(({ id }) => id)
  const words = ['workspaces', 'move', source.owner.workspaceId, '--to', 'cell-2', '--json']
  const { stdout, exitCode } = await runCreel(words, { env: program.env })
  expect(exitCode).toBe(0)
  expect(Moved.parse(JSON.parse(stdout))).toMatchObject({ state: 'moved', toCell: 'cell-2' })
  expect(before).toHaveLength(50)
  expect((await endpoint.requests()).map(({ id }) => id)).toEqual(before)
  expect((await endpoint.send()).status).toBe(200)
  await program.process.stop()
}, 60_000)
