import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type CellName, startTwoCells, type TwoCells } from '../support/cells.ts'
import { eventually } from '../support/eventually.ts'
import { holdUpWrites } from '../support/heldWrites.ts'
import { runCreel } from '../support/process.ts'

/** Moves of workspaces whose servers stop for a while, and go on. */

let cells: TwoCells

beforeAll(async () => {
  cells = await startTwoCells()
})

afterAll(() => cells.stop())

/** Moves the workspace of the first cell, and waits until the gateway knows where it is. */
async function move(to: CellName) {
  const { program, one } = cells
  const words = ['workspaces', 'move', one.owner.workspaceId, '--to', to]
  const ended = await runCreel(words, { env: program.env })
  await eventually('the workspace', async () => (await one.owner.get('/api/v1/endpoints')).status === 200)
  return ended
}

test('a server that stops in the switch until the seal has ended loses no capture', async () => {
  const endpoint = await cells.one.owner.endpoint({ name: 'stopped' })
  const { db } = cells.databases['cell-1']
  await using stopped = await holdUpWrites(db, 'update on workspaces', `new.sealed_until = 'infinity'`)
  const moving = move('cell-2')
  await stopped.arrived()
  expect((await endpoint.send()).status).toBe(503)
  await eventually('the end of the seal', async () => (await endpoint.send()).status === 200)
  await stopped.release()
  expect((await moving).stderr).toContain('The seal took too long.')
  expect(await endpoint.requests()).toHaveLength(1)
  expect((await move('cell-2')).exitCode).toBe(0)
  expect(await endpoint.requests()).toHaveLength(1)
})
