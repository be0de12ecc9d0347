import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { functionsPage } from './docs.ts'

test('docs/rules-functions.md is what `bun scripts/ruleFunctions.ts` prints', async () => {
  const page = Bun.file(join(import.meta.dir, '../../../../docs/rules-functions.md'))
  expect(await page.text()).toBe(functionsPage())
})
