/** Answers of receivers, relayed to senders: by whom, for how long, and what a hanging receiver costs others. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks.js'
import { z } from 'zod'
import type { Client, TestEndpoint } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { isWaitingForLock } from '../support/lockWaits.ts'
import { wrongParts } from '../support/problems.ts'
import { type ReceiverAnswer, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let alice: Client

beforeAll(async () => {
  service = await startService({ retryDelaysSeconds: [1, 1] })
  alice = service.alice
})

const WithId = z.looseObject({ id: z.string() })
const AnsweredBy = z.object({ kind: z.string(), index: z.int().nullable(), note: z.string().nullable() })
const Requests = z.looseObject({
  items: z.array(z.looseObject({ state: z.string(), answeredBy: AnsweredBy.nullable() })),
})
const Attempts = z.looseObject({
  items: z.array(z.looseObject({ attemptNumber: z.int(), state: z.string(), trigger: z.string() })),
})
const Incidents = z.looseObject({
  items: z.array(z.looseObject({ kind: z.string(), endpointId: z.string().nullable() })),
})

const hang: ReceiverAnswer = () => {}
const breakOff: ReceiverAnswer = (_request, response) => {
  response.writeHead(200, { 'content-length': '100' })
  response.write('cut!', () => response.destroy())
}
const requestsOf = async (endpoint: TestEndpoint) =>
  (await alice.expect(alice.get(endpoint.at('/requests?pageSize=100')), Requests)).items
const attemptsOf = async (endpoint: TestEndpoint) =>
  (await alice.expect(alice.get(endpoint.at('/deliveries')), Attempts)).items

/** The longest time that an answer may take: a busy machine needs seconds for one. */
const LONG_MS = 10_000

/** An endpoint whose sender is answered by the receiver. */
async function relaying(
  url: string,
  from: Readonly<Record<string, unknown>> = {},
  action: Readonly<Record<string, unknown>> = {},
) {
  const endpoint = await alice.endpoint()
  const { id } = await alice.expect(
    alice.post(endpoint.at('/actions'), { kind: 'forward', url, ...action }),
    WithId,
  )
  const answerFrom = { actionId: id, timeoutMs: LONG_MS, ...from }
  await alice.expect(alice.patch(endpoint.at(''), { answerFrom }), WithId)
  return { endpoint, actionId: id }
}

const FALLBACK = { status: 503, headers: { 'Retry-After': '5' }, body: 'later' }

