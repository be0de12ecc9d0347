import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findEmbeddedPostgres } from '@creel/program'
import { z } from 'zod'
import { eventually } from '../support/eventually.ts'
import { foundIn, foundInRows, planter, shownIn } from '../support/planted.ts'
import { preparedFolder, startProcess } from '../support/process.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

/**
 * With `forwardOriginal`, receivers get what rules take out, and no byte of the database's folder, its WAL, its rows and
 * the logs has it: after a SIGKILL between capture and forward, replays, edited sends and events for agents.
 */

const RULES = [
  { op: 'redact', paths: ['body.email', 'query.token'] },
  { op: 'hash', paths: ['body.id', 'headers.Webhook-Id'] },
]
const PAYLOAD_BYTES_MAX = 20_000

const Made = z.looseObject({ id: z.string() })
const List = z.object({ items: z.array(z.looseObject({ id: z.int(), state: z.string() })) })

test('what rules take out reaches receivers of originals, and no byte of the database and the logs', async () => {
  const { planted, plant } = planter()
  const cwd = await preparedFolder()
  const plans = join(cwd, 'plans.json')
  await writeFile(plans, JSON.stringify({ 'self-hosted': { payloadBytesMax: PAYLOAD_BYTES_MAX } }))
  const env = {
    CREEL_ALLOW_DESTINATIONS: '127.0.0.0/8',
    CREEL_LOG_LEVEL: 'trace',
    CREEL_PLANS_FILE: plans,
  }
  await using receiver = await startReceiver((_request, _response) => {})
  await using team = await startReceiver((request, response) => {
    const text = String(request.body)
    const { challenge } = text.startsWith('{')
      ? z.looseObject({ challenge: z.string().optional() }).parse(JSON.parse(text))
      : {}
    response.end(JSON.stringify({ challenge }))
  })
  const creel = await startProcess({ cwd, env })
  const { key = '', captureUrl = '' } = creel.first ?? {}
  const id = captureUrl.slice(captureUrl.lastIndexOf('/') + 1)
  const callOn = (base: string) => async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${base}/api/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    expect({ method, path, text, isOk: answer.ok }).toMatchObject({ isOk: true })
    return text
  }
  const call = callOn(creel.baseUrl)
  const kept = `kept${randomBytes(12).toString('hex')}`
  const control = z
    .looseObject({ url: z.string() })
    .parse(JSON.parse(await call('POST', '/endpoints', { name: 'control' })))
  expect((await fetch(control.url, { method: 'POST', body: kept })).status).toBe(200)
  await call('PATCH', `/endpoints/${id}`, {
    name: 'originals',
    storeRules: RULES,
    dropHeaders: ['Authorization'],
    eventIdPath: 'body.id',
    dedupe: { by: 'body.email', windowSeconds: 3600, then: 'mark' },
    forwardOriginal: true,
  })
  const forward = { kind: 'forward', url: receiver.url, appendPath: true, appendQuery: true }
  const order = { by: 'body.email', onDeadLetter: 'hold' }
  const action = Made.parse(
    JSON.parse(
      await call('POST', `/endpoints/${id}/actions`, { ...forward, name: 'App', delivery: { order } }),
    ),
  )
  const channel = Made.parse(
    JSON.parse(
      await call('POST', '/alert-channels', { kind: 'webhook', name: 'Team', settings: { url: team.url } }),
    ),
  )
  await call('POST', `/endpoints/${id}/actions`, {
    kind: 'notify',
    name: 'Tell',
    alertChannelId: channel.id,
    messageTemplate: 'From {{body.email}} {{query.token}} {{headers.authorization}}',
  })
  await call('GET', '/events/types')
  await call('POST', '/subscriptions', {
    name: 'originals.any',
    arguments: { fields: ['body.email', 'body.id'] },
    delivery: { mode: 'webhook', url: team.url, secret: `whsec_${Buffer.alloc(32, 3).toString('base64')}` },
  })
  const email = plant('email')
  const body = JSON.stringify({ email, id: plant('event id'), type: 'signup', long: 'x'.repeat(9_000) })
  const send = async (text: string) => {
    const answer = await fetch(`${captureUrl}/in?token=${plant('query')}`, {
      method: 'POST',
      body: text,
      headers: {
        'Content-Type': 'application/json',
        Authorization: plant('authorization'),
        'Webhook-Id': plant('webhook id'),
      },
    })
    expect(answer.status).toBe(200)
  }
  await send(body)
  await send(JSON.stringify({ email: plant('oversize'), more: 'x'.repeat(PAYLOAD_BYTES_MAX) }))
  await receiver.take(1)
  // The forward is under way, and its process dies.
  creel.signal('SIGKILL')
  await creel.exited

  const again = await startProcess({ cwd, env })
  const callAgain = callOn(again.baseUrl)
  receiver.answer = { status: 500, body: `seen ${email}` }
  const items = async () =>
    List.parse(JSON.parse(await callAgain('GET', `/endpoints/${id}/requests?pageSize=50`))).items
  const first = (await items()).at(-1)?.id ?? 0
  // The attempt was interrupted, and its delivery is made again.
  await receiver.take(2)
  expect(sent(receiver)).toContain(email)
  await callAgain('POST', `/endpoints/${id}/requests/${first}/replay`, {})
  // An edited send has the stored request, so an answer to it is recorded.
  receiver.answer = { status: 500, body: 'no' }
  await callAgain('POST', `/endpoints/${id}/requests/${first}/send`, {
    actionId: action.id,
    sign: true,
    transform: true,
  })
  const { replay } = z.object({ replay: Made }).parse(
    JSON.parse(
      await callAgain('POST', `/endpoints/${id}/replays`, {
        select: { requestIds: [first] },
        to: { url: team.url },
      }),
    ),
  )
  await eventually('the replay has ended', async () =>
    (await callAgain('GET', `/endpoints/${id}/replays/${replay.id}`)).includes('"state":"done"'),
  )
  await eventually('the event was sent', () => sent(team).includes('signup'))
  await eventually('the message was sent', () => sent(team).includes('From ***'))
  const shown = [
    JSON.stringify(await items()),
    await callAgain('GET', `/endpoints/${id}/requests/${first}`),
    await callAgain('GET', `/endpoints/${id}/deliveries`),
    await callAgain('GET', `/endpoints/${id}/replays/${replay.id}/results`),
    await callAgain('GET', `/endpoints/${id}/requests/export?format=ndjson&includeSecrets=true`),
    await callAgain('GET', '/incidents'),
    await callAgain('GET', '/audit'),
    sent(team),
  ].join('\n')
  expect(shownIn(shown, planted)).toEqual([])
  const url = (await findEmbeddedPostgres(join(cwd, '.creel'))) ?? ''
  expect(await foundInRows(url, new Map([...planted, ['control', kept]]))).toEqual(['control'])
  expect(await again.stop()).toBe(0)
  const logs = `${creel.stderr()}${again.stderr()}${creel.lines.join('\n')}${again.lines.join('\n')}`
  expect(shownIn(logs, planted)).toEqual([])
  const folder = await realpath(join(cwd, '.creel', 'postgres'))
  expect(await foundIn(folder, new Map([...planted, ['control', kept]]))).toEqual(['control'])
})

const sent = ({ received }: Receiver) =>
  received.map(({ url, rawHeaders, body }) => `${url} ${JSON.stringify(rawHeaders)} ${body}`).join('\n')
