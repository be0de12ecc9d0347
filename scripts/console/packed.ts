/**
 * The console's files for a start from the checkout, repacked when one of them has changed. This file imports nothing
 * that must be installed.
 */
import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { BUNDLES, fingerprintOf } from '../bundle.ts'

const SOURCES = ['console', 'scripts/console']

/**
 * Packs the console unless there is a current pack. It runs in a separate process, while the caller bundles the
 * program.
 *
 * @param root of the checkout
 * @returns the pack's file; undefined if it cannot be made or written, and the service then runs without the pages
 */
export async function packedConsole(root: string): Promise<string | undefined> {
  if (!existsSync(join(root, 'scripts/console/pack.ts'))) return undefined
  const folder = join(root, BUNDLES)
  const file = join(folder, `console-${fingerprintOf(root, SOURCES)}.pack`)
  if (existsSync(file)) return file
  const scratch = `${file}.${process.pid}`
  try {
    mkdirSync(folder, { recursive: true })
    const child = Bun.spawn([process.execPath, 'scripts/console/pack.ts', '--fast', '--out', scratch], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'ignore'],
    })
    if ((await child.exited) === 0) renameSync(scratch, file)
  } catch {
    // The checkout is read-only for us, or another start was faster.
  }
  return existsSync(file) ? file : undefined
}
