/**
 * The program as one file, which loads in half the time of its thousand modules and takes a fifth less memory. It is
 * rebuilt when a source or the lock file has changed. This file imports nothing that must be installed.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

const KEPT_MILLISECONDS = 24 * 3_600_000
const SOURCES = [
  'clients/terminal',
  'clients/typescript',
  'core',
  'creel',
  'gateway',
  'jobs',
  'migrations',
].map((name) => `${name}/src`)

/**
 * Folder of bundles, from the root: below the program's packages, so that PostgreSQL, which is not bundled, is found.
 */
export const BUNDLES = 'creel/node_modules/.bundles'

/**
 * Bundles the program unless there is a current bundle.
 *
 * @param root of the checkout
 * @returns the file with the exports of `creel/src/program.ts`; that file itself if nothing can be bundled or written
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
    // In another process, so that the memory for bundling is released.
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
    // The checkout is read-only for us, or another start was faster.
  }
  return existsSync(file) ? file : entry
}

/** Removes old bundles. Recent ones are kept, since another service may run from one. */
function removeOld(bundles: string): void {
  for (const name of readdirSync(bundles)) {
    const path = join(bundles, name)
    if (Date.now() - statSync(path).mtimeMs > KEPT_MILLISECONDS)
      rmSync(path, { recursive: true, force: true })
  }
}

/**
 * Digest of a bundle's input: every source by name, size and time, the packages by the lock file.
 *
 * @param folders of the sources, from the root; installed packages in them are skipped
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
