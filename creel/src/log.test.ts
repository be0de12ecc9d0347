import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'

const WRITER = `
  const { createLog } = await import(${JSON.stringify(join(import.meta.dir, 'log.ts'))})
  createLog("info").info({ token: "hidden" }, "hello")`

/** What a process with this stderr writes as its log. */
function logged(environment: Readonly<Record<string, string>>, onTerminal: boolean): string {
  const command = [process.execPath, '-e', WRITER]
  const quoted = command.map((word) => `'${word}'`).join(' ')
  const words = onTerminal ? ['script', '-qec', quoted, '/dev/null'] : command
  const { stdout, stderr } = Bun.spawnSync(words, {
    env: { PATH: process.env.PATH, TERM: 'xterm', ...environment },
  })
  return stdout.toString() + stderr.toString()
}

describe('the log', () => {
  test('is JSON lines where nobody looks', () => {
    expect(JSON.parse(logged({}, false))).toMatchObject({ level: 'info', token: '[secret]', msg: 'hello' })
  })

  test.skipIf(Bun.which('script') === null)(
    'is coloured on a terminal, also of a build, unless NO_COLOR is set',
    () => {
      const coloured = logged({ NODE_ENV: 'production' }, true)
      expect(coloured).toContain('\u001b[3')
      expect(Bun.stripANSI(coloured)).toMatch(/^\[[\d:.]+\] INFO: hello\r?\n/)
      const plain = logged({ NO_COLOR: '1' }, true)
      expect(plain).toBe(Bun.stripANSI(plain))
      for (const text of [coloured, plain]) expect(text).not.toContain('hidden')
    },
  )
})
