import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type OpenDatabase, openDatabase } from '@creel/core'
import { z } from 'zod'
import { type CellsProgram, startCells, threeDatabases } from '../support/cells.ts'
import { eventually } from '../support/eventually.ts'
import { holdUpWrites } from '../support/heldWrites.ts'
import { runCreel, spawnCreel } from '../support/process.ts'

/** Moves of workspaces while the server of a cell is out of reach. */

let program: CellsProgram
let source: OpenDatabase

beforeAll(async () => {
  const databases = await threeDatabases()
  program = await startCells(databases)
  source = openDatabase(databases[0]?.url ?? '')
})

afterAll(async () => {
  await source.close()
  await program.process.stop()
})

const creel = (...words: readonly string[]) => runCreel(words, { env: program.env })
const Moves = z.array(z.looseObject({ from: z.string(), workspaceId: z.string(), state: z.string() }))

const Workspaces = z.array(z.looseObject({ id: z.string(), name: z.string(), cell: z.string() }))

test('the moves of the others are listed, and none begins whose workspace may be on its way from there', async () => {
  const [first, second] = program.cells
  if (first === undefined || second === undefined) throw new Error('There are no cells.')
  const move = ({ owner }: typeof first, to: string) =>
    creel('workspaces', 'move', owner.workspaceId, '--to', to)
  expect((await move(second, 'cell-3')).exitCode).toBe(0)
  {
    await using leaving = await holdUpWrites(source.db, 'delete on workspaces')
    const words = ['workspaces', 'move', first.owner.workspaceId, '--to', 'cell-2']
    const killed = spawnCreel(words, { env: program.env })
    await leaving.arrived()
    killed.kill('SIGKILL')
    await killed.exited
    await leaving.breakOff()
  }
  await program.without(first, async () => {
    const listed = await creel('workspaces', 'moves', '--json')
    expect(Moves.parse(JSON.parse(listed.stdout))).toMatchObject([
      { from: 'cell-2', workspaceId: second.owner.workspaceId, state: 'moved' },
    ])
    expect(listed.stderr).toContain('The cell "cell-1" cannot be asked.')
    expect(listed.exitCode).toBe(1)
    // The target has it already: a move from there would leave another in the source.
    const further = await move(first, 'cell-3')
    expect(further.stderr).toContain('The cell "cell-1" cannot be asked.')
    expect(further.exitCode).toBe(1)
  })
  const finished = await move(first, 'cell-2')
  expect(finished.stderr).toContain('The target has the workspace: the source lets it go.')
  await eventually('the workspace', async () => (await first.owner.get('/api/v1/endpoints')).status === 200)
  const { stdout } = await creel('workspaces', 'moves', '--json')
  expect(Moves.parse(JSON.parse(stdout)).map(({ from, state }) => [from, state])).toEqual([
    ['cell-1', 'moved'],
    ['cell-2', 'moved'],
  ])
})

test('of workspaces with one name --cell chooses the one that moves, and a purge tells them apart', async () => {
  const create = async (cell: string) => {
    const made = await creel('workspace', 'create', '--name', 'twin', '--cell', cell, '--json')
    return z.looseObject({ id: z.string() }).parse(JSON.parse(made.stdout)).id
  }
  const first = await create('cell-1')
  const second = await create('cell-2')
  const unclear = await creel('workspace', 'move', 'twin', '--to', 'cell-3')
  expect(unclear.stderr).toContain(
    'Several cells have a workspace "twin": cell-1, cell-2. Name one with --cell.',
  )
  expect(unclear.exitCode).toBe(1)
  const chosen = await creel('workspace', 'move', 'twin', '--to', 'cell-3', '--cell', 'cell-2', '--json')
  expect(JSON.parse(chosen.stdout)).toMatchObject({ workspaceId: second, state: 'moved' })
  await create('cell-2')
  const purged = await creel('workspace', 'move', 'twin', '--purge', '--json')
  expect(JSON.parse(purged.stdout)).toMatchObject({ workspaceId: second, state: 'purged' })
  const again = await creel('workspace', 'move', 'twin', '--purge')
  expect(again.stderr).toContain('No cell has captures left')
  // Under another name each is told from the other.
  const held = await creel('workspace', 'rename', first, '--name', 'twin')
  expect(held.stderr).toContain('The cell cell-2 has a workspace with the name "twin".')
  const renamed = await creel('workspace', 'rename', 'twin', '--name', 'elder', '--cell', 'cell-1', '--json')
  expect(JSON.parse(renamed.stdout)).toMatchObject({ id: first, name: 'elder' })
  const list = await creel('workspace', 'list', '--json')
  const named = Workspaces.parse(JSON.parse(list.stdout)).map(({ id, name, cell }) => [id, name, cell])
  expect(named).toContainEqual([first, 'elder', 'cell-1'])
  expect(named).toContainEqual([second, 'twin', 'cell-3'])
})
