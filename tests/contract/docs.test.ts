import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { PAGES } from '../../scripts/docs.ts'
import { documents } from '../docs/markdown.ts'
import { ROOT } from './sources.ts'

/** First segments by which text in backticks is recognised as a path in the repository. */
const FOLDERS = '(?:core|gateway|jobs|migrations|creel|tests|bench|docs|deploy|scripts)'
const PATH_IN_CODE = new RegExp(`\`(${FOLDERS}/[\\w./-]+)\``, 'g')
const LINK = /\]\((?!https?:|mailto:|#)([^)#\s]+)/g

/** A link to a section, of another document or of the same. */
const SECTION = /\]\((?!https?:|mailto:)([^)#\s]*\.md|)#([^)\s]+)\)/g

/** The sections of a document, as GitHub makes anchors of headings. */
async function sectionsOf(document: string): Promise<ReadonlySet<string>> {
  const text = (await Bun.file(ROOT + document).text()).replaceAll(/^```[^\n]*\n.*?^```$/gms, '')
  return new Set(
    [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

/** Folders that are built or made at run time, so absent in a fresh clone. */
const MADE = /^(dist|\.creel)\//

describe('documents', () => {
  test.each(documents)('%s names only paths that exist', async (document) => {
    const text = await Bun.file(ROOT + document).text()
    const inCode = [...text.matchAll(PATH_IN_CODE)].map((match) => match[1] ?? '')
    const linked = [...text.matchAll(LINK)].map((match) => join(dirname(document), match[1] ?? ''))
    const missing = [...inCode, ...linked].filter((path) => !MADE.test(path) && !existsSync(ROOT + path))
    expect(missing).toEqual([])
  })

  test.each(documents)('%s links only to sections that exist', async (document) => {
    const links = [...(await Bun.file(ROOT + document).text()).matchAll(SECTION)]
    const lost = await Promise.all(
      links.map(async ([, path = '', section = '']) => {
        const target = path === '' ? document : join(dirname(document), path)
        return (await sectionsOf(target)).has(section) ? [] : [`${path}#${section}`]
      }),
    )
    expect(lost.flat()).toEqual([])
  })

  test('each decision is in the index, under its number', async () => {
    const index = await Bun.file(`${ROOT}docs/decisions/README.md`).text()
    const listed = [...index.matchAll(/^\| (\d+) \| \[(.+)\]\((\d{4}-[\w-]+\.md)\) \|$/gm)]
    const pages = documents.filter((path) => /^docs\/decisions\/\d/.test(path))
    expect(listed.map(([, , , file]) => `docs/decisions/${file}`)).toEqual(pages)
    for (const [, number = '', title, file = ''] of listed) {
      expect(Number(file.slice(0, 4))).toBe(Number(number))
      const page = await Bun.file(`${ROOT}docs/decisions/${file}`).text()
      expect(page).toStartWith(`# ${number}. ${title}\n\n## Problem\n`)
    }
  })

  test.each(Object.entries(PAGES))('%s is as the code would write it now', async (path, page) => {
    expect(await Bun.file(ROOT + path).text()).toBe(await page())
  })
})
