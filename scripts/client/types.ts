/**
 * `bun scripts/client/types.ts`: writes the sources of `creel-client` that follow from the API's description. They are not
 * committed: the calls are made when packages are installed, the types by whatever compiles the client.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { callsOf, streamsOf } from './calls.ts'

const ROOT = join(import.meta.dir, '../..')
const DESCRIPTION = join(ROOT, 'tests/contract/snapshots/openapi.v1.json')
const SOURCES = join(ROOT, 'clients/typescript/src')
const GENERATOR = join(import.meta.dir, 'calls.ts')

/** Writes `calls.ts` and `streams.ts` unless they are of the present description, which takes 2 ms to see. Needs no packages. */
export function makeClientCalls(): void {
  const { description, made } = readDescription()
  write('calls.ts', made, () => callsOf(description))
  write('streams.ts', made, () => streamsOf(description))
}

/** The same for the types, `schema.ts`. */
export async function makeClientTypes(): Promise<void> {
  makeClientCalls()
  const { description, made } = readDescription()
  if (isOf('schema.ts', made)) return
  const { typesOf } = await import('../../clients/typescript/generateTypes.ts')
  const types = await typesOf(description)
  write('schema.ts', made, () => types)
}

function readDescription() {
  const description = readFileSync(DESCRIPTION, 'utf8')
  const digest = createHash('sha256').update(description).update(readFileSync(GENERATOR)).digest('hex')
  const made = `// Made from the API's description by \`bun scripts/client/types.ts\`: ${digest}\n`
  return { description, made }
}

function isOf(name: string, made: string): boolean {
  const path = join(SOURCES, name)
  return existsSync(path) && readFileSync(path, 'utf8').startsWith(made)
}

function write(name: string, made: string, textOf: () => string): void {
  if (isOf(name, made)) return
  const path = join(SOURCES, name)
  // A compiler that runs meanwhile reads the old source or the new one.
  writeFileSync(`${path}.${process.pid}`, made + textOf())
  renameSync(`${path}.${process.pid}`, path)
}

if (import.meta.main) await makeClientTypes()
