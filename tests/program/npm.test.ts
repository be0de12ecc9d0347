import { beforeAll, describe, expect, test } from 'bun:test'
import { cp, mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Subprocess } from 'bun'
import packageJson from '../../creel/package.json' with { type: 'json' }
import { launcherTarball, NPM_PLATFORMS, platformTarball } from '../../scripts/release/npmPackages.ts'
import { atEnd } from '../support/atEnd.ts'
import { eventually } from '../support/eventually.ts'
import { startNpmRegistry } from '../support/npmRegistry.ts'
import { executable, prepareDataFolder, temporaryFolder } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'

/** The packages as strangers get them: installed by npm into an empty project, on a machine without Bun. */

const ROOT = join(import.meta.dir, '../..')
const FACTS = { version: packageJson.version, repository: undefined }
/** Largest size of an installation. */
const INSTALLED_BYTES_MAX = 180_000_000
const NODE = Bun.which('node')
const PLATFORM = NPM_PLATFORMS.find((platform) => platform === `${process.platform}-${process.arch}`)
const hasNpm = NODE !== null && Bun.which('npm') !== null && PLATFORM !== undefined

let project: string
let environment: Record<string, string>
let fetched: readonly string[]

interface Ended {
  readonly code: number
  readonly out: string
  readonly errors: string
}

