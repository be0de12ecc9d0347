import { describe, expect, test } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'
import { fencesOf, textOf } from './markdown.ts'

const PAGE = fencesOf(textOf('docs/delivery.md'))
const SECRET = 'a-long-shared-secret'

/** The command of a snippet, which exits with 0 when it accepts `[body file, header, secret]`. */
const LANGUAGES = {
  js: {
    command: (file: string, words: readonly string[]) => [process.execPath, file, ...words],
    call: `
import { readFileSync } from 'node:fs'
const [, , file, header, secret] = process.argv
process.exit(verify(readFileSync(file), header, secret) ? 0 : 1)`,
  },
  python: {
    command: (file: string, words: readonly string[]) => ['python3', file, ...words],
    call: `
import sys
sys.exit(0 if verify(open(sys.argv[1], "rb").read(), sys.argv[2], sys.argv[3]) else 1)`,
  },
  bash: {
    command: (file: string, words: readonly string[]) => ['bash', file, ...words],
    call: `
verify "$@"`,
  },
} as const

describe('the snippets that verify creel-signature', async () => {
  const folder = await temporaryFolder()
  for (const [language, { command, call }] of Object.entries(LANGUAGES)) {
    const snippet = PAGE.find((fence) => fence.language === language)?.code ?? ''
    const isInstalled = Bun.which(command('', [])[0] ?? '') !== null
    test.skipIf(!isInstalled)(
      `${language}: accepts a forward, refuses a changed body, another secret and an old time`,
      async () => {
        const service = await startService()
        await using receiver = await startReceiver()
        const endpoint = await service.alice.endpoint()
        await service.alice.post(endpoint.at('/actions'), {
          kind: 'forward',
          url: receiver.url,
          signingSecret: SECRET,
        })
        await endpoint.send({ body: '{"zürich":1.50}' })
        const [forward] = await receiver.take(1)
        const header = forward?.header('creel-signature') ?? ''
        const body = join(folder, `body.${language}`)
        await writeFile(body, forward?.body ?? '')
        const changed = join(folder, `changed.${language}`)
        await writeFile(changed, `${forward?.body} `)
        const program = join(folder, `verify.${language === 'js' ? 'mjs' : language}`)
        await writeFile(program, snippet + call)
        const accepts = async (...words: string[]) =>
          (await Bun.spawn(command(program, words), { stdio: ['ignore', 'ignore', 'inherit'] }).exited) === 0

        expect(await accepts(body, header, SECRET)).toBe(true)
        expect(
          await accepts(body, `${header.split(',')[0]},v1=${'0'.repeat(64)},${header.split(',')[1]}`, SECRET),
        ).toBe(true)
        expect(await accepts(changed, header, SECRET)).toBe(false)
        expect(await accepts(body, header, 'another-long-secret')).toBe(false)
        expect(await accepts(body, header.replace(/t=\d+/, 't=1700000000'), SECRET)).toBe(false)
      },
    )
  }
})