describe('a relayed answer', () => {
  test('is the TwiML of the receiver, for a call that Twilio’s package signed', async () => {
    const twiml = '<?xml version="1.0" encoding="UTF-8"?><Response><Say>Zoë</Say></Response>'
    await using receiver = await startReceiver({
      status: 200,
      headers: { 'Content-Type': 'text/xml; charset=utf-8', 'Set-Cookie': 'a=b', 'X-Trace': 't1' },
      body: twiml,
    })
    const { endpoint } = await relaying(receiver.url)
    await alice.expect(
      alice.patch(endpoint.at(''), { provider: 'twilio', signingSecret: 'twilio token' }),
      WithId,
    )
    const fields = { CallSid: 'CA1', From: '+15550100' }
    const answer = await endpoint.send({
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        'X-Twilio-Signature': getExpectedTwilioSignature('twilio token', endpoint.url, fields),
      },
      body: new URLSearchParams(fields).toString(),
    })
    expect({ status: answer.status, text: await answer.text() }).toEqual({ status: 200, text: twiml })
    const names = ['content-type', 'set-cookie', 'x-trace', 'x-content-type-options']
    expect(names.map((name) => answer.headers.get(name))).toEqual([
      'text/xml; charset=utf-8',
      null,
      't1',
      'nosniff',
    ])
    expect(await requestsOf(endpoint)).toMatchObject([
      { state: 'Succeeded', answeredBy: { kind: 'action', note: null } },
    ])
    expect(await attemptsOf(endpoint)).toMatchObject([{ attemptNumber: 1, trigger: 'capture' }])
  })

  test.each([
    ['a status that is no success', { status: 500, body: 'broken' }, 'http_500'],
    ['a redirect', { status: 302, headers: { Location: 'https://evil.test' } }, 'http_302'],
    ['more than 256 KiB', { status: 200, body: 'x'.repeat(262_145) }, 'answer_too_long'],
    ['an answer that breaks off', breakOff, 'no_response'],
    ['bytes that are no text', { status: 200, body: new Uint8Array([0xff, 0xfe, 0x80]) }, 'answer_not_text'],
    ['no answer in time', hang, 'timeout'],
  ] as const)('is the fallback for %s', async (_name, given, note) => {
    await using receiver = await startReceiver(given)
    const timeoutMs = note === 'timeout' ? 150 : LONG_MS
    const { endpoint } = await relaying(receiver.url, { fallback: FALLBACK, timeoutMs })
    const answer = await endpoint.send()
    expect({ status: answer.status, text: await answer.text() }).toEqual({ status: 503, text: 'later' })
    expect(answer.headers.get('retry-after')).toBe('5')
    // At the timeout the sender does not wait for the note.
    await eventually('the note', async () => (await requestsOf(endpoint))[0]?.answeredBy != null)
    expect((await requestsOf(endpoint))[0]?.answeredBy).toEqual({ kind: 'fallback', index: null, note })
  })

  test('that is refused leaves the delivery its retries, and no attempt twice', async () => {
    // The retry may come before the sender has its answer.
    let status = 500
    await using receiver = await startReceiver((_request, response) => {
      response.writeHead(status).end()
      status = 200
    })
    const { endpoint } = await relaying(receiver.url, { fallback: FALLBACK })
    expect((await endpoint.send()).status).toBe(503)
    await service.clock.advance(2000)
    await eventually('the retry', async () => (await requestsOf(endpoint))[0]?.state === 'Succeeded')
    expect((await attemptsOf(endpoint)).map(({ attemptNumber }) => attemptNumber)).toEqual([2, 1])
    expect(receiver.received).toHaveLength(2)
  })

  test('that is late is the delivery’s all the same: one attempt, which has succeeded', async () => {
    const answering = Promise.withResolvers<void>()
    await using receiver = await startReceiver((_request, response) => {
      void answering.promise.then(() => response.end('late'))
    })
    const { endpoint } = await relaying(receiver.url, { fallback: FALLBACK, timeoutMs: 100 })
    expect((await endpoint.send()).status).toBe(503)
    answering.resolve()
    await eventually('the end', async () => (await requestsOf(endpoint))[0]?.state === 'Succeeded')
    expect(await attemptsOf(endpoint)).toMatchObject([{ attemptNumber: 1, state: 'Succeeded' }])
    expect(receiver.received).toHaveLength(1)
  })

  test('is text for a page, and the endpoint’s own for requests that do not match the action', async () => {
    await using receiver = await startReceiver({
      status: 201,
      headers: { 'Content-Type': 'text/html' },
      body: '<script>alert(1)</script>',
    })
    const condition = { path: 'body.type', op: 'eq', value: 'page' }
    const { endpoint } = await relaying(receiver.url, {}, { condition })
    const page = await endpoint.send({ body: '{"type":"page"}' })
    expect([page.status, page.headers.get('content-type')]).toEqual([201, 'text/plain'])
    expect(await (await endpoint.send({ body: '{"type":"other"}' })).text()).toBe('{"ok":true}')
  })

  test('comes through an action whose id is given in upper case', async () => {
    await using receiver = await startReceiver({ status: 200, body: 'theirs' })
    const { endpoint, actionId } = await relaying(receiver.url)
    const upper = { answerFrom: { actionId: actionId.toUpperCase(), timeoutMs: 5001 } }
    expect((await alice.patch(endpoint.at(''), upper)).body).toMatchObject({ answerFrom: { actionId } })
    expect(await (await endpoint.send()).text()).toBe('theirs')
  })

  test('comes through an action with an order and a rate, while its time lasts', async () => {
    await using receiver = await startReceiver({
      status: 200,
      headers: { 'Content-Type': 'text/plain' },
      body: 'hi',
    })
    const delivery = { order: { by: 'endpoint' }, rate: { count: 2, perSeconds: 1 } }
    const { endpoint } = await relaying(receiver.url, {}, { delivery })
    expect(await (await endpoint.send()).text()).toBe('hi')
    receiver.answer = hang
    const { endpoint: stuck } = await relaying(
      receiver.url,
      { timeoutMs: 150, fallback: FALLBACK },
      { delivery },
    )
    const answers = await Promise.all([stuck.send(), stuck.send()])
    expect(answers.map(({ status }) => status)).toEqual([503, 503])
  })
})

