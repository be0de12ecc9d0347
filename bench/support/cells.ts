import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import type { BenchFolder } from './workspace.ts'

/** URL of a database on the same server as another one. */
export function beside(databaseUrl: string, name: string): string {
  const url = new URL(databaseUrl)
  url.pathname = `/${name}`
  return url.href
}

/**
 * Makes the databases of cells on one server, and the file that names them.
 *
 * @param databaseUrl a database of the server, of a service that has run in the folder
 * @returns the environment of programs of these cells
 */
export async function prepareCells(
  folder: BenchFolder,
  databaseUrl: string,
  names: readonly string[],
): Promise<Record<string, string>> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  for (const name of names) await client.query(`create database "${name}"`)
  await client.end()
  const cells = names.map((name, at) => ({ name, number: at + 1, databaseUrl: beside(databaseUrl, name) }))
  const file = join(folder.dataDir, '../cells.json')
  await writeFile(file, JSON.stringify({ cells }))
  const secretKey = (await readFile(join(folder.dataDir, 'secret.key'), 'utf8')).trim()
  const env = { ...folder.env, CREEL_CELLS_FILE: file, CREEL_SECRET_KEY: secretKey }
  const main = join(import.meta.dir, '../../creel/src/main.ts')
  const child = Bun.spawn([process.execPath, main, 'migrate', '--all'], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if ((await child.exited) !== 0) throw new Error('The cells were not migrated.')
  return env
}
