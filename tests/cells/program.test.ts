import { beforeAll, expect, test } from 'bun:test'
import { type CellsProgram, startCells } from '../support/cells.ts'
import { Client } from '../support/client.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { runCreel } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { administer } from '../support/templateDatabase.ts'

/** The program and its commands on three cells, of which one has no tables yet, and one is the database of another cell. */

let program: CellsProgram
let empty: TestDatabase
let swapped: TestDatabase

beforeAll(async () => {
  empty = await createTestDatabase({ isEmpty: true })
  swapped = await createTestDatabase()
  await administer(swapped.url, "insert into installation (name, value) values ('cell', 'elsewhere')")
  program = await startCells([await createTestDatabase()], {
    further: [empty, swapped],
    env: { CREEL_ALLOW_DESTINATIONS: '127.0.0.0/8', CREEL_GATEWAYS: '2' },
  })
})

const creel = async (...words: string[]) => {
  const { exitCode, stdout, stderr } = await runCreel([...words, '--json'], { env: program.env })
  if (exitCode !== 0) throw new Error(`creel ${words.join(' ')}: ${stderr}`)
  return JSON.parse(stdout)
}

test('cells that do not fit are left out and named, and the others are served', async () => {
  const states = await eventually('the state of every cell', async () => {
    const all = await program.states()
    return Object.values(all).includes('opening') ? undefined : all
  })
  expect(states).toEqual({ 'cell-1': 'ok', 'cell-2': 'needs creel migrate', 'cell-3': 'refused' })
  expect((await fetch(program.cells[0]?.oldUrl ?? '', { method: 'POST' })).status).toBe(200)
  const { exitCode, stdout } = await runCreel(['cells', 'check', '--json'], { env: program.env })
  expect(exitCode).toBe(1)
  expect(JSON.parse(stdout)).toEqual([
    { name: 'cell-1', state: 'ok' },
    { name: 'cell-2', state: 'needs creel migrate --cell cell-2' },
    { name: 'cell-3', state: 'is the cell "elsewhere"' },
  ])
  const metrics = await (await fetch(`${program.process.baseUrl}/metrics`)).text()
  expect(metrics).toContain('creel_cell_up{cell="cell-1"} 1')
  expect(metrics).toContain('creel_cell_up{cell="cell-2"} 0')
})

test('a cell that has been migrated joins without a restart: new workspaces, captures and deliveries, in every process', async () => {
  expect((await runCreel(['migrate', '--cell', 'cell-2'], { env: program.env })).exitCode).toBe(0)
  await eventually('the cell, open', async () => (await program.states())['cell-2'] === 'ok')
  const workspace = await creel('workspace', 'create', '--name', 'second', '--cell', 'cell-2')
  const { key } = await creel(
    'key',
    'create',
    '--workspace',
    workspace.id,
    '--name',
    'test',
    '--cell',
    'cell-2',
  )
  const { baseUrl, captureUrl } = program.process
  const owner = new Client(baseUrl, captureUrl, key, workspace.id)
  await using receiver = await startReceiver()
  const endpoint = await owner.endpoint()
  const action = await owner.post(endpoint.at('/actions'), { kind: 'forward', name: 'on', url: receiver.url })
  expect(action.status).toBe(201)
  // Connections go to one process or the other, and each opens the cell for itself.
  await eventually('captures through every process', async () => {
    const sent = Array.from({ length: 16 }, () => fetch(endpoint.url, { method: 'POST', keepalive: false }))
    return (await Promise.all(sent)).every(({ status }) => status === 200)
  })
  await receiver.take(16)
  const list = await creel('workspace', 'list', '--cell', 'cell-2')
  expect(list).toMatchObject([{ name: 'second', cell: 'cell-2' }])
})
