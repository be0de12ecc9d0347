import { expect, test } from 'bun:test'
import { sourcesOf } from './sources.ts'

/** Ways to a terminal that take any string: only `creel/src/terminal` has them, and escapes what it is given. */
const RAW =
  /\b(?:stdout|stderr)\s*\.\s*write\b|\bconsole\s*\.\s*\w+\(|\bstyleText\b|\bcreateLogUpdate\b|\bBun\.(?:stdout|stderr)\b/

test('the program writes to a terminal in one place', async () => {
  const sources = (await sourcesOf('creel')).filter(({ isTest }) => !isTest)
  const raw = sources.filter(({ text }) => RAW.test(text)).map(({ path }) => path)
  expect(raw).toEqual([
    'creel/src/terminal/fullScreen.ts',
    'creel/src/terminal/safeText.ts',
    'creel/src/terminal/write.ts',
  ])
})
