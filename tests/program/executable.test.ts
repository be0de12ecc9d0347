import { beforeAll, describe, expect, test } from 'bun:test'
import { copyFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createTestDatabase } from '../support/database.ts'
import {
  executable,
  type RunningProcess,
  runCreel,
  startProcess,
  temporaryFolder,
} from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'

const ROOT = join(import.meta.dir, '../..')
const isRoot = process.getuid?.() === 0
/** An environment in which neither Bun nor Node nor any other program can be found. */
const BARE = { PATH: '' }

let built: string

beforeAll(async () => {
  if (executable !== undefined) {
    built = executable
    return
  }
  const outdir = await temporaryFolder()
  const build = Bun.spawnSync([process.execPath, join(ROOT, 'scripts/build.ts'), '--outdir', outdir], {
    cwd: ROOT,
  })
  expect(build.exitCode).toBe(0)
  built = join(outdir, 'creel')
})

/** A folder that contains only the executable. */
async function bareFolder(): Promise<{ cwd: string; program: string[] }> {
  const cwd = await temporaryFolder()
  await copyFile(built, join(cwd, 'creel'))
  return { cwd, program: [join(cwd, 'creel')] }
}

describe('the single executable', () => {
  test('captures a webhook and shows it, in an empty folder with an empty PATH, and again after a restart', async () => {
    const { cwd, program } = await bareFolder()
    const creel = await startProcess({ cwd, program, env: BARE })
    const url = creel.first?.captureUrl ?? ''
    const headers = { Authorization: `Bearer ${creel.first?.key}` }
    expect((await fetch(url, { method: 'POST', body: '{"hello":"world"}' })).status).toBe(200)

    const made = await runCreel(['workspace', 'create', '--name', 'beside', '--json'], {
      cwd,
      program,
      env: BARE,
    })
    expect(JSON.parse(made.stdout)).toMatchObject({ name: 'beside', plan: 'team' })
    expect(await creel.stop()).toBe(0)
    expect((await readdir(cwd)).sort()).toEqual(['.creel', 'creel'])

    const again = await startProcess({ cwd, program, env: BARE })
    const id = url.slice(url.lastIndexOf('/') + 1)
    const list = await fetch(`${again.baseUrl}/api/v1/endpoints/${id}/requests`, { headers })
    expect(await list.json()).toMatchObject({ totalCount: 1, items: [{ bodyPreview: '{"hello":"world"}' }] })
    expect(await again.stop()).toBe(0)
  })

  test.if(isRoot)('runs as another user too, who owns the folder and nothing else', async () => {
    const { cwd, program } = await bareFolder()
    const account = { uid: 65_534, gid: 65_534 }
    await Bun.$`chown -R 65534:65534 ${cwd}`.quiet()
    const creel = await startProcess({ cwd, program, account, env: BARE })
    expect((await fetch(creel.first?.captureUrl ?? '', { method: 'POST', body: 'x' })).status).toBe(200)
    expect((await stat(join(cwd, '.creel'))).mode & 0o777).toBe(0o700)
    expect(await creel.stop()).toBe(0)
  })

  test('forwards a capture, through the guarded client that Bun would swap for its own', async () => {
    const { cwd, program } = await bareFolder()
    const database = await createTestDatabase()
    await using receiver = await startReceiver()
    const refusing = await startProcess({ cwd, program, database, env: BARE })
    const { key = '', captureUrl = '' } = refusing.first ?? {}
    const path = `/api/v1/endpoints/${captureUrl.slice(captureUrl.lastIndexOf('/') + 1)}/actions`
    const addAction = (creel: RunningProcess) =>
      fetch(creel.baseUrl + path, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ kind: 'forward', url: receiver.url }),
      })
    // A private address is refused until the operator allows it.
    expect((await addAction(refusing)).status).toBe(400)
    expect(await refusing.stop()).toBe(0)

    const env = { ...BARE, CREEL_ALLOW_DESTINATIONS: '127.0.0.0/8' }
    const allowing = await startProcess({ cwd, program, database, env })
    expect((await addAction(allowing)).status).toBe(201)
    const id = captureUrl.slice(captureUrl.lastIndexOf('/') + 1)
    await fetch(`${allowing.captureUrl}/hook/${id}`, { method: 'POST', body: 'to be forwarded' })
    const [forwarded] = await receiver.take(1)
    expect(forwarded?.body.toString()).toBe('to be forwarded')
    expect(await allowing.stop()).toBe(0)
    await database.drop()
  })

  test('needs no folder of its own beside a database that it is given', async () => {
    const { cwd, program } = await bareFolder()
    const database = await createTestDatabase()
    const creel = await startProcess({ cwd, program, database, env: BARE })
    expect((await fetch(`${creel.baseUrl}/readyz`)).status).toBe(200)
    expect(await creel.stop()).toBe(0)
    expect(await readdir(cwd)).toEqual(['creel'])
    await database.drop()
  })
})
