import { expect, test } from 'bun:test'
import { sourcesOf } from './sources.ts'

/** Functions that write any string to a terminal. Only `clients/terminal/src/output` uses them, and it escapes its input. */
const RAW =
  /\b(?:stdout|stderr)\s*\.\s*write\b|\bconsole\s*\.\s*\w+\(|\bstyleText\b|\bcreateLogUpdate\b|\bBun\.(?:stdout|stderr)\b/

test('the program writes to a terminal in one place', async () => {
  const sources = (await sourcesOf('clients/terminal', 'creel')).filter(({ isTest }) => !isTest)
  const raw = sources.filter(({ text }) => RAW.test(text)).map(({ path }) => path)
  expect(raw).toEqual([
    'clients/terminal/src/output/fullScreen.ts',
    'clients/terminal/src/output/safeText.ts',
    'clients/terminal/src/output/write.ts',
  ])
})
