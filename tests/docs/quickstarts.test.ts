import { expect, test } from 'bun:test'
import { createTestDatabase } from '../support/database.ts'
import { PROGRAM, temporaryFolder } from '../support/process.ts'
import { fencesRunBy } from './markdown.ts'

/** Parts of the quickstarts that need more than a running service; documents.test.ts runs the others. */

test('docs/quickstarts/nginx-and-managed-postgres.md: the environment is right, and prepares an empty database', async () => {
  const fences = fencesRunBy(
    'tests/docs/quickstarts.test.ts',
    'docs/quickstarts/nginx-and-managed-postgres.md',
  )
  expect(fences.length).toBe(2)
  const database = await createTestDatabase()
  const lines = fences
    .join('\n')
    .replace(/^export DATABASE_URL=.*$/m, `export DATABASE_URL='${database.url}'`)
  const creel = `creel() { ${PROGRAM.map((word) => `'${word}'`).join(' ')} "$@"; }`
  const child = Bun.spawn(['bash', '-c', ['set -e -o pipefail', creel, lines].join('\n')], {
    cwd: await temporaryFolder(),
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, errors] = [await new Response(child.stdout).text(), await new Response(child.stderr).text()]
  expect({ exitCode: await child.exited, errors }).toEqual({ exitCode: 0, errors: expect.any(String) })
  expect(output).toContain('https://in.example.com')
  expect(output).toContain('creel_live_')
  await database.drop()
})