test('an answer to an original is relayed, whatever the body of the fallback is', async () => {
  await using receiver = await startReceiver({ status: 201, body: 'done' })
  const { endpoint } = await relaying(receiver.url, { fallback: { ...FALLBACK, body: 'later\0' } })
  const storeRules = [{ op: 'redact', paths: ['body.email'] }]
  await alice.expect(alice.patch(endpoint.at(''), { storeRules, forwardOriginal: true }), WithId)
  const answer = await endpoint.send({ body: '{"email":"a@b.example"}' })
  expect({ status: answer.status, body: await answer.text() }).toEqual({ status: 201, body: 'done' })
  expect(receiver.received).toHaveLength(1)
})

describe('the incident of an action that answers no more', () => {
  const open = async () => {
    const { items } = await alice.expect(alice.get('/api/v1/incidents?state=open'), Incidents)
    return items.flatMap(({ kind, endpointId }) => (kind === 'answer.unavailable' ? [endpointId] : []))
  }

  /** An endpoint whose action is deleted. */
  async function orphan(fallback: object = FALLBACK) {
    const { endpoint, actionId } = await relaying('http://127.0.0.1:9/', { fallback })
    await alice.delete(endpoint.at(`/actions/${actionId}`))
    return { endpoint, actionId }
  }

  test('opens while the fallback answers, and stays open when the same setting is saved', async () => {
    const { endpoint, actionId } = await orphan()
    expect((await endpoint.send()).status).toBe(503)
    await eventually('the incident', async () => (await open()).includes(endpoint.id))
    const same = { actionId, timeoutMs: LONG_MS, fallback: FALLBACK }
    await alice.expect(alice.patch(endpoint.at(''), { answerFrom: same }), WithId)
    expect(await open()).toContain(endpoint.id)
    await alice.expect(alice.patch(endpoint.at(''), { answerFrom: null }), WithId)
    expect(await open()).not.toContain(endpoint.id)
  })

  test('opens whatever the body of the fallback is', async () => {
    const { endpoint } = await orphan({ ...FALLBACK, body: 'later\0' })
    expect((await endpoint.send()).status).toBe(503)
    await eventually('the incident', async () => (await open()).includes(endpoint.id))
  })

  test('closes with its endpoint', async () => {
    const { endpoint } = await orphan()
    await endpoint.send()
    await eventually('the incident', async () => (await open()).includes(endpoint.id))
    await alice.delete(endpoint.at(''))
    expect(await open()).not.toContain(endpoint.id)
  })

  test('does not open for a setting that has been removed meanwhile', async () => {
    const { endpoint } = await orphan()
    await service.db.transaction().execute(async (trx) => {
      await sql`update endpoints set answer_from = null where id = ${endpoint.id}`.execute(trx)
      expect((await endpoint.send()).status).toBe(503)
      await eventually('the late incident', () => isWaitingForLock(service.db))
    })
    // The next incident is opened after it.
    const { endpoint: other } = await orphan()
    await other.send()
    await eventually('another incident', async () => (await open()).includes(other.id))
    expect(await open()).not.toContain(endpoint.id)
  })

  test('does not open for an action that has been switched on again meanwhile', async () => {
    const { endpoint, actionId } = await relaying('http://127.0.0.1:9/', { fallback: FALLBACK })
    await alice.expect(alice.put(endpoint.at(`/actions/${actionId}`), { isActive: false }), WithId)
    await service.db.transaction().execute(async (trx) => {
      await sql`update endpoints set name = name where id = ${endpoint.id}`.execute(trx)
      expect((await endpoint.send()).status).toBe(503)
      await eventually('the late incident', () => isWaitingForLock(service.db))
      await sql`update actions set is_active = true where id = ${actionId}`.execute(trx)
    })
    // The next incident is opened after it.
    const { endpoint: other } = await orphan()
    await other.send()
    await eventually('another incident', async () => (await open()).includes(other.id))
    expect(await open()).not.toContain(endpoint.id)
  })
})

