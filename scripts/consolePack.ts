/**
 * The console's files for a start from the checkout, packed anew when one of them has changed. Imports nothing that would
 * have to be installed.
 */
import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { BUNDLES, fingerprintOf } from './bundle.ts'

const SOURCES = ['console']

/**
 * Packs the console unless that is done, in a process of its own: it goes on while the caller bundles the program.
 *
 * @param root of the checkout
 * @returns the pack's file; undefined where it cannot be made or written: the service then runs without the pages
 */
export async function packedConsole(root: string): Promise<string | undefined> {
  if (!existsSync(join(root, 'console/pack.ts'))) return undefined
  const folder = join(root, BUNDLES)
  const file = join(folder, `console-${fingerprintOf(root, SOURCES)}.pack`)
  if (existsSync(file)) return file
  const scratch = `${file}.${process.pid}`
  try {
    mkdirSync(folder, { recursive: true })
    const child = Bun.spawn([process.execPath, 'console/pack.ts', '--fast', '--out', scratch], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'ignore'],
    })
    if ((await child.exited) === 0) renameSync(scratch, file)
  } catch {
    // A checkout that is not ours to write, or another start that was faster.
  }
  return existsSync(file) ? file : undefined
}
