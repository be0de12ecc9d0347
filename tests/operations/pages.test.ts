import { beforeAll, describe, expect, test } from 'bun:test'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startService, type TestService } from '../support/service.ts'

/** The documentation as text, served by the program itself, for agents and for use without a browser. */

const DOCS = join(import.meta.dir, '../../docs')
let service: TestService

beforeAll(async () => {
  service = await startService({ parts: ['gateway'] })
})

describe('/llms.txt', () => {
  test('links every page of the documentation, each as it stands in the repository', async () => {
    const index = await fetch(`${service.baseUrl}/llms.txt`)
    expect(index.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    const text = await index.text()
    expect(text).toStartWith('# Creel\n\n> ')
    const links = [...text.matchAll(/\]\((\S+\/docs\/(\S+\.md))\)/g)]
    // Decisions are for contributors: they are read beside the code.
    const files = (await readdir(DOCS, { recursive: true })).filter(
      (file) => file.endsWith('.md') && !file.startsWith('decisions/'),
    )
    expect(links.map(([, , file]) => file ?? '').sort()).toEqual(files.sort())
    for (const [, url = '', file = ''] of links) {
      const page = await fetch(url)
      expect(page.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
      expect(await page.text()).toBe(await readFile(join(DOCS, file), 'utf8'))
    }
    expect(await (await fetch(`${service.baseUrl}/docs.md`)).text()).toBe(text)
  })

  test('a page that became a part of another one leads there', async () => {
    const moved = await fetch(`${service.baseUrl}/docs/oauth.md`, { redirect: 'manual' })
    expect([moved.status, moved.headers.get('location')]).toEqual([301, `${service.baseUrl}/docs/agents.md`])
  })
})
