import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }
import { bytesOfText } from '../../scripts/release/bytes.ts'
import { packTarball } from '../../scripts/release/tarball.ts'
import { fencesOf, textOf } from '../docs/markdown.ts'
import { atEnd } from '../support/atEnd.ts'
import { eventually } from '../support/eventually.ts'
import { startNpmRegistry } from '../support/npmRegistry.ts'
import { prepareDataFolder, temporaryFolder } from '../support/process.ts'

/** The first command of README, word for word, in a fresh clone on a machine with Node, without Bun and with an empty home. */

const ROOT = join(import.meta.dir, '../..')
const PATH = '/usr/sbin:/usr/bin:/sbin:/bin'
const [name = '', version = ''] = packageJson.packageManager.split('@')
const canRun =
  existsSync(join(ROOT, '.git')) && ['git', 'node', 'npx'].every((each) => Bun.which(each, { PATH }) !== null)

/** The package `bun` of a registry on this machine: the Bun of this run, which keeps its cache of packages. */
function bunPackage() {
  const manifest = { name, version, bin: { bun: 'bun' } }
  const script = `#!/bin/sh\nunset npm_config_registry\nexec '${process.execPath}' "$@"\n`
  const files = [
    { path: 'package.json', contents: bytesOfText(JSON.stringify(manifest)) },
    { path: 'bun', contents: bytesOfText(script), isExecutable: true },
  ]
  return { name: 'bun.tgz', manifest, contents: packTarball(files) }
}

test.skipIf(!canRun)(
  'a fresh clone captures what the first command of README printed the URL for, and ends with its npx',
  async () => {
    expect(Bun.which('bun', { PATH })).toBeNull()
    // On a disk, as the cache of packages: links to it work within one file system, and a copy would fill the memory.
    const clone = join(await temporaryFolder('/var/tmp'), 'creel')
    await Bun.$`git clone --quiet ${ROOT} ${clone}`.quiet()
    await prepareDataFolder(join(clone, '.creel'))
    const cache = (await Bun.$`${process.execPath} pm cache`.cwd(ROOT).text()).trim()
    await using registry = startNpmRegistry([bunPackage()])
    const home = await temporaryFolder()
    const [first = ''] = fencesOf(textOf('README.md'))[0]?.code.split('\n') ?? []
    const child = Bun.spawn(['sh', '-c', `exec ${first}`], {
      cwd: clone,
      env: {
        PATH,
        HOME: home,
        CREEL_PORT: '0',
        BUN_INSTALL_CACHE_DIR: cache,
        npm_config_registry: registry.url,
        NO_UPDATE_NOTIFIER: '1',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const forget = atEnd('owners', () => {
      child.kill('SIGTERM')
      return child.exited
    })
    void child.exited.then(forget)
    const errors = new Response(child.stderr).text()
    let lines = ''
    for await (const chunk of child.stdout) {
      lines += new TextDecoder().decode(chunk)
      if (/^creel ready .*\n/m.test(lines)) break
    }
    if (!lines.includes('creel ready')) throw new Error(`${lines}${await errors}`)
    const printed = (start: string) => new RegExp(`^${start}(\\S+)`, 'm').exec(lines)?.[1] ?? ''
    const [base, key, hook] = [
      printed('creel ready base='),
      printed('creel key '),
      printed('creel endpoint '),
    ]
    const body = JSON.stringify({ type: 'order.paid' })
    const headers = { 'Content-Type': 'application/json' }
    expect((await fetch(`${hook}/orders`, { method: 'POST', headers, body })).status).toBe(200)
    const stored = await fetch(
      `${base}/api/v1/endpoints/${hook.split('/').at(-1)}/requests?label=order.paid`,
      {
        headers: { Authorization: `Bearer ${key}` },
      },
    )
    expect(await stored.json()).toMatchObject({ totalCount: 1 })
    expect((await fetch(`${base}/console/`)).status).toBe(200)

    const service = Number(await readFile(join(clone, '.creel/owner.pid'), 'utf8'))
    child.kill('SIGTERM')
    await child.exited
    // stderr is closed when the last process that uses it has ended.
    expect(await errors).toContain(`npx -y ${packageJson.packageManager} run creel console`)
    await eventually('the end of the service', () => !existsSync(`/proc/${service}`))
  },
)