test('a Slack command is answered by a receiver that takes two seconds, and by the fallback when it hangs', async () => {
  const reply = '{"response_type":"in_channel","text":"Deployed."}'
  await using receiver = await startReceiver((_request, response) => {
    response.setHeader('Content-Type', 'application/json')
    setTimeout(() => response.end(reply), 2000)
  })
  const fallback = {
    status: 200,
    headers: { 'Content-Type': 'application/json' },
    body: '{"text":"Still at it."}',
  }
  const { endpoint, actionId } = await relaying(receiver.url, { timeoutMs: 10_000, fallback })
  const secret = 'slack signing secret'
  await alice.expect(alice.patch(endpoint.at(''), { provider: 'slack', signingSecret: secret }), WithId)
  const command = async () => {
    const body = new URLSearchParams({ command: '/deploy', text: 'web' }).toString()
    const timestamp = String(Math.floor(service.clock.now().getTime() / 1000))
    const digest = new Bun.CryptoHasher('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')
    const headers = {
      'Content-Type': 'application/x-www-form-urlencoded',
      'X-Slack-Request-Timestamp': timestamp,
      'X-Slack-Signature': `v0=${digest}`,
    }
    return await (await endpoint.send({ headers, body })).text()
  }
  expect(await command()).toBe(reply)
  receiver.answer = hang
  const answerFrom = { actionId, timeoutMs: 2800, fallback }
  await alice.expect(alice.patch(endpoint.at(''), { answerFrom }), WithId)
  expect(await command()).toBe(fallback.body)
  await eventually('the notes', async () =>
    (await requestsOf(endpoint)).every((one) => one.answeredBy !== null),
  )
  expect((await requestsOf(endpoint)).map(({ answeredBy }) => answeredBy?.kind)).toEqual([
    'fallback',
    'action',
  ])
})

test('receivers that hang hold up no other endpoint', async () => {
  await using hanging = await startReceiver(hang)
  await using healthy = await startReceiver({
    status: 200,
    headers: { 'Content-Type': 'text/plain' },
    body: 'ok',
  })
  const { endpoint: stuck } = await relaying(hanging.url, { timeoutMs: 10_000, fallback: FALLBACK })
  const { endpoint } = await relaying(healthy.url, { timeoutMs: 5000 })
  const gone = new AbortController()
  const waiting = Array.from({ length: 200 }, () =>
    fetch(stuck.url, { method: 'POST', body: '{}', signal: gone.signal }).catch(() => undefined),
  )
  await eventually('the captures', async () => (await requestsOf(stuck)).length === 100)
  // The healthy endpoint's timeout is shorter than the hanging receivers', so none of its answers waited for them.
  for (let sent = 0; sent < 20; sent++) expect(await (await endpoint.send()).text()).toBe('ok')
  gone.abort()
  await Promise.all(waiting)
})

test('an action that notifies, is off, or belongs to another endpoint is refused', async () => {
  const { endpoint, actionId } = await relaying('http://127.0.0.1:9/')
  const other = await alice.endpoint()
  const refused = async (at: TestEndpoint, id: string) =>
    wrongParts(await alice.patch(at.at(''), { answerFrom: { actionId: id } }))
  expect(await refused(other, actionId)).toEqual(['#/answerFrom/actionId unknown_value'])
  const channel = await alice.expect(
    alice.post('/api/v1/alert-channels', {
      kind: 'webhook',
      name: 'closed',
      settings: { url: 'http://127.0.0.1:9/' },
    }),
    WithId,
  )
  const notify = await alice.expect(
    alice.post(endpoint.at('/actions'), {
      kind: 'notify',
      alertChannelId: channel.id,
      messageTemplate: 'came',
    }),
    WithId,
  )
  expect(await refused(endpoint, notify.id)).toEqual(['#/answerFrom/actionId not_allowed'])
  await alice.expect(alice.patch(endpoint.at(''), { answerFrom: null }), WithId)
  await alice.expect(alice.put(endpoint.at(`/actions/${actionId}`), { isActive: false }), WithId)
  expect(await refused(endpoint, actionId)).toEqual(['#/answerFrom/actionId not_allowed'])
})
