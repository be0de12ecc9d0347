/**
 * Installs the packages of the lock file when they are not installed as it says. Run by itself or imported as the
 * first thing of a script; imports nothing that would have to be installed.
 *
 * Works where no `bun` is on the PATH (`npx -y bun@… run …`): it uses the Bun that it runs under.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '..')
const STAMP = join(ROOT, 'node_modules', '.installed')

/** Installs what is missing; does nothing (in a millisecond) when all is there. Ends the process when it fails. */
export function installMissing(): void {
  const wanted = createHash('sha256')
    .update(readFileSync(join(ROOT, 'bun.lock')))
    .digest('hex')
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return
  // Its progress belongs to stderr: stdout carries the ready line, or the output of a `--json` command.
  // Its summary would count install scripts that are not run: none is needed.
  const { exitCode } = Bun.spawnSync([process.execPath, 'install', '--frozen-lockfile', '--no-summary'], {
    cwd: ROOT,
    stdio: ['ignore', 2, 2],
  })
  if (exitCode !== 0) {
    process.stderr.write('The packages could not be installed; see above.\n')
    process.exit(exitCode ?? 1)
  }
  writeFileSync(STAMP, wanted)
}

if (import.meta.main) installMissing()
