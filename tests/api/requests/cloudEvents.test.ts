import { beforeAll, describe, expect, test } from 'bun:test'
import { CloudEvent, HTTP, type Message } from 'cloudevents'
import { z } from 'zod'
import type { TestEndpoint } from '../../support/client.ts'
import { answersAfter } from '../../support/hangingReceivers.ts'
import { wrongParts } from '../../support/problems.ts'
import { startReceiver } from '../../support/receiver.ts'
import { startService, type TestService } from '../../support/service.ts'

/** CloudEvents: what the official package sends, and the handshake of their webhook binding. */

const RATE = 50

let service: TestService

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000, captureRatePerMinute: RATE } })
})

const newEndpoint = (more: object = {}) => service.alice.endpoint({ provider: 'cloudevents', ...more })

const event = new CloudEvent({
  id: 'A234-1234-1234',
  source: '/mycontext/subcontext',
  type: 'com.example.someevent',
  datacontenttype: 'application/json',
  data: { type: 'of the payload', id: 'of the payload' },
})

const send = (endpoint: TestEndpoint, { headers, body }: Message) =>
  endpoint.capture({
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        // As the suite spells it: of two spellings both would be sent.
        name === 'content-type' ? 'Content-Type' : name,
        String(value),
      ]),
    ),
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

describe('the official package', () => {
  test.each(['binary', 'structured'] as const)('in %s mode: label and event id are read', async (mode) => {
    const endpoint = await newEndpoint()
    const row = await send(endpoint, HTTP[mode](event))
    expect(row).toMatchObject({
      label: 'com.example.someevent',
      eventId: '/mycontext/subcontext A234-1234-1234',
      verification: null,
    })
    expect(row.sizeBytes).toBeGreaterThan(0)
    const plain = await service.alice.endpoint()
    expect(await send(plain, HTTP[mode](event))).toMatchObject({ eventId: row.eventId })
  })

  test('an event is the same in both modes, also where a header is percent-encoded', async () => {
    const endpoint = await newEndpoint({ dedupe: { by: 'event', windowSeconds: 60, then: 'mark' } })
    const strange = event.cloneWith({ id: 'Euro € 😀', source: '/a/b' })
    const first = await send(endpoint, HTTP.structured(strange))
    const headers = {
      'ce-specversion': '1.0',
      'ce-type': 'com.example%2Esomeevent',
      'ce-source': '/a%2Fb',
      'ce-id': 'Euro%20%E2%82%AC%20%F0%9F%98%80',
    }
    const again = await endpoint.capture({ headers })
    expect(again).toMatchObject({
      eventId: '/a/b Euro € 😀',
      label: 'com.example.someevent',
      duplicateOf: first.id,
    })
    expect(await endpoint.capture({ headers: { ...headers, 'ce-id': '100%' } })).toMatchObject({
      eventId: '/a/b 100%',
      duplicateOf: null,
    })
  })

  test('the same id from another source is another event', async () => {
    const endpoint = await newEndpoint({ dedupe: { by: 'event', windowSeconds: 60, then: 'discard' } })
    await send(endpoint, HTTP.binary(event))
    await send(endpoint, HTTP.binary(event.cloneWith({ source: '/other' })))
    await send(endpoint, HTTP.structured(event))
    expect((await endpoint.requests()).length).toBe(2)
  })
})

const ORIGIN = 'eventemitter.example.com'
const shake = (endpoint: TestEndpoint, headers: Record<string, string> = {}) =>
  fetch(endpoint.url, { method: 'OPTIONS', headers: { 'WebHook-Request-Origin': ORIGIN, ...headers } })

describe('the handshake', () => {
  test('grants the origin, and the rate where one is asked for', async () => {
    const endpoint = await newEndpoint({ responseStatusCode: 202, responseBody: 'no' })
    const answer = await shake(endpoint)
    expect([answer.status, await answer.text()]).toEqual([200, ''])
    expect(answer.headers.get('WebHook-Allowed-Origin')).toBe(ORIGIN)
    expect(answer.headers.get('Allow')).toBe('POST')
    expect(answer.headers.get('WebHook-Allowed-Rate')).toBeNull()
    const asked = await shake(endpoint, { 'WebHook-Request-Rate': '120' })
    expect(asked.headers.get('WebHook-Allowed-Rate')).toBe(String(RATE))
    expect(await endpoint.requests()).toMatchObject([{ method: 'OPTIONS' }, { method: 'OPTIONS' }])
    const other = await (await service.alice.endpoint()).send({ method: 'OPTIONS', body: '' })
    expect(other.headers.get('WebHook-Allowed-Origin')).toBeNull()
  })

  test('is limited like any capture, and no endpoint answers 404', async () => {
    const endpoint = await newEndpoint()
    const answers = await Promise.all(Array.from({ length: RATE + 5 }, () => shake(endpoint)))
    expect(answers.filter(({ status }) => status === 429).length).toBe(5)
    const gone = [
      await newEndpoint({ ttlSeconds: 60 }),
      await newEndpoint(),
      await newEndpoint({ isActive: false }),
    ]
    await service.alice.delete(gone[1]?.at('') ?? '')
    await service.clock.advance(61_000)
    for (const one of gone) {
      const { status, headers } = await shake(one)
      expect([status, headers.get('WebHook-Allowed-Origin')]).toEqual([404, null])
    }
    const { captureUrl } = service
    const unknown = await fetch(`${captureUrl}/hook/${crypto.randomUUID()}`, {
      method: 'OPTIONS',
      headers: { 'WebHook-Request-Origin': ORIGIN },
    })
    expect(unknown.status).toBe(404)
  })
})