async function run(command: readonly string[], cwd = project): Promise<Ended> {
  const child = Bun.spawn([...command], { cwd, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, out, errors }
}

/** The executable of this run, or one that is built here. */
async function built(): Promise<string> {
  if (executable !== undefined) return executable
  const outdir = await temporaryFolder()
  const build = await run([process.execPath, join(ROOT, 'scripts/build.ts'), '--outdir', outdir], ROOT)
  if (build.code !== 0) throw new Error(build.errors)
  return join(outdir, 'creel')
}

/** Node and npm, and the programs of the system that they need. */
async function pathWithoutBun(): Promise<string> {
  const folder = await temporaryFolder()
  for (const name of ['node', 'npm', 'npx', 'sh']) await symlink(Bun.which(name) ?? name, join(folder, name))
  return folder
}

beforeAll(async () => {
  if (!hasNpm) return
  const home = await temporaryFolder()
  await mkdir(join(home, '.local/share'), { recursive: true, mode: 0o711 })
  await prepareDataFolder(join(home, '.local/share/creel'))
  environment = { PATH: await pathWithoutBun(), HOME: home, CREEL_PORT: '0', NO_UPDATE_NOTIFIER: '1' }
  const launcher = await launcherTarball(FACTS)
  const ofPlatform = await platformTarball(FACTS, PLATFORM, await built())
  await using registry = startNpmRegistry([launcher, ofPlatform])
  project = await temporaryFolder()
  await writeFile(join(project, 'package.json'), '{"private":true}')
  const installed = await run([
    'npm',
    'install',
    'creel',
    '--no-audit',
    '--no-fund',
    `--registry=${registry.url}`,
  ])
  if (installed.code !== 0) throw new Error(installed.errors)
  fetched = registry.fetched
})

/** Lines of a running command, as they come. */
function follow(child: Subprocess<'ignore', 'pipe', 'pipe'>): (pattern: RegExp) => Promise<string> {
  let [output, errors] = ['', '']
  const collect = async (stream: ReadableStream<Uint8Array>, take: (text: string) => void) => {
    for await (const chunk of stream) take(new TextDecoder().decode(chunk))
  }
  void collect(child.stdout, (text) => {
    output += text
  })
  void collect(child.stderr, (text) => {
    errors += text
  })
  return async (pattern) => {
    await eventually(`${pattern} of ${output}${errors}`, () => pattern.test(output))
    return output
  }
}

function start(words: readonly string[], cwd: string) {
  const child = Bun.spawn([...words], { cwd, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  const forget = atEnd('owners', () => {
    child.kill('SIGTERM')
    return child.exited
  })
  void child.exited.then(forget)
  return { child, until: follow(child) }
}

describe.skipIf(!hasNpm)('npm install creel, without Bun', () => {
  test('installs one executable of at most 180 MB and nothing else', async () => {
    expect(Bun.which('bun', { PATH: environment.PATH ?? '' })).toBeNull()
    expect([...fetched].sort()).toEqual([`@creel/${PLATFORM}`, 'creel'])
    const modules = join(project, 'node_modules')
    const files = await readdir(modules, { recursive: true, withFileTypes: true })
    const sizes = await Promise.all(
      files
        .filter((file) => file.isFile())
        .map(async (file) => (await stat(join(file.parentPath, file.name))).size),
    )
    const bytes = sizes.reduce((sum, size) => sum + size, 0)
    expect(bytes).toBeLessThan(INSTALLED_BYTES_MAX)
    const version = await run(['npx', 'creel', '--version'])
    expect(version).toMatchObject({ code: 0, out: `${packageJson.version}\n` })
  })

  test('npx creel captures, listen brings it to a server, and both end with their npx', async () => {
    await using receiver = await startReceiver()
    const creel = start(['npx', '--offline', 'creel'], project)
    const block = await creel.until(/^ {2}npx creel listen/m)
    const hook = /^ {2}export HOOK=(\S+)$/m.exec(block)?.[1] ?? ''
    expect((await fetch(`${hook}/before`, { method: 'POST', body: 'x' })).status).toBe(200)

    const launched = join(project, 'node_modules/.bin/creel')
    const listening = start([launched, 'listen', '--to', String(receiver.port)], project)
    await listening.until(/\/hook\//)
    await fetch(`${hook}/paid`, { method: 'POST', body: 'x' })
    expect((await receiver.take(1))[0]).toMatchObject({ url: '/paid' })
    listening.child.kill('SIGTERM')
    expect(await listening.child.exited).toBe(0)

    creel.child.kill('SIGTERM')
    const base = new URL(hook).origin
    await eventually('the end of the service', () =>
      fetch(`${base}/healthz`).then(
        () => false,
        () => true,
      ),
    )
    const services = join(environment.HOME ?? '', '.local/state/creel/services')
    await eventually('the end of its entry', async () => (await readdir(services)).length === 0)
  })

  test('ends with the exit code of the executable, and by the signal that ended it', async () => {
    expect(await run(['npx', 'creel', 'nonsense'])).toMatchObject({ code: 2 })
    const modules = join(await temporaryFolder(), 'node_modules')
    await cp(join(project, 'node_modules/creel'), join(modules, 'creel'), { recursive: true })
    await mkdir(join(modules, `@creel/${PLATFORM}/bin`), { recursive: true })
    await writeFile(join(modules, `@creel/${PLATFORM}/package.json`), '{}')
    await writeFile(join(modules, `@creel/${PLATFORM}/bin/creel`), '#!/bin/sh\nkill -9 $$\n', { mode: 0o755 })
    const { child } = start(['node', join(modules, 'creel/creel.cjs')], project)
    await child.exited
    expect(child.signalCode).toBe('SIGKILL')
  })

  test.each([
    ['win32', 'x64', 'Windows Subsystem for Linux'],
    ['freebsd', 'x64', 'no executable for freebsd-x64'],
    ['linux', 'riscv64', 'one for each of: linux-x64, linux-arm64, darwin-x64, darwin-arm64'],
    [process.platform === 'darwin' ? 'linux' : 'darwin', 'arm64', 'Remove node_modules and install again'],
  ])('on %s and %s it says what to do', async (platform, arch, advice) => {
    const elsewhere = join(await temporaryFolder(), 'elsewhere.cjs')
    const properties = JSON.stringify({ platform: { value: platform }, arch: { value: arch } })
    await writeFile(elsewhere, `Object.defineProperties(process, ${properties})`)
    const launched = await run([
      'node',
      '--require',
      elsewhere,
      join(project, 'node_modules/creel/creel.cjs'),
    ])
    expect(launched).toMatchObject({ code: 1, out: '' })
    expect(launched.errors).toContain(advice)
    expect(launched.errors).not.toMatch(/^ {4}at /m)
  })
})

test.skipIf(!hasNpm)('npm pack refuses to pack the sources of the client', async () => {
  const folder = join(ROOT, 'clients/typescript')
  const { code, errors } = await run(['npm', 'pack'], folder)
  expect(code).not.toBe(0)
  expect(errors).toContain('bun run client:pack')
  expect((await readdir(folder)).filter((name) => name.endsWith('.tgz'))).toEqual([])
})
