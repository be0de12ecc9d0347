/**
 * The program as one file, which loads in half the time of its thousand modules and takes a fifth less memory. It is
 * rebuilt when a source or the lock file has changed. This file imports nothing that must be installed.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
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

const FILE = 'program.js'

/**
 * Bundles the program unless there is a current bundle.
 *
 * @param root of the checkout
 * @returns the file with the exports of `creel/src/program.ts`: compiled, if {@link compileBundle} has ended; the source
 *   itself if nothing can be bundled or written
 */
export function bundledProgram(root: string): string {
  const { folder, compiled } = bundleOf(root)
  if (existsSync(join(compiled, FILE))) return join(compiled, FILE)
  const file = join(folder, FILE)
  if (existsSync(file)) return file
  try {
    // In another process, so that the memory for bundling is released.
    const scratch = `${folder}.${process.pid}`
    if (Bun.spawnSync(buildWords(root, scratch, []), QUIET).success) renameSync(scratch, folder)
    removeOld(join(root, BUNDLES))
  } catch {
    // The checkout is read-only for us, or another start was faster.
  }
  return existsSync(file) ? file : join(root, ENTRY)
}

/**
 * Compiles the current bundle, if there is one, for the starts to come: a compiled one loads in a quarter of the time,
 * but takes 3 s of a processor to make. Another process does so, and leaves the processors to all others.
 */
export async function compileBundle(root: string): Promise<void> {
  const { folder, compiled } = bundleOf(root)
  if (!existsSync(folder) || existsSync(compiled)) return
  const scratch = `${folder}.${process.pid}`
  try {
    // Without the whole path, files that the program reads would be looked for beside their sources.
    const options = ['--format=cjs', '--bytecode', `--public-path=${compiled}/`]
    const child = Bun.spawn(buildWords(root, scratch, options), QUIET)
    setPriority(child.pid, constants.priority.PRIORITY_LOW)
    const kill = () => child.kill()
    process.once('exit', kill)
    if ((await child.exited) === 0) renameSync(scratch, compiled)
    process.off('exit', kill)
  } catch {
    // As above.
  }
}

const ENTRY = 'creel/src/program.ts'
const QUIET = { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' } as const

function bundleOf(root: string): { readonly folder: string; readonly compiled: string } {
  const folder = join(root, BUNDLES, fingerprintOf(root, SOURCES))
  return { folder, compiled: join(folder, 'compiled') }
}

function buildWords(root: string, to: string, options: readonly string[]): string[] {
  const production = '--define=process.env.NODE_ENV="production"'
  return [
    process.execPath,
    'build',
    '--target=bun',
    ...options,
    production,
    `--outdir=${to}`,
    join(root, ENTRY),
  ]
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
 * Digest of a bundle's input: every source by name, size and time, the packages by the lock file, the build by this file.
 *
 * @param folders of the sources, from the root; installed packages in them are skipped
 */
export function fingerprintOf(root: string, folders: readonly string[]): string {
  const hash = createHash('sha256')
    .update(Bun.version)
    .update(readFileSync(import.meta.path))
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
