import { expect, test } from 'bun:test'
import { fencesRunBy } from '../docs/markdown.ts'
import { PROGRAM, temporaryFolder } from '../support/process.ts'
import { startService } from '../support/service.ts'
import { emptyHome, environmentOf } from './support.ts'

test('the commands of docs/terminal.md run as they stand there', async () => {
  const fences = fencesRunBy('tests/terminal/docs.test.ts', 'docs/terminal.md')
  expect(fences.length).toBeGreaterThan(0)
  const service = await startService()
  const creel = `creel() { ${PROGRAM.map((word) => `'${word}'`).join(' ')} "$@"; }`
  const child = Bun.spawn(['bash', '-c', ['set -e -o pipefail', creel, ...fences].join('\n')], {
    cwd: await temporaryFolder(),
    env: { PATH: process.env.PATH, ...environmentOf(service.alice, await emptyHome()) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [errors, exitCode] = [await new Response(child.stderr).text(), await child.exited]
  expect({ exitCode, errors: exitCode === 0 ? '' : errors }).toEqual({ exitCode: 0, errors: '' })
})
