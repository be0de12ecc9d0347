import { expect, test } from 'bun:test'
import { join } from 'node:path'

const build = (...words: string[]) => {
  const { exitCode, stdout, stderr } = Bun.spawnSync([
    process.execPath,
    join(import.meta.dir, 'build.ts'),
    ...words,
  ])
  return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() }
}

test('the build says how it is called, and what it does not understand, without a stack', () => {
  expect(build('--help')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('[--target linux-x64|'),
  })
  const refused = build('--targets', 'all')
  expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
  expect(refused.stderr).toMatch(/^build: Unknown option '--targets'[^\n]*\nUsage: bun run build [^\n]*\n$/)
})
