/**
 * `bun run release [--repository https://…] [--outdir dist/release]`: everything that a release publishes, in an emptied folder:
 * executables for every system, npm tarballs (`creel`, one for each platform, `creel-client`), the list of what they are made of, the Homebrew
 * formula, the context of the container image, and `SHA256SUMS`. The same sources make the same bytes.
 */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { installMissing } from './install.ts'

installMissing()
// Not before: they import packages.
const { assembleRelease } = await import('./release/assemble.ts')
const { sbomText } = await import('./sbom.ts')
const { default: program } = await import('../creel/package.json', { with: { type: 'json' } })

const ROOT = join(import.meta.dir, '..')

const { values } = parseArgs({
  options: {
    repository: { type: 'string' },
    outdir: { type: 'string', default: join(ROOT, 'dist', 'release') },
  },
})
/** A step that failed, after what it has said itself: no stack would tell more. */
class StepError extends Error {}

const outdir = resolve(values.outdir)
const repository = values.repository?.replace(/(\.git|\/)+$/, '')
const scratch = await mkdtemp(join(tmpdir(), 'creel-release-'))
try {
  await rm(outdir, { recursive: true, force: true })
  await mkdir(outdir, { recursive: true })
  run('scripts/build.ts', '--target', 'all', '--outdir', outdir)
  // The build names that of this machine as its users type it.
  const own = join(outdir, 'creel')
  if (existsSync(own)) await rename(own, `${own}-${process.platform}-${process.arch}`)
  const client = join(scratch, 'client')
  run('scripts/client/build.ts', client)
  const parts = { version: program.version, repository, client, sbom: await sbomText() }
  const names = await assembleRelease(outdir, parts)
  for (const name of names) {
    const { size } = await stat(join(outdir, name))
    process.stdout.write(`${String(Math.ceil(size / 1000)).padStart(7)} kB  ${name}\n`)
  }
  process.stdout.write(`${relative(process.cwd(), outdir)}: release ${program.version}\n`)
} catch (error) {
  if (!(error instanceof StepError)) throw error
  process.stderr.write(`release: ${error.message}\n`)
  process.exitCode = 1
} finally {
  await rm(scratch, { recursive: true, force: true })
}

/** Runs a script of this checkout; throws a StepError where it fails. */
function run(script: string, ...words: string[]): void {
  const { exitCode } = Bun.spawnSync([process.execPath, join(ROOT, script), ...words], {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (exitCode !== 0) throw new StepError(`${script} failed.`)
}
