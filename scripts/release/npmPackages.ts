import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bytesOfFile, bytesOfText } from './bytes.ts'
import { packTarball, type TarballFile } from './tarball.ts'

const ROOT = join(import.meta.dir, '../..')

/** Systems that have an npm package with the executable, as Node names them. */
export const NPM_PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'] as const

/** A system that has an npm package with the executable. */
export type NpmPlatform = (typeof NPM_PLATFORMS)[number]

export interface PackageFacts {
  readonly version: string
  /** `https://…` of the sources. npm demands it of packages with provenance. */
  readonly repository: string | undefined
}

/** Facts of a package that npm reads before it fetches the package. */
export interface NpmManifest {
  readonly name: string
  readonly version: string
}

/** A tarball and its name, as `npm pack` would name it. */
export interface NpmTarball {
  readonly name: string
  readonly manifest: NpmManifest
  readonly contents: Uint8Array<ArrayBuffer>
}

const json = (value: object) => bytesOfText(`${JSON.stringify(value, null, 2)}\n`)

const repositoryOf = ({ repository }: PackageFacts) =>
  repository === undefined ? {} : { repository: { type: 'git', url: `git+${repository}.git` } }

/**
 * Makes the package `creel`: the launcher, which asks for the platform packages of the same version, and what starts a
 * Creel in a CI job (`action.yml`, `deploy/ci/start.sh`).
 */
export async function launcherTarball(facts: PackageFacts): Promise<NpmTarball> {
  const manifest = {
    name: 'creel',
    version: facts.version,
    description: 'Captures webhooks, shows them live, and replays them: one program with its own PostgreSQL.',
    keywords: ['webhook', 'webhooks', 'capture', 'inspect', 'replay', 'testing'],
    license: 'MIT',
    ...repositoryOf(facts),
    bin: { creel: 'creel.cjs' },
    engines: { node: '>=18' },
    optionalDependencies: Object.fromEntries(
      NPM_PLATFORMS.map((platform) => [`@creel/${platform}`, facts.version]),
    ),
  }
  const file = async (path: string, source: string, isExecutable = false): Promise<TarballFile> => ({
    path,
    contents: await bytesOfFile(join(ROOT, source)),
    isExecutable,
  })
  const files = [
    { path: 'package.json', contents: json(manifest) },
    await file('README.md', 'deploy/npm/README.md'),
    await file('LICENSE', 'LICENSE'),
    await file('creel.cjs', 'deploy/npm/creel.cjs', true),
    await file('action.yml', 'action.yml'),
    await file('deploy/ci/start.sh', 'deploy/ci/start.sh', true),
  ]
  return { name: `creel-${facts.version}.tgz`, manifest, contents: packTarball(files) }
}

/**
 * Makes the package `@creel/<platform>`, which npm installs on that system only.
 *
 * @param executable path of the executable for it
 */
export async function platformTarball(
  facts: PackageFacts,
  platform: NpmPlatform,
  executable: string,
): Promise<NpmTarball> {
  const [os, cpu] = platform.split('-')
  const manifest = {
    name: `@creel/${platform}`,
    version: facts.version,
    description: `The executable of creel for ${os} on ${cpu}. Install the package creel, which runs it.`,
    license: 'MIT',
    ...repositoryOf(facts),
    os: [os],
    cpu: [cpu],
    ...(os === 'linux' ? { libc: ['glibc'] } : {}),
    // Yarn would keep it in an archive, and no system runs a program from there.
    preferUnplugged: true,
  }
  const files: TarballFile[] = [
    { path: 'package.json', contents: json(manifest) },
    { path: 'LICENSE', contents: await bytesOfFile(join(ROOT, 'LICENSE')) },
    { path: 'bin/creel', contents: await bytesOfFile(executable), isExecutable: true },
  ]
  return { name: `creel-${platform}-${facts.version}.tgz`, manifest, contents: packTarball(files) }
}

/**
 * Makes the package `creel-client`.
 *
 * @param folder the package as `scripts/client/build.ts` makes it
 */
export async function clientTarball(facts: PackageFacts, folder: string): Promise<NpmTarball> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => path !== 'package.json')
  const built: unknown = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const manifest = { ...Object(built), name: 'creel-client', version: facts.version, ...repositoryOf(facts) }
  const files = await Promise.all(
    paths.map(
      async (path): Promise<TarballFile> => ({ path, contents: await bytesOfFile(join(folder, path)) }),
    ),
  )
  files.push({ path: 'package.json', contents: json(manifest) })
  return { name: `creel-client-${facts.version}.tgz`, manifest, contents: packTarball(files) }
}
