import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { realpath, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { z } from 'zod'
import { fencesRunBy } from '../docs/markdown.ts'
import { debianPostgresPrograms, startDebianPostgres } from '../faults/debianPostgres.ts'
import { anHourAgo } from '../support/clock.ts'
import { eventually } from '../support/eventually.ts'
import { foundIn, planter, shownIn } from '../support/planted.ts'
import { preparedFolder, runCreel, startProcess, temporaryFolder } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'

/** A capture that `encryptBodies` seals is in no byte of the database's folder, its WAL, the logs and a dump. */

const env = { CREEL_ALLOW_DESTINATIONS: '127.0.0.0/8', CREEL_LOG_LEVEL: 'trace' }

function callsOf(key: string) {
  return async (base: string, method: string, path: string, body?: unknown, type = 'application/json') => {
    const answer = await fetch(`${base}/api/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': type },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await answer.text()
    expect({ method, path, text, isOk: answer.ok }).toMatchObject({ isOk: true })
    return text
  }
}

const List = z.object({ items: z.array(z.looseObject({ id: z.int(), state: z.string() })) })
const Made = z.looseObject({ id: z.string() })

test('what is encrypted is in no byte of the database and the logs, and readers see it', async () => {
  const { planted, plant } = planter()
  const cwd = await preparedFolder()
  const held = Promise.withResolvers<void>()
  await using receiver = await startReceiver(() => held.resolve())
  const creel = await startProcess({ cwd, env })
  const { key = '', captureUrl = '' } = creel.first ?? {}
  const call = callsOf(key)
  const id = captureUrl.slice(captureUrl.lastIndexOf('/') + 1)
  const control = JSON.parse(await call(creel.baseUrl, 'POST', '/endpoints', { name: 'control' }))
  const kept = `kept${randomBytes(12).toString('hex')}`
  expect((await fetch(control.url, { method: 'POST', body: kept })).status).toBe(200)
  await call(creel.baseUrl, 'PATCH', `/endpoints/${id}`, { encryptBodies: true })
  await call(creel.baseUrl, 'POST', `/endpoints/${id}/actions`, {
    kind: 'forward',
    name: 'App',
    url: receiver.url,
    appendPath: true,
    appendQuery: true,
    delivery: { order: { by: 'body.order' } },
  })
  const channel = Made.parse(
    JSON.parse(
      await call(creel.baseUrl, 'POST', '/alert-channels', {
        kind: 'webhook',
        name: 'Team',
        settings: { url: receiver.url },
      }),
    ),
  )
  await call(creel.baseUrl, 'POST', `/endpoints/${id}/actions`, {
    kind: 'notify',
    name: 'Tell',
    alertChannelId: channel.id,
    messageTemplate: 'From {{body.email}} with {{query.token}}',
  })
  const send = async (
    to: string,
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string>,
  ) => {
    const answer = await fetch(`${captureUrl}${to}`, { method: 'POST', body, headers })
    expect(answer.status).toBe(200)
  }
  const email = plant('body')
  await send(
    `/users/${plant('path')}?token=${plant('query')}`,
    JSON.stringify({ email, order: plant('order key'), long: plant('long').repeat(20_000) }),
    {
      'Content-Type': `application/json; x=${plant('content type')}`,
      Authorization: `Bearer ${plant('authorization')}`,
      'User-Agent': plant('user agent'),
    },
  )
  await send('', `email=${plant('form')}`, { 'Content-Type': 'application/x-www-form-urlencoded' })
  await send('', gzipSync(`{"email":"${plant('compressed')}"}`), {
    'Content-Type': 'application/json',
    'Content-Encoding': 'gzip',
  })
  await send('', plant('text'), { 'Content-Type': 'text/plain' })
  await send('', new Uint8Array([0, 255, ...Buffer.from(plant('binary'))]), {})
  const line = {
    receivedAt: anHourAgo(),
    method: 'POST',
    queryString: `token=${plant('imported query')}`,
    rawHeaders: [{ name: 'Cookie', value: plant('imported header') }],
    body: plant('imported body'),
  }
  const importPath = `/endpoints/${id}/requests/import`
  await call(creel.baseUrl, 'POST', importPath, `${JSON.stringify(line)}\n`, 'application/x-ndjson')
  await held.promise
  // The forward is under way, and its process dies.
  creel.signal('SIGKILL')
  await creel.exited

  const again = await startProcess({ cwd, env })
  receiver.answer = { status: 500, body: plant('answer') }
  const items = async () =>
    List.parse(JSON.parse(await call(again.baseUrl, 'GET', `/endpoints/${id}/requests?pageSize=50`))).items
  const first = (await items()).at(-1)?.id ?? 0
  const detail = await call(again.baseUrl, 'GET', `/endpoints/${id}/requests/${first}`)
  expect(JSON.parse(detail)).toMatchObject({ sealed: true, shredded: false })
  const shown = [
    detail,
    await call(again.baseUrl, 'GET', `/endpoints/${id}/requests/export?format=ndjson&includeSecrets=true`),
  ].join('\n')
  const places = ['body', 'path', 'query', 'user agent', 'authorization', 'text', 'imported body']
  expect(shownIn(shown, planted)).toEqual(expect.arrayContaining(places))
  await call(again.baseUrl, 'POST', `/endpoints/${id}/requests/${first}/replay`, {})
  const Replay = z.object({ replay: z.looseObject({ id: z.string() }) })
  const { replay } = Replay.parse(
    JSON.parse(
      await call(again.baseUrl, 'POST', `/endpoints/${id}/replays`, {
        select: { requestIds: [first] },
        to: { url: receiver.url },
      }),
    ),
  )
  await eventually('the replay has ended', async () =>
    (await call(again.baseUrl, 'GET', `/endpoints/${id}/replays/${replay.id}`)).includes('"state":"done"'),
  )
  const results = await call(again.baseUrl, 'GET', `/endpoints/${id}/replays/${replay.id}/results`)
  expect(shownIn(results, planted)).toEqual(['answer'])
  await eventually('the message was sent', async () =>
    receiver.received.some(({ body }) => String(body).includes(`From ${email}`)),
  )
  expect(await again.stop()).toBe(0)

  const logs = `${creel.stderr()}${again.stderr()}${creel.lines.join('\n')}${again.lines.join('\n')}`
  expect(shownIn(logs, planted)).toEqual([])
  const folder = await realpath(join(cwd, '.creel', 'postgres'))
  expect(await foundIn(folder, new Map([...planted, ['control', kept]]))).toEqual(['control'])
})

const programs = debianPostgresPrograms()
const [dump = '', restore = ''] = fencesRunBy('tests/program/backup.test.ts', 'docs/operations.md')

test.if(programs !== undefined)(
  'after a shred, no backup without the keys shows anything, whatever the installation’s key',
  async () => {
    const postgres = await startDebianPostgres(programs ?? '')
    const urlOf = (name: string) =>
      `postgresql://creel@${encodeURIComponent(dirname(postgres.socket))}:5432/${name}`
    const { planted, plant } = planter()
    const creel = await startProcess({ database: { url: urlOf('postgres') }, env })
    const { key = '', captureUrl = '' } = creel.first ?? {}
    const call = callsOf(key)
    const id = captureUrl.slice(captureUrl.lastIndexOf('/') + 1)
    await call(creel.baseUrl, 'PATCH', `/endpoints/${id}`, { encryptBodies: true })
    const capture = await fetch(`${captureUrl}/${plant('path')}`, { method: 'POST', body: plant('body') })
    expect(capture.status).toBe(200)
    const cwd = await temporaryFolder()
    const shell = async (commands: string, url: string) => {
      const child = Bun.spawn(['bash', '-euo', 'pipefail', '-c', commands], {
        cwd,
        env: { PATH: `${programs ?? ''}:${process.env.PATH}`, DATABASE_URL: url },
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      expect(await child.exited).toBe(0)
    }
    await shell(dump, urlOf('postgres'))
    await shell('pg_dump "$DATABASE_URL" > whole.sql', urlOf('postgres'))
    expect(await foundIn(cwd, planted)).toEqual([])
    expect(JSON.parse(await call(creel.baseUrl, 'POST', `/endpoints/${id}/shred`))).toEqual({
      shredded: true,
    })
    expect(await creel.stop()).toBe(0)
    await rm(join(cwd, 'creel-keys.dump'))
    await shell('createdb --maintenance-db="$DATABASE_URL" restored', urlOf('postgres'))
    await shell(restore.split('\n')[0] ?? '', urlOf('restored'))
    const restored = await startProcess({ database: { url: urlOf('restored') }, env })
    const to = `/endpoints/${id}/requests`
    const shown = [
      await call(restored.baseUrl, 'GET', to),
      await call(restored.baseUrl, 'GET', `${to}/1`),
      await call(restored.baseUrl, 'GET', `${to}/export?format=ndjson&includeSecrets=true`),
    ].join('\n')
    expect(shown).toContain('"shredded":true')
    expect(shownIn(shown, planted)).toEqual([])
    // It captures on, with a new key.
    const body = `later${randomBytes(8).toString('hex')}`
    expect((await fetch(`${restored.captureUrl}/hook/${id}`, { method: 'POST', body })).status).toBe(200)
    expect(await call(restored.baseUrl, 'GET', to)).toContain(body)
    const rotated = await runCreel(['secrets', 'rotate', '--json'], { database: { url: urlOf('restored') } })
    expect(rotated.exitCode).toBe(0)
    expect(await restored.stop()).toBe(0)
    await postgres.kill()
  },
)
