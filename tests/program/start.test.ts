import { describe, expect, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathLikeNpx, preparedFolder } from '../support/process.ts'

const ROOT = join(import.meta.dir, '../..')

const FILES = ['/docs', '/docs/swagger-ui.css', '/docs/swagger-ui-bundle.js', '/docs/icon.png']

describe('bun run start', () => {
  test.each([
    ['is ended with', 'SIGTERM'],
    ['is killed with', 'SIGKILL'],
  ] as const)(
    'serves its files, and drains when the shell between npx and it %s %s',
    async (_words, signal) => {
      const dataDir = join(await preparedFolder(), '.creel')
      // Like npx: a shell that waits for Bun, and passes on no signal.
      const shell = Bun.spawn(['sh', '-c', 'bun run start; exit $?'], {
        cwd: ROOT,
        env: { PATH: await pathLikeNpx(), CREEL_PORT: '0', CREEL_DATA_DIR: dataDir, CREEL_LOG_LEVEL: 'info' },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const errors = new Response(shell.stderr).text()
      let lines = ''
      for await (const chunk of shell.stdout) {
        lines += new TextDecoder().decode(chunk)
        if (/^creel ready base=/m.test(lines)) break
      }
      const baseUrl = /^creel ready base=(\S+)/m.exec(lines)?.[1]
      for (const file of FILES) expect((await fetch(baseUrl + file)).status).toBe(200)

      const service = Number(await readFile(join(dataDir, 'owner.pid'), 'utf8'))
      expect(service).not.toBe(shell.pid)
      shell.kill(signal)
      await shell.exited
      // stderr is closed when the last process that uses it has ended.
      expect(await errors).toContain('"msg":"stopped"')
    },
  )
})
