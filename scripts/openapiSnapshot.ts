/**
 * `bun run openapi:snapshot`: stores the API's description, with which later ones are compared, and generates the typed
 * client's sources from it. Refuses a description that is incompatible with the previous one (v1 is append-only).
 */
import { join } from 'node:path'
import { openApi } from '../gateway/src/openapi/index.ts'
import { brokenPromises } from '../tests/contract/growth.ts'
import { makeClientTypes } from './client/types.ts'

const ROOT = join(import.meta.dir, '..')
const snapshot = Bun.file(join(ROOT, 'tests/contract/snapshots/openapi.v1.json'))

const description = JSON.parse(JSON.stringify(openApi('https://creel.acme.dev', '1.0.0')))
const broken = (await snapshot.exists()) ? brokenPromises(await snapshot.json(), description) : []
if (broken.length > 0) {
  process.stderr.write(`v1 may only grow:\n  ${broken.join('\n  ')}\n`)
  process.exit(1)
}
await snapshot.write(`${JSON.stringify(description, null, 1)}\n`)
await makeClientTypes()
