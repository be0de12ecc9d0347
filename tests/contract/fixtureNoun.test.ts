import { expect, test } from 'bun:test'
import { join } from 'node:path'

/** Runs `surfaces.ts` in a process of its own, because it loads a router with one noun more. */
test('a noun in one folder is on every surface, from its declaration alone', async () => {
  const folder = join(import.meta.dir, 'fixtureNoun')
  const child = Bun.spawn(
    // It compiles the client, which takes long on a busy machine.
    [
      process.execPath,
      'test',
      '--timeout',
      '60000',
      '--preload',
      join(folder, 'listed.ts'),
      join(folder, 'surfaces.ts'),
    ],
    { cwd: join(import.meta.dir, '../..'), stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const [out, error, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  expect(code === 0 ? '' : `${out}${error}`).toBe('')
})