const Confirmed = z.looseObject({
  outcome: z.string(),
  statusCode: z.int().nullable(),
  body: z.string().nullable(),
})
const confirm = (endpoint: TestEndpoint, id: number) =>
  endpoint.client.post(endpoint.at(`/requests/${id}/confirm`))

describe('a callback', () => {
  test('is called when it is asked for, once, with what is granted', async () => {
    await using receiver = await startReceiver({ status: 200, body: 'x'.repeat(10_000) })
    const endpoint = await newEndpoint()
    const callback = `${receiver.url}/confirm?id=1&key=secret`
    await shake(endpoint, { 'WebHook-Request-Callback': callback, 'WebHook-Request-Rate': '120' })
    const [row] = await endpoint.requests()
    expect(receiver.received.length).toBe(0)
    const result = await service.alice.expect(confirm(endpoint, row?.id ?? 0), Confirmed)
    expect(result).toMatchObject({
      url: callback,
      outcome: 'response',
      statusCode: 200,
      body: 'x'.repeat(4_096),
    })
    expect(receiver.received).toMatchObject([
      { method: 'GET', url: expect.stringMatching(/\/confirm\?id=1&key=secret$/) },
    ])
    const sent = receiver.received[0]?.rawHeaders ?? []
    expect(sent).toContainEqual(['WebHook-Allowed-Origin', ORIGIN])
    expect(sent).toContainEqual(['WebHook-Allowed-Rate', String(RATE)])
    const { text } = await service.alice.get('/api/v1/audit')
    expect(text).toContain('requests.confirm')
    expect(text).not.toContain('key=secret')
  })

  test('of a private address, of no URL, and of a request that is no handshake is refused', async () => {
    const { database, clock, secretKey } = service
    const guarded = await startService({
      database,
      clock,
      secretKey,
      allowDestinations: [],
      parts: ['gateway'],
    })
    await using receiver = await startReceiver()
    const endpoint = await guarded.alice.endpoint({ provider: 'cloudevents' })
    for (const callback of [
      receiver.url,
      'http://example.com/',
      'file:///etc/passwd',
      'confirm me',
      'https://[::1]/',
    ]) {
      await shake(endpoint, { 'WebHook-Request-Callback': callback })
    }
    await shake(endpoint)
    await endpoint.send({
      headers: { 'WebHook-Request-Origin': ORIGIN, 'WebHook-Request-Callback': receiver.url },
    })
    const rows = await endpoint.requests()
    expect(rows.length).toBe(7)
    for (const { id } of rows) {
      const answer = await confirm(endpoint, id)
      expect([answer.status, wrongParts(answer).map((part) => part.split(' ')[0])]).toEqual([
        400,
        ['#/requestId'],
      ])
    }
    expect(receiver.received.length).toBe(0)
    expect((await guarded.charlie.post(endpoint.at(`/requests/${rows[0]?.id}/confirm`))).status).toBe(404)
  })

  test('waits for others of the workspace that are under way', async () => {
    await using receiver = await startReceiver(answersAfter(100))
    const endpoint = await newEndpoint()
    await shake(endpoint, { 'WebHook-Request-Callback': receiver.url })
    const [row] = await endpoint.requests()
    const answers = await Promise.all(Array.from({ length: 9 }, () => confirm(endpoint, row?.id ?? 0)))
    expect(answers.map(({ status }) => status)).toEqual(Array(9).fill(200))
  })

  test('that does not answer is an outcome', async () => {
    const endpoint = await newEndpoint()
    await shake(endpoint, { 'WebHook-Request-Callback': 'http://127.0.0.1:9/' })
    const [row] = await endpoint.requests()
    const result = await service.alice.expect(confirm(endpoint, row?.id ?? 0), Confirmed)
    expect(result).toMatchObject({ outcome: 'connect', statusCode: null, body: null })
  })
})
