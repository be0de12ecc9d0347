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

  test.each(Object.entries(PAGES))('%s is as the code would write it now', async (path, page) => {
    expect(await Bun.file(ROOT + path).text()).toBe(await page())
  })
})
