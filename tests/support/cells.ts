import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type OpenDatabase, openDatabase } from '@creel/core'
import { z } from 'zod'
import { Client } from './client.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { eventually } from './eventually.ts'
import type { FarDatabase } from './far.ts'
import { whileRefused } from './outage.ts'
import { type RunningProcess, startProcess, TEST_SECRET_KEY, temporaryFolder } from './process.ts'
import { startService } from './service.ts'

const ReadyBody = z.record(z.string(), z.unknown())

/** One cell of a {@link CellsProgram}, with the owner of a workspace in it. */
export interface TestCell {
  readonly name: string
  readonly number: number
  readonly database: TestDatabase
  /** Calls the program. The key was made before there were cells, so that it names none. */
  readonly owner: Client
  /** Capture URL of an endpoint that was made before there were cells. */
  readonly oldUrl: string
}

/** The program on several cells. */
export interface CellsProgram {
  readonly process: RunningProcess
  readonly cells: readonly TestCell[]
  /** Environment of commands for the same cells. */
  readonly env: Readonly<Record<string, string>>
  /** States of the cells, as `/readyz` shows them, by their names. */
  states(): Promise<Readonly<Record<string, string>>>
  /** Runs `during` while a cell refuses connections, and waits until it is reached again. */
  without(cell: TestCell, during: () => Promise<void>): Promise<void>
}

/**
 * Starts `creel serve` on databases that were installations of their own, `cell-1` and so on, with one workspace each.
 *
 * @param options `further` databases of cells that are not ready; `words` more of the command line
 */
export async function startCells(
  databases: readonly (TestDatabase & Partial<Pick<FarDatabase, 'near'>>)[],
  {
    further = [],
    env = {},
    words = [],
  }: {
    further?: readonly TestDatabase[]
    env?: Readonly<Record<string, string>>
    words?: readonly string[]
  } = {},
): Promise<CellsProgram> {
  const seeds = await Promise.all(databases.map((database) => seed(database.near ?? database)))
  const places = [...databases, ...further].map(placeAt)
  const envOfCells = { ...(await envOf([...databases, ...further])), ...env }
  const process = await startProcess({ env: envOfCells }, words)
  const { baseUrl, captureUrl } = process
  const cells = databases.map((database, at): TestCell => {
    const { key = '', workspaceId = '', captureId = '' } = seeds[at] ?? {}
    return {
      name: `cell-${at + 1}`,
      number: at + 1,
      database,
      owner: new Client(baseUrl, captureUrl, key, workspaceId),
      oldUrl: `${captureUrl}/hook/${captureId}`,
    }
  })
  const states = async () => {
    const lines = ReadyBody.parse(await (await fetch(`${baseUrl}/readyz`)).json())
    return Object.fromEntries(places.map(({ name }) => [name, String(lines[`cell ${name}`])]))
  }
  const reaches = (cell: TestCell) =>
    eventually(`the cell ${cell.name}, reached`, async () => (await states())[cell.name] === 'ok')
  for (const cell of cells) await reaches(cell)
  return {
    process,
    cells,
    env: envOfCells,
    states,
    async without(cell, during) {
      await whileRefused(cell.database, during)
      await reaches(cell)
    },
  }
}

/** The program on two cells that may send to loopback, with their databases. */
export interface TwoCells {
  readonly program: CellsProgram
  readonly one: TestCell
  readonly two: TestCell
  readonly databases: Readonly<Record<'cell-1' | 'cell-2', OpenDatabase>>
  stop(): Promise<void>
}

export type CellName = keyof TwoCells['databases']

/**
 * {@link startCells} for tests of moves between two cells.
 *
 * @param words more of the command line
 */
export async function startTwoCells(...words: readonly string[]): Promise<TwoCells> {
  const program = await startCells(await Promise.all([createTestDatabase(), createTestDatabase()]), {
    env: { CREEL_ALLOW_DESTINATIONS: '127.0.0.0/8' },
    words,
  })
  const [one, two] = program.cells
  if (one === undefined || two === undefined) throw new Error('There are no cells.')
  const databases = { 'cell-1': openDatabase(one.database.url), 'cell-2': openDatabase(two.database.url) }
  return {
    program,
    one,
    two,
    databases,
    async stop() {
      for (const { close } of Object.values(databases)) await close()
      await program.process.stop()
    },
  }
}

const placeAt = ({ url }: Pick<TestDatabase, 'url'>, at: number) => ({
  name: `cell-${at + 1}`,
  number: at + 1,
  databaseUrl: url,
})

/** The environment of commands for cells. */
export async function envOf(
  databases: readonly Pick<TestDatabase, 'url'>[],
): Promise<Record<string, string>> {
  const file = join(await temporaryFolder(), 'cells.json')
  await writeFile(file, JSON.stringify({ cells: databases.map(placeAt) }))
  return { CREEL_CELLS_FILE: file, CREEL_SECRET_KEY: TEST_SECRET_KEY }
}

/** The databases of three cells, on the run's server. */
export const threeDatabases = () => Promise.all([1, 2, 3].map(() => createTestDatabase()))

async function seed(database: TestDatabase) {
  const secretKey = Buffer.from(TEST_SECRET_KEY, 'base64')
  const service = await startService({ database, secretKey, parts: ['gateway'] })
  const { key, workspaceId } = service.alice
  const { url } = await service.alice.endpoint({ name: 'old' })
  await service.stop()
  return { key, workspaceId, captureId: url.slice(url.lastIndexOf('/') + 1) }
}
