/** Types, lint, format and size: everything that needs no database. Half a minute on two cores. */
import { join } from 'node:path'
import { makeClientTypes } from './client/types.ts'
import { roomsOverBound, sizeInWords } from './size.ts'

const ROOT = join(import.meta.dir, '..')

// One checker each: several would check many types twice, and on two cores that costs more than it saves.
const TSC = ['node_modules/typescript/bin/tsc', '--noEmit', '--checkers', '1'] as const

/** The checks of `verify`, by their names in a failure. */
const CHECKS = {
  types: TSC,
  'types of the console': [...TSC, '--project', 'console'],
  lint: ['node_modules/@biomejs/biome/bin/biome', 'check', '.'],
} as const

/**
 * Runs all checks in parallel. Each continues when another has failed, so that one run shows everything.
 *
 * @returns the names of the checks that failed
 */
export async function verify(): Promise<string[]> {
  await makeClientTypes()
  const results = await Promise.all(
    Object.entries(CHECKS).map(async ([name, command]) => {
      // `--bun`, since the tools' launchers need node, which may not be installed.
      const child = Bun.spawn([process.execPath, '--bun', ...command], {
        cwd: ROOT,
        stdio: ['ignore', 'inherit', 'inherit'],
      })
      return (await child.exited) === 0 ? [] : [name]
    }),
  )
  const tooLarge = roomsOverBound()
  process.stdout.write(`Product: ${sizeInWords()}.\n`)
  for (const line of tooLarge) process.stderr.write(`${line}\n`)
  return [...results.flat(), ...(tooLarge.length > 0 ? ['size'] : [])]
}

if (import.meta.main) {
  const failed = await verify()
  if (failed.length > 0) {
    process.stderr.write(`verify: ${failed.join(' and ')} failed\n`)
    process.exit(1)
  }
}
