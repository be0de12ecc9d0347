/**
 * `bun scripts/clientTypes.ts`: writes the types of `creel-client`, `clients/typescript/src/schema.ts`, from the API's
 * description. They are not committed: whatever compiles the client makes them first.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '..')
const DESCRIPTION = join(ROOT, 'tests/contract/snapshots/openapi.v1.json')
const TYPES = join(ROOT, 'clients/typescript/src/schema.ts')

/** Writes the types unless they are of the present description, which takes a millisecond to see. */
export async function makeClientTypes(): Promise<void> {
  const description = readFileSync(DESCRIPTION, 'utf8')
  const made = `// Made from the API's description by \`bun scripts/clientTypes.ts\`: ${createHash('sha256').update(description).digest('hex')}\n`
  if (existsSync(TYPES) && readFileSync(TYPES, 'utf8').startsWith(made)) return
  const { typesOf } = await import('../clients/typescript/generateTypes.ts')
  // A compiler that runs meanwhile reads the old types or the new ones.
  const unfinished = `${TYPES}.${process.pid}`
  await writeFile(unfinished, made + (await typesOf(description)))
  await rename(unfinished, TYPES)
}

if (import.meta.main) await makeClientTypes()
