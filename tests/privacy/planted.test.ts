import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { findEmbeddedPostgres } from '@creel/program'
import { z } from 'zod'
import { anHourAgo } from '../support/clock.ts'
import { foundIn, foundInRows, planter, shownIn } from '../support/planted.ts'
import { preparedFolder, startProcess } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'

/** Values that rules take out are in no byte of the database's folder, its WAL and the logs, also after a SIGKILL. */

const env = { CREEL_ALLOW_DESTINATIONS: '127.0.0.0/8', CREEL_TRUSTED_PROXIES: '127.0.0.0/8' }

/** The address of the sender, which the path `ip` takes out. */
const ADDRESS = '203.0.113.77'

const RULES = [
  { op: 'redact', paths: ['body.email', 'body.people[*].name', 'body.type', 'query.token'] },
  {
    op: 'hash',
    paths: ['body.account', 'headers.X-Person', 'headers.Webhook-Id', 'query.person', 'body.order'],
  },
  { op: 'remove', paths: ['body.card', 'path', 'ip'] },
]

test('what rules take out is in no byte of the database and the logs', async () => {
  const { planted, plant } = planter()
  planted.set('address', ADDRESS)
  const cwd = await preparedFolder()
  const held = Promise.withResolvers<void>()
  await using receiver = await startReceiver(() => held.resolve())
  const creel = await startProcess({ cwd, env: { ...env, CREEL_LOG_LEVEL: 'trace' } })
  const { key = '', captureUrl = '' } = creel.first ?? {}
  const id = captureUrl.slice(captureUrl.lastIndexOf('/') + 1)
  const call = async (
    base: string,
    method: string,
    path: string,
    body?: unknown,
    type = 'application/json',
  ) => {
    const answer = await fetch(`${base}/api/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': type },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await answer.text()
    expect({ method, path, text, isOk: answer.ok }).toMatchObject({ isOk: true })
    return text
  }
  const control = JSON.parse(await call(creel.baseUrl, 'POST', '/endpoints', { name: 'control' }))
  const kept = `kept${randomBytes(12).toString('hex')}`
  expect((await fetch(control.url, { method: 'POST', body: kept })).status).toBe(200)
  const secretHeaders = ['Authorization', 'Cookie', 'User-Agent', 'X-Api-Key', 'X-Forwarded-For']
  await call(creel.baseUrl, 'PATCH', `/endpoints/${id}`, { storeRules: RULES, dropHeaders: secretHeaders })
  await call(creel.baseUrl, 'POST', `/endpoints/${id}/actions`, {
    kind: 'forward',
    name: 'App',
    url: receiver.url,
    appendPath: true,
    appendQuery: true,
    condition: { path: 'body.email', op: 'exists' },
  })
  await call(creel.baseUrl, 'POST', `/endpoints/${id}/actions`, {
    kind: 'forward',
    name: 'Ordered',
    url: receiver.url,
    condition: { path: 'body.order', op: 'exists' },
    delivery: { order: { by: 'body.order' } },
  })
  const channel = JSON.parse(
    await call(creel.baseUrl, 'POST', '/alert-channels', {
      kind: 'webhook',
      name: 'Team',
      settings: { url: receiver.url },
    }),
  )
  await call(creel.baseUrl, 'POST', `/endpoints/${id}/actions`, {
    kind: 'notify',
    name: 'Tell',
    alertChannelId: channel.id,
    messageTemplate: 'From {{body.email}} {{headers.cookie}} {{query.token}} {{label}}',
  })
  const send = async (
    to: string,
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string>,
  ) => {
    const answer = await fetch(`${captureUrl}${to}`, {
      method: 'POST',
      body,
      headers: { 'X-Forwarded-For': ADDRESS, ...headers },
    })
    expect(answer.status).toBe(200)
  }
  const json = JSON.stringify({
    email: plant('body.email'),
    people: [{ name: plant('list 0') }, { name: plant('list 1') }],
    type: plant('label'),
    account: plant('hashed'),
    order: plant('order key'),
    card: { number: plant('removed object') },
  })
  await send(`/users/${plant('path')}?token=${plant('query')}&person=${plant('hashed query')}&x=1`, json, {
    'Content-Type': 'application/json',
    'X-Person': plant('hashed header'),
    'Webhook-Id': plant('event id'),
    Authorization: `Bearer ${plant('authorization')}`,
    Cookie: `session=${plant('cookie')}`,
    'X-Api-Key': plant('api key'),
    'User-Agent': plant('user agent'),
  })
  await send('', `{"email":"${plant('twice 0')}","email":"${plant('twice 1')}"}`, {
    'Content-Type': 'text/plain',
  })
  await send('', `email=${plant('form')}&a=1&card=${plant('form card')}`, {
    'Content-Type': 'application/x-www-form-urlencoded',
  })
  await send('', gzipSync(`{"email":"${plant('compressed')}"}`), {
    'Content-Type': 'application/json',
    'Content-Encoding': 'gzip',
  })
  await send(
    `?token=${plant('query of a trace')}`,
    `--b\r\nContent-Disposition: form-data; name="email"\r\n\r\n${plant('multipart')}\r\n--b--`,
    {
      'Content-Type': 'multipart/form-data; boundary=b',
      'X-Person': plant('header of a trace'),
    },
  )
  await send('', plant('text'), { 'Content-Type': 'text/plain' })
  await send('', new Uint8Array([0, 255, ...Buffer.from(plant('binary'))]), {})
  await send('', `{"email":"${plant('broken JSON')}"`, { 'Content-Type': 'application/json' })
  const line = {
    receivedAt: anHourAgo(),
    method: 'POST',
    queryString: `token=${plant('imported query')}`,
    rawHeaders: [
      { name: 'Content-Type', value: 'application/json' },
      { name: 'Cookie', value: plant('imported header') },
    ],
    body: JSON.stringify({ email: plant('imported body') }),
  }
  await call(
    creel.baseUrl,
    'POST',
    `/endpoints/${id}/requests/import`,
    `${JSON.stringify(line)}\n`,
    'application/x-ndjson',
  )

  await held.promise
  // The forward is under way, and its process dies.
  creel.signal('SIGKILL')
  await creel.exited
  const again = await startProcess({ cwd, env: { ...env, CREEL_LOG_LEVEL: 'trace' } })
  receiver.answer = { status: 500, body: 'no' }
  const Row = z.looseObject({
    id: z.int(),
    redacted: z.boolean(),
    redactedPaths: z.array(z.string()),
    redactionFault: z.string().nullable(),
  })
  const List = z.object({ items: z.array(Row) })
  const { items } = List.parse(
    JSON.parse(await call(again.baseUrl, 'GET', `/endpoints/${id}/requests?pageSize=50`)),
  )
  const [first] = items.toReversed()
  expect(items).toHaveLength(9)
  expect(items.map(({ redacted }) => redacted)).toEqual(items.map(() => true))
  expect(first?.redactedPaths.toSorted()).toEqual(
    [
      ...['body.account', 'body.card', 'body.email', 'body.order', 'body.people[*].name', 'body.type'],
      ...['headers.Webhook-Id', 'headers.X-Person', 'ip', 'path', 'query.person', 'query.token'],
      ...secretHeaders.map((name) => `headers.${name.toLowerCase()}`),
    ].toSorted(),
  )
  expect(items.map(({ redactionFault }) => redactionFault)).toEqual([
    null,
    ...['', '', '', ''].map(() => 'rule 1 faulted at step 1: not_structured'),
    null,
    null,
    null,
    null,
  ])
  const requestId = first?.id ?? 0
  const shown = [
    JSON.stringify(items),
    await call(again.baseUrl, 'GET', `/endpoints/${id}/requests/${requestId}`),
    await call(again.baseUrl, 'GET', `/endpoints/${id}/requests/export?format=ndjson&includeSecrets=true`),
    await call(again.baseUrl, 'GET', `/endpoints/${id}/shape`),
    await call(again.baseUrl, 'POST', `/endpoints/${id}/requests/${requestId}/replay`, {}),
    await call(again.baseUrl, 'GET', `/endpoints/${id}/requests/${requestId}`),
    ...receiver.received.map(({ url, rawHeaders, body }) => `${url} ${JSON.stringify(rawHeaders)} ${body}`),
  ].join('\n')
  expect(receiver.received.length).toBeGreaterThan(0)
  expect(shownIn(shown, planted)).toEqual([])
  expect(shown).toContain('"redacted":true')
  const url = (await findEmbeddedPostgres(join(cwd, '.creel'))) ?? ''
  expect(await foundInRows(url, new Map([...planted, ['control', kept]]))).toEqual(['control'])
  expect(await again.stop()).toBe(0)

  const logs = `${creel.stderr()}${again.stderr()}${creel.lines.join('\n')}${again.lines.join('\n')}`
  expect(shownIn(logs, planted)).toEqual([])
  const folder = await realpath(join(cwd, '.creel', 'postgres'))
  expect(await foundIn(folder, new Map([...planted, ['control', kept]]))).toEqual(['control'])
})
