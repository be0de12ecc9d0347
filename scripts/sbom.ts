/**
 * `bun scripts/sbom.ts [--out file]`: the components of the executable, as a CycloneDX 1.6 document: every package that
 * bun.lock resolves for the shipped parts, with its version, checksum and dependencies. The same lock file makes the
 * same bytes.
 */
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import packageJson from '../creel/package.json' with { type: 'json' }

const ROOT = join(import.meta.dir, '..')

/** Workspaces whose packages are in the executable. The console's are built into its pages. */
const SHIPPED = [
  'core',
  'gateway',
  'jobs',
  'migrations',
  'creel',
  'clients/terminal',
  'clients/typescript',
  'console',
]

/** An object of a JSON document; an empty one for anything else. */
function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

/** Names of the run-time dependencies of an entry of the lock file. */
function needsOf(value: unknown): string[] {
  const { dependencies, optionalDependencies } = membersOf(value)
  return Object.keys({ ...membersOf(dependencies), ...membersOf(optionalDependencies) }).sort()
}

/** A package as the lock file resolves it. */
interface Resolved {
  readonly key: string
  readonly name: string
  readonly version: string
  readonly sha512: string | null
  readonly needs: readonly string[]
}

/** The document for the lock file's text, and the version of the program. */
function sbomOf(lockText: string, version: string): object {
  // Its commas before closing brackets are not valid JSON.
  const lock = membersOf(JSON.parse(lockText.replaceAll(/,(\s*[}\]])/g, '$1')))
  const packages = membersOf(lock.packages)
  const workspaces = membersOf(lock.workspaces)
  const found = new Map<string, Resolved>()
  const visit = (from: string, name: string): string | undefined => {
    const key = keyOf(packages, from, name)
    if (key === undefined) return undefined
    const known = found.get(key)
    if (known !== undefined) return refOf(known)
    const entryOfLock: unknown = packages[key]
    const [spec, , needs, integrity]: readonly unknown[] = Array.isArray(entryOfLock) ? entryOfLock : []
    const text = String(spec)
    const at = text.lastIndexOf('@')
    // Our own workspaces are the program itself.
    if (text.includes('@workspace:')) return undefined
    const resolved = {
      key,
      name: text.slice(0, at),
      version: text.slice(at + 1),
      sha512: typeof integrity === 'string' ? integrity.replace(/^sha512-/, '') : null,
    }
    const entry = { ...resolved, needs: [] as string[] }
    found.set(key, entry)
    entry.needs.push(...needsOf(needs).flatMap((needed) => visit(key, needed) ?? []))
    return refOf(entry)
  }
  const roots = SHIPPED.flatMap((folder) => {
    const workspace = membersOf(workspaces[folder])
    const built = folder === 'console' ? Object.keys(membersOf(workspace.devDependencies)) : []
    return [...needsOf(workspace), ...built].flatMap((name) => visit('', name) ?? [])
  })
  const components = [...new Map([...found.values()].map((one) => [refOf(one), one])).values()].sort(
    (a, b) => (refOf(a) < refOf(b) ? -1 : 1),
  )
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(lockText + version)}`,
    version: 1,
    metadata: { component: { type: 'application', 'bom-ref': 'creel', name: 'creel', version } },
    components: components.map((one) => ({
      type: 'library',
      'bom-ref': refOf(one),
      name: one.name,
      version: one.version,
      purl: refOf(one),
      ...(one.sha512 === null
        ? {}
        : { hashes: [{ alg: 'SHA-512', content: Buffer.from(one.sha512, 'base64').toString('hex') }] }),
    })),
    dependencies: [
      { ref: 'creel', dependsOn: [...new Set(roots)].sort() },
      ...components.map((one) => ({ ref: refOf(one), dependsOn: [...new Set(one.needs)].sort() })),
    ],
  }
}

/** Key of a package in the lock file that another one needs: nearest first, as modules are resolved. */
function keyOf(packages: Readonly<Record<string, unknown>>, from: string, name: string): string | undefined {
  for (let path = from; path !== ''; path = parentOf(path)) {
    if (`${path}/${name}` in packages) return `${path}/${name}`
  }
  return name in packages ? name : undefined
}

/** The key without its last package name. Scoped names contain a slash themselves. */
function parentOf(key: string): string {
  return key.replace(/(^|\/)(@[^/]+\/)?[^/]+$/, '')
}

function refOf({ name, version }: Pick<Resolved, 'name' | 'version'>): string {
  return `pkg:npm/${name.replace(/^@/, '%40')}@${version}`
}

/** A UUID from the contents, so that two builds of the same sources have the same. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-')
}

/** The text of the document for this checkout. */
export async function sbomText(): Promise<string> {
  return `${JSON.stringify(sbomOf(await readFile(join(ROOT, 'bun.lock'), 'utf8'), packageJson.version), null, 2)}\n`
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { out: { type: 'string', default: join(ROOT, 'dist', 'creel.cdx.json') } },
  })
  await writeFile(values.out, await sbomText())
}
