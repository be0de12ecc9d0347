import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { BRIEF, PROGRAM, temporaryFolder } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'
import { documents, fencesOf, SHELLS, textOf } from './markdown.ts'

/** Placeholders for the reader. The lines of a document that set them are replaced by the values of the test. */
const PLACEHOLDERS = ['CREEL_URL', 'CREEL_KEY', 'BASE', 'KEY', 'HOOK', 'RECEIVER'] as const
type Placeholder = (typeof PLACEHOLDERS)[number]

describe('every command line of a document works, one after the other, on a fresh service', () => {
  for (const document of documents) {
    const blocks = fencesOf(textOf(document))
      .filter(({ language, remark }) => SHELLS.includes(language) && remark === '')
      .map(({ code }) => code)
    if (blocks.length === 0) continue
    test(document, async () => {
      const service = await startService()
      // The workspace that a first start makes.
      await service.operator.workspaces.create({ name: 'default', plan: 'team' })
      await using receiver = await startReceiver()
      const endpoint = await service.alice.endpoint()
      const script = scriptOf(blocks, {
        CREEL_URL: service.baseUrl,
        CREEL_KEY: service.alice.key,
        BASE: service.baseUrl,
        KEY: service.alice.key,
        HOOK: endpoint.url,
        RECEIVER: receiver.url,
      })
      // Output goes to a file: a command may leave a shared pipe non-blocking, and then the next cannot write much at
      // once.
      const outputFile = Bun.file(join(await temporaryFolder(), 'output'))
      const child = Bun.spawn(['bash', '-c', script], {
        cwd: await temporaryFolder(),
        env: {
          ...BRIEF,
          PATH: process.env.PATH,
          DATABASE_URL: service.database.url,
          CREEL_SECRET_KEY: Buffer.from(service.secretKey).toString('base64'),
          CREEL_PORT: new URL(service.baseUrl).port,
        },
        stdio: ['ignore', outputFile, 'pipe'],
      })
      const errors = await new Response(child.stderr).text()
      expect({ exitCode: await child.exited, errors }).toEqual({ exitCode: 0, errors: expect.any(String) })
      expect(await outputFile.text()).not.toBe('')
      await service.stop()
    })
  }
})

/** Fails at the first command that fails, and says which. */
function scriptOf(blocks: readonly string[], values: Readonly<Record<Placeholder, string>>): string {
  const lines = blocks.join('\n').split('\n')
  return [
    'set -euo pipefail',
    `trap 'echo "failed: $BASH_COMMAND" >&2' ERR`,
    'curl() { command curl -sS --fail-with-body "$@" || { echo "curl $*" >&2; return 22; }; echo; }',
    `creel() { ${PROGRAM.map((word) => `'${word}'`).join(' ')} "$@" || { echo "creel $*" >&2; return 1; }; }`,
    ...PLACEHOLDERS.map((name) => `export ${name}='${values[name]}'`),
    ...lines.filter((line) => !assignsPlaceholdersOnly(line)),
  ].join('\n')
}

function assignsPlaceholdersOnly(line: string): boolean {
  const [, assignments] = /^export (.*)$/.exec(line) ?? []
  const names = [...(assignments ?? '').matchAll(/(\w+)=/g)].map((match) => match[1])
  return names.length > 0 && names.every((name) => PLACEHOLDERS.some((placeholder) => placeholder === name))
}
