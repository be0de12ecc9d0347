/** Types, lint and format: everything that needs no database. Seconds. */
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '..')

/** The checks that `verify` runs, by what they are called when they fail. */
const CHECKS = {
  types: ['node_modules/typescript/bin/tsc', '--noEmit'],
  'types of the console': ['node_modules/typescript/bin/tsc', '--noEmit', '--project', 'console'],
  lint: ['node_modules/@biomejs/biome/bin/biome', 'check', '.'],
} as const

/**
 * Runs every check, all of them also after one failed, so that one run shows everything.
 *
 * @returns the names of the checks that failed
 */
export function verify(): string[] {
  return Object.entries(CHECKS)
    .filter(([, command]) => {
      // `--bun`: the tools' launchers ask for node, which need not be there.
      const { exitCode } = Bun.spawnSync([process.execPath, '--bun', ...command], {
        cwd: ROOT,
        stdio: ['ignore', 'inherit', 'inherit'],
      })
      return exitCode !== 0
    })
    .map(([name]) => name)
}

if (import.meta.main) {
  const failed = verify()
  if (failed.length > 0) {
    process.stderr.write(`verify: ${failed.join(' and ')} failed\n`)
    process.exit(1)
  }
}
