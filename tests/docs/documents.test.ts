import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'

const ROOT = join(import.meta.dir, '../..')
const SHELL_BLOCK = /^```sh\n(.*?)^```$/gms

/** What a reader fills in by hand; the lines that do so in a document give way to the values of the test. */
const PLACEHOLDERS = ['BASE', 'KEY', 'HOOK', 'RECEIVER'] as const
type Placeholder = (typeof PLACEHOLDERS)[number]

const documents = [
  'README.md',
  'deploy/README.md',
  ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`),
]

describe('every command line of a document works, one after the other, on a fresh service', () => {
  for (const document of documents.filter((name) => name.endsWith('.md'))) {
    const blocks = shellBlocks(readFileSync(join(ROOT, document), 'utf8'))
    if (blocks.length === 0) continue
    test(document, async () => {
      const service = await startService()
      await using receiver = await startReceiver()
      const endpoint = await service.alice.endpoint()
      const script = scriptOf(blocks, {
        BASE: service.baseUrl,
        KEY: service.alice.key,
        HOOK: endpoint.url,
        RECEIVER: receiver.url,
      })
      const child = Bun.spawn(['bash', '-c', script], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
      const [output, errors] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ])
      expect({ exitCode: await child.exited, errors }).toEqual({ exitCode: 0, errors: expect.any(String) })
      expect(output).not.toBe('')
    })
  }
})

function shellBlocks(markdown: string): string[] {
  return [...markdown.matchAll(SHELL_BLOCK)].map((match) => match[1] ?? '')
}

/** Fails at the first command that fails, and says which. */
function scriptOf(blocks: readonly string[], values: Readonly<Record<Placeholder, string>>): string {
  const lines = blocks.join('\n').split('\n')
  return [
    'set -euo pipefail',
    `trap 'echo "failed: $BASH_COMMAND" >&2' ERR`,
    'curl() { command curl -sS --fail-with-body "$@" || { echo "curl $*" >&2; return 22; }; echo; }',
    ...PLACEHOLDERS.map((name) => `export ${name}='${values[name]}'`),
    ...lines.filter((line) => !assignsPlaceholdersOnly(line)),
  ].join('\n')
}

function assignsPlaceholdersOnly(line: string): boolean {
  const [, assignments] = /^export (.*)$/.exec(line) ?? []
  const names = [...(assignments ?? '').matchAll(/(\w+)=/g)].map((match) => match[1])
  return names.length > 0 && names.every((name) => PLACEHOLDERS.some((placeholder) => placeholder === name))
}
