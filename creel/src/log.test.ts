import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'

const written = (code: string) => `
  const { createLog } = await import(${JSON.stringify(join(import.meta.dir, 'log.ts'))})
  ${code}`
const HELLO = 'createLog("info").info({ token: "hidden" }, "hello")'

/** The log of a process with this stderr. */
function logged(environment: Readonly<Record<string, string>>, onTerminal: boolean, code = HELLO): string {
  const command = [process.execPath, '-e', written(code)]
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

  test('has one line a second of a database that is away, and nothing that the driver dumps', () => {
    const text = logged(
      {},
      false,
      `const log = createLog("info")
      const away = Object.assign(new Error("terminating connection"), { code: "57P01", routine: "dumped" })
      for (let count = 0; count < 50; count += 1) log.warn({ err: away }, "away " + count)
      log.error({ err: Object.assign(new Error("ours"), { code: "22001", query: "dumped" }) }, "ours")`,
    )
    const [first = '', second = '', ...others] = text.trim().split('\n')
    expect(others).toEqual([])
    expect(JSON.parse(first)).toMatchObject({
      msg: 'away 0',
      err: { type: 'Error', code: '57P01', message: 'terminating connection' },
    })
    expect(JSON.parse(second)).toMatchObject({
      msg: 'ours',
      err: { code: '22001', stack: expect.any(String) },
    })
    expect(text).not.toContain('dumped')
    expect(first).not.toContain('stack')
  })

  test('waits for no reader that has stopped reading, nor does the exit', () => {
    const code = `
      const { createLog, logWritten } = await import(${JSON.stringify(join(import.meta.dir, 'log.ts'))})
      const log = createLog("info")
      for (let count = 0; count < 1000; count += 1) {
        log.info("x".repeat(300))
        if (count % 100 === 0) await Bun.sleep(1)
      }
      process.stdout.write("went on")
      await logWritten(log)
      process.exit(0)`
    // The shell holds the read end open, and does not read.
    const { stdout, exitCode } = Bun.spawnSync(
      [
        'sh',
        '-c',
        'dir=$(mktemp -d); mkfifo $dir/log; exec 3<>$dir/log 2>$dir/log; rm -r $dir; exec "$0" -e "$1"',
        process.execPath,
        code,
      ],
      { timeout: 120_000 },
    )
    expect(stdout.toString()).toBe('went on')
    expect(exitCode).toBe(0)
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
