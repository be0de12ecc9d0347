/**
 * Installs the packages of the lock file when installed ones differ from it, and makes the sources that are not committed.
 * It is run by itself, or imported first in a script, and imports nothing that must be installed.
 *
 * It works without `bun` on the PATH (`npx -y bun@… run …`), since it uses the Bun that runs it.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeClientCalls } from './client/types.ts'

const ROOT = join(import.meta.dir, '..')
const STAMP = join(ROOT, 'node_modules', '.installed')

/** Installs what is missing; a no-op of some milliseconds when nothing is. Exits the process when it fails. */
export function installMissing(): void {
  makeClientCalls()
  const hash = createHash('sha256').update(readFileSync(join(ROOT, 'bun.lock')))
  const patches = join(ROOT, 'patches')
  for (const name of readdirSync(patches).sort()) hash.update(readFileSync(join(patches, name)))
  const wanted = hash.digest('hex')
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
