import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { type RunningProcess, runCreel, startProcess } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { startCommand } from './listenerProcess.ts'
import { emptyHome, fails, succeeds } from './support.ts'

/** A public URL for a program on this machine, in one command, from a relay. */

let database: TestDatabase
let relay: RunningProcess
let env: Record<string, string>

beforeAll(async () => {
  database = await createTestDatabase()
  relay = await startProcess({ database, command: 'relay' })
  env = { HOME: await emptyHome() }
})

afterAll(async () => {
  await relay.stop()
  await database.drop()
})

test('creel listen gets a URL from a relay, sends its captures here, and has the same URL again', async () => {
  await using local = await startReceiver()
  const words = ['listen', '--relay', relay.baseUrl, '--to', `http://127.0.0.1:${local.port}`]
  const first = startCommand(words, env)
  await first.says(/connected/)
  const url = first.stdout().trim()
  expect(url).toStartWith(`${relay.captureUrl}/hook/`)
  expect(first.stderr()).toMatch(/works until \d{4}-\d\d-\d\d \d\d:\d\d UTC, or 2 h after its last use/)
  await fetch(`${url}/orders?a=1`, { method: 'POST', body: '{"n":1}' })
  expect(await local.take(1)).toMatchObject([{ method: 'POST', url: '/orders?a=1' }])

  const [file = ''] = await readdir(join(env.HOME ?? '', '.config/creel'))
  const path = join(env.HOME ?? '', '.config/creel', file)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  const { key } = JSON.parse(await readFile(path, 'utf8'))
  const own = { ...env, CREEL_URL: relay.baseUrl, CREEL_KEY: key }
  const [request] = JSON.parse(`[${await succeeds(['requests', 'list', '--json'], own)}]`)
  // A replay that another terminal asks for is sent by the listener, too.
  await succeeds(['replay', String(request.id), '--to', 'listeners'], own)
  expect(await local.take(1)).toMatchObject([{ url: '/orders?a=1' }])

  first.signal('SIGTERM')
  expect(await first.exited).toBe(0)
  const again = startCommand(words, env)
  await again.says(/connected/)
  expect(again.stdout().trim()).toBe(url)
  again.signal('SIGTERM')
  await again.exited
})

test('an endpoint that has ended is replaced', async () => {
  const home = { HOME: await emptyHome() }
  const words = ['listen', '--relay', relay.baseUrl, '--to', '9']
  const urlOf = async () => {
    const listener = startCommand(words, home)
    await listener.says(/connected/)
    listener.signal('SIGTERM')
    await listener.exited
    return listener.stdout().trim()
  }
  const url = await urlOf()
  const folder = join(home.HOME, '.config/creel')
  const [file = ''] = await readdir(folder)
  const { key, endpointId } = JSON.parse(await readFile(join(folder, file), 'utf8'))
  const removed = await fetch(`${relay.baseUrl}/api/v1/endpoints/${endpointId}`, {
    method: 'DELETE',
    headers: { Authorization: `Bearer ${key}` },
  })
  expect(removed.status).toBe(204)
  expect(await urlOf()).not.toBe(url)
})

test('what is no relay, or names an endpoint besides, is refused with the reason', async () => {
  const words = ['listen', 'orders', '--relay', relay.baseUrl, '--to', '9']
  expect(await fails(words, env)).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('takes no endpoint'),
  })
  await using other = await startReceiver()
  const { stderr } = await fails(['listen', '--relay', other.url, '--to', '9'], env)
  expect(stderr).toContain('is not a relay of Creel')
})

test('a relay has a database of its own', async () => {
  const used = await createTestDatabase()
  try {
    const made = await runCreel(['workspace', 'create', '--name', 'ours'], { database: used })
    expect(made.exitCode).toBe(0)
    const { exitCode, stderr } = await runCreel(['relay'], { database: used })
    expect({ exitCode, stderr }).toMatchObject({ stderr: expect.stringContaining('not of a relay') })
    expect(exitCode).not.toBe(0)
    const plans = await runCreel(['relay'], { database: used, env: { CREEL_PLANS_FILE: '/nowhere' } })
    expect(plans).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('no effect on a relay') })
  } finally {
    await used.drop()
  }
})
