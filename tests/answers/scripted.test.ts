/** Scripted answers of an endpoint: which response answers, how often, and what the request says of it. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import Stripe from 'stripe'
import { Agent, RetryAgent, request } from 'undici/index.js'
import { z } from 'zod'
import { type Client, TestEndpoint } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { wrongParts } from '../support/problems.ts'
import { sendRaw } from '../support/rawSender.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let alice: Client

beforeAll(async () => {
  service = await startService()
  alice = service.alice
})

const Shown = z.looseObject({
  responses: z.array(z.looseObject({ status: z.int(), used: z.int().nullable() })),
})
const Listed = z.looseObject({
  items: z.array(
    z.looseObject({
      answeredBy: z
        .object({ kind: z.string(), index: z.int().nullable(), note: z.string().nullable() })
        .nullable(),
    }),
  ),
})

const shown = (endpoint: TestEndpoint) => alice.expect(alice.get(endpoint.at('')), Shown)
const answeredBy = async (endpoint: TestEndpoint) => {
  const { items } = await alice.expect(alice.get(endpoint.at('/requests?pageSize=50')), Listed)
  return items.map((item) => item.answeredBy)
}
const statuses = async (endpoint: TestEndpoint, count: number, body = '{}') => {
  const seen: number[] = []
  for (let sent = 0; sent < count; sent++) seen.push((await endpoint.send({ body })).status)
  return seen
}

describe('a scripted response', () => {
  test('answers as often as it may, then the next one', async () => {
    const endpoint = await alice.endpoint({ responses: [{ status: 500, times: 2 }, { status: 202 }] })
    expect(await statuses(endpoint, 4)).toEqual([500, 500, 202, 202])
    expect((await answeredBy(endpoint)).map((by) => by?.index)).toEqual([1, 1, 0, 0])
    expect((await shown(endpoint)).responses.map(({ used }) => used)).toEqual([2, null])
  })

  test('has a condition whose long numbers keep their digits, also in a preview and when it is sent back', async () => {
    const when = '{"path":"body.id","op":"eq","value":9007199254740993}'
    const rawBody = `{"name":"long","responses":[{"when":${when},"status":418,"times":9}]}`
    const made = await alice.post('/api/v1/endpoints', undefined, { rawBody })
    expect(made.text).toContain(`"when":${when}`)
    const { id, url } = z.looseObject({ id: z.string(), url: z.string() }).parse(made.body)
    const endpoint = new TestEndpoint(alice, id, url)
    const [near, same] = ['{"id":9007199254740992}', '{"id":9007199254740993}']
    expect([...(await statuses(endpoint, 1, near)), ...(await statuses(endpoint, 1, same))]).toEqual([
      200, 418,
    ])
    for (const request of await endpoint.requests()) {
      const tried = `{"requestId":${request.id},"responses":[{"when":${when},"status":410}]}`
      const preview = await alice.post(endpoint.at('/responses/preview'), undefined, { rawBody: tried })
      expect(preview.body).toMatchObject({ status: request.bodyPreview === same ? 410 : 200 })
    }
    await alice.patch(endpoint.at(''), undefined, {
      rawBody: `{"responses":[{"when":${when},"status":418,"times":9}]}`,
    })
    expect((await shown(endpoint)).responses.map(({ used }) => used)).toEqual([1])
  })

  test('answers the requests for which its condition holds, the endpoint the others', async () => {
    const endpoint = await alice.endpoint({
      responseStatusCode: 201,
      responses: [
        { when: { path: 'body.type', op: 'eq', value: 'a' }, status: 410 },
        { when: { path: 'body.n', op: 'gt', value: 3 }, status: 418 },
      ],
    })
    expect((await endpoint.send({ body: '{"type":"a","n":9}' })).status).toBe(410)
    expect((await endpoint.send({ body: '{"n":4}' })).status).toBe(418)
    expect((await endpoint.send({ body: '{"n":3}' })).status).toBe(201)
    expect(await answeredBy(endpoint)).toEqual([
      null,
      { kind: 'response', index: 1, note: null },
      { kind: 'response', index: 0, note: null },
    ])
  })

  test('whose condition is null answers always', async () => {
    const endpoint = await alice.endpoint({ responses: [{ when: null, status: 202 }] })
    expect((await shown(endpoint)).responses).toMatchObject([{ when: {} }])
    const { id } = await endpoint.capture()
    expect(await answeredBy(endpoint)).toEqual([{ kind: 'response', index: 0, note: null }])
    const preview = { requestId: id, responses: [{ when: null, status: 410 }] }
    expect(await alice.post(endpoint.at('/responses/preview'), preview)).toMatchObject({ status: 200 })
  })

  test('fills in its template, escaped for what it answers', async () => {
    const endpoint = await alice.endpoint({
      responses: [
        {
          when: { path: 'query.as', op: 'eq', value: 'xml' },
          headers: { 'Content-Type': 'text/xml', 'X-Made': 'here' },
          body: '<Say>{{ body.name }}</Say>',
        },
        { body: '{"name":"{{ body.name }}","all":{{ body.list }},"id":{{ request.id }}}' },
      ],
    })
    const body = JSON.stringify({ name: 'A "b" <c>', list: [1, 'x'] })
    const xml = await endpoint.send({ body, suffix: '?as=xml' })
    expect(await xml.text()).toBe('<Say>A &quot;b&quot; &lt;c&gt;</Say>')
    expect([xml.headers.get('content-type'), xml.headers.get('x-made')]).toEqual(['text/xml', 'here'])
    expect(xml.headers.get('content-security-policy')).toContain('sandbox')
    const json = await (await endpoint.send({ body })).json()
    expect(json).toEqual({ name: 'A "b" <c>', all: [1, 'x'], id: expect.any(Number) })
  })

  test('says a number that no double reaches as it was sent', async () => {
    const endpoint = await alice.endpoint({ responses: [{ status: 200, body: '{"id":{{body.id}}}' }] })
    const answer = await endpoint.send({ body: '{"id":1e400}' })
    expect(await answer.text()).toBe('{"id":1e400}')
  })

  test('whose body grows too long leaves the answer to the endpoint, and the request says why', async () => {
    const placeholders = '{{ body.long }}'.repeat(200)
    const endpoint = await alice.endpoint({ responseStatusCode: 203, responses: [{ body: placeholders }] })
    const answer = await endpoint.send({ body: JSON.stringify({ long: 'x'.repeat(1000) }) })
    expect(answer.status).toBe(203)
    await eventually('the note', async () => (await answeredBy(endpoint))[0] !== null)
    expect(await answeredBy(endpoint)).toEqual([
      { kind: 'endpoint', index: null, note: 'The body would be longer than 65536 bytes.' },
    ])
  })

  test('whose body grows too long takes no use, and is passed over once it has none left', async () => {
    const body = '{{ body.long }}'.repeat(200)
    const endpoint = await alice.endpoint({ responses: [{ status: 500, body, times: 1 }, { status: 202 }] })
    const long = JSON.stringify({ long: 'x'.repeat(1000) })
    expect(await statuses(endpoint, 2, long)).toEqual([200, 200])
    expect((await shown(endpoint)).responses[0]?.used).toBe(0)
    expect(await statuses(endpoint, 1)).toEqual([500])
    expect(await statuses(endpoint, 2, long)).toEqual([202, 202])
  })

  test('that cannot be counted leaves the answer to the endpoint, and the request says so', async () => {
    const endpoint = await alice.endpoint({ responses: [{ status: 500, times: 5 }] })
    await sql`alter table response_uses rename to gone_uses`.execute(service.db)
    try {
      expect(await statuses(endpoint, 1)).toEqual([200])
    } finally {
      await sql`alter table gone_uses rename to response_uses`.execute(service.db)
    }
    await eventually('the note', async () => (await answeredBy(endpoint))[0] !== null)
    expect(await answeredBy(endpoint)).toEqual([
      { kind: 'endpoint', index: null, note: 'The answer could not be made.' },
    ])
    expect(await statuses(endpoint, 1)).toEqual([500])
  })

  test('counts nothing in a workspace that is about to be in another cell', async () => {
    const endpoint = await alice.endpoint({ responses: [{ status: 500, times: 5 }] })
    expect(await statuses(endpoint, 1)).toEqual([500])
    const seal = (until: string | null) =>
      sql`update workspaces set sealed_until = ${until}::timestamptz where id = ${alice.workspaceId}`.execute(
        service.db,
      )
    // The capture was evaluated before the seal, and its transaction has just ended.
    await seal('infinity')
    try {
      expect(await statuses(endpoint, 1)).toEqual([200])
    } finally {
      await seal(null)
    }
    expect((await shown(endpoint)).responses[0]?.used).toBe(1)
  })

  test('counts the answers of senders exactly, also under load, and to duplicates that are not stored', async () => {
    const endpoint = await alice.endpoint({
      responses: [{ status: 500, times: 100 }],
      eventIdPath: 'body.id',
      dedupe: { by: 'event', windowSeconds: 3600, then: 'discard' },
    })
    const seen = await Promise.all(
      Array.from({ length: 300 }, async (_one, index) => {
        const answer = await endpoint.send({ body: JSON.stringify({ id: index % 20 }) })
        return answer.status
      }),
    )
    expect(seen.filter((status) => status === 500)).toHaveLength(100)
    expect((await answeredBy(endpoint)).length).toBe(20)
  })

  test('fills in the id of the first request where a duplicate is not stored', async () => {
    const endpoint = await alice.endpoint({
      responses: [{ body: '{{ request.id }}' }],
      eventIdPath: 'body.id',
      dedupe: { by: 'event', windowSeconds: 3600, then: 'discard' },
    })
    const { id } = await endpoint.capture({ body: '{"id":"evt_1"}' })
    const duplicate = await endpoint.send({ body: '{"id":"evt_1"}' })
    expect(await duplicate.text()).toBe(String(id))
  })

  test('answers anew after a reset, and after another list, but not after the same list', async () => {
    const endpoint = await alice.endpoint({ responses: [{ status: 503, times: 1 }] })
    expect(await statuses(endpoint, 2)).toEqual([503, 200])
    const { responses } = await shown(endpoint)
    await alice.expect(alice.patch(endpoint.at(''), { responses }), Shown)
    expect(await statuses(endpoint, 1)).toEqual([200])
    const reset = await alice.expect(alice.post(endpoint.at('/responses/reset')), Shown)
    expect(reset.responses.map(({ used }) => used)).toEqual([0])
    expect(await statuses(endpoint, 2)).toEqual([503, 200])
    await alice.expect(alice.patch(endpoint.at(''), { responses: [{ status: 503, times: 2 }] }), Shown)
    expect(await statuses(endpoint, 3)).toEqual([503, 503, 200])
  })

  test('may break off the connection, before its answer or within it', async () => {
    const endpoint = await alice.endpoint({
      responses: [
        { close: 'reset', times: 1 },
        { close: 'mid-body', body: 'x'.repeat(1000), times: 1 },
      ],
    })
    await expect(endpoint.send()).rejects.toThrow()
    const half = await sendRaw(
      endpoint.url,
      `POST /hook/${endpoint.id} HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
    )
    expect(half.status).toBe(200)
    expect(half.fields).toContain('Content-Length: 1000')
    expect(half.body.length).toBeWithin(1, 1000)
    expect((await answeredBy(endpoint)).map((by) => by?.index)).toEqual([1, 0])
  })

  test('never sends a complete answer where it breaks off, however short its body becomes', async () => {
    const endpoint = await alice.endpoint({ responses: [{ close: 'mid-body', body: '{{ body.text }}' }] })
    for (const text of ['', 'x']) {
      const body = JSON.stringify({ text })
      const sent = `POST /hook/${endpoint.id} HTTP/1.1\r\nHost: h\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`
      const { status, fields, body: got } = await sendRaw(endpoint.url, sent)
      const length = fields.find((field) => field.startsWith('Content-Length: '))
      expect({ status, isComplete: length === `Content-Length: ${got.length}` }).toEqual({
        status: 200,
        isComplete: false,
      })
    }
  })

  test('has no body for a HEAD, also where it breaks off', async () => {
    const endpoint = await alice.endpoint({ responses: [{ close: 'mid-body', body: 'x'.repeat(1000) }] })
    const sent = `HEAD /hook/${endpoint.id} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`
    expect(await sendRaw(endpoint.url, sent)).toMatchObject({ status: 200, body: '' })
  })

  test('waits its time, and holds up no other endpoint', async () => {
    const slow = await alice.endpoint({ responses: [{ status: 202, delayMs: 30_000 }] })
    const quick = await alice.endpoint()
    const gone = new AbortController()
    const waiting = Array.from({ length: 50 }, () =>
      fetch(slow.url, { method: 'POST', body: '{}', signal: gone.signal }).then(
        () => 'answered',
        () => 'left',
      ),
    )
    while ((await answeredBy(slow)).length < 50) await quick.send()
    expect((await quick.send()).status).toBe(200)
    gone.abort()
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['left']))
  })
})

test('a preview tells which response would answer a stored request, and changes nothing', async () => {
  const endpoint = await alice.endpoint({ responseStatusCode: 201, responses: [{ status: 500, times: 1 }] })
  const { id } = await endpoint.capture({ body: '{"name":"Zoë"}' })
  const preview = async (responses?: unknown) => {
    const answer = await alice.post(endpoint.at('/responses/preview'), { requestId: id, responses })
    return answer.body
  }
  expect(await preview()).toMatchObject({ index: 0, status: 500 })
  const given = [
    { when: { path: 'body.name', op: 'eq', value: 'x' } },
    { status: 418, body: 'Hi {{ body.name }}' },
  ]
  expect(await preview(given)).toMatchObject({ index: 1, status: 418, body: 'Hi Zoë', note: null })
  expect(await preview([])).toMatchObject({ index: null, status: 201, body: '{"ok":true}' })
  expect((await shown(endpoint)).responses).toMatchObject([{ status: 500, used: 1 }])
})

const Duplicates = z.looseObject({
  items: z.array(z.looseObject({ id: z.int(), duplicateOf: z.int().nullable() })),
})

/** Expects three captures of one event, and returns nothing. */
async function expectOneEvent(endpoint: TestEndpoint): Promise<void> {
  const { items } = await alice.expect(alice.get(endpoint.at('/requests')), Duplicates)
  const first = items.at(-1)?.id ?? 0
  expect(items.map(({ duplicateOf }) => duplicateOf)).toEqual([first, first, null])
}

const oneEvent = (eventIdPath: string) => ({
  responses: [{ status: 500, times: 2 }],
  eventIdPath,
  dedupe: { by: 'event', windowSeconds: 3600, then: 'mark' },
})

describe('a package that repeats what it sends is seen to: 500, 500, 200 are three captures of one event', () => {
  test('of undici', async () => {
    const endpoint = await alice.endpoint(oneEvent('headers.webhook-id'))
    const sender = new RetryAgent(new Agent(), { minTimeout: 5, methods: ['POST'], statusCodes: [500] })
    const answer = await request(endpoint.url, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json', 'webhook-id': 'msg_1' },
      dispatcher: sender,
    })
    expect(answer.statusCode).toBe(200)
    await answer.body.dump()
    await sender.close()
    await expectOneEvent(endpoint)
  })

  test('of Stripe', async () => {
    const endpoint = await alice.endpoint(oneEvent('headers.idempotency-key'))
    const { hostname, port, pathname } = new URL(endpoint.url)
    const options = { host: hostname, port, protocol: 'http', maxNetworkRetries: 2 } as const
    const stripe = new Stripe('sk_test_answers', options)
    const answer = await stripe.rawRequest('POST', pathname, { amount: 100 })
    expect(answer).toMatchObject({ ok: true })
    await expectOneEvent(endpoint)
  })
})

describe('bad input', () => {
  test('names everything that is wrong, each with its pointer', async () => {
    const answer = await alice.post('/api/v1/endpoints', {
      responses: [
        { status: 302, headers: { Location: 'https://evil.test', 'Content-Type': 'text/html' } },
        { when: { path: 'nothing', op: 'eq', value: 1 }, body: '{{ what' },
      ],
      answerFrom: {
        actionId: '00000000-0000-4000-8000-000000000000',
        fallback: { status: 301, headers: { 'Set-Cookie': 'a=b' } },
      },
    })
    expect(wrongParts(answer).map((part) => part.split(' ')[0])).toEqual([
      '#/responses/0/status',
      '#/responses/0/headers/Location',
      '#/responses/0/headers/Content-Type',
      '#/responses/1/when/path',
      '#/responses/1/body',
      '#/answerFrom/actionId',
      '#/answerFrom/fallback/status',
      '#/answerFrom/fallback/headers/Set-Cookie',
    ])
  })

  test.each([
    [{ responses: Array.from({ length: 51 }, () => ({})) }, '#/responses'],
    [{ responses: [{ delayMs: 30_001 }] }, '#/responses/0/delayMs'],
    [{ responses: [{ times: 0 }] }, '#/responses/0/times'],
    [{ responses: [{ close: 'softly' }] }, '#/responses/0/close'],
    [{ responses: [{ close: 'mid-body', body: 'x' }] }, '#/responses/0/close'],
    [{ responses: [{ close: 'mid-body', body: 'text', status: 204 }] }, '#/responses/0/close'],
    [{ responses: [{ body: `{{ body.a }}${'x'.repeat(4000)}` }] }, '#/responses/0/body'],
    [{ responses: [{ headers: { 'content-type': 'text/html' } }] }, '#/responses/0/headers/content-type'],
    [
      { answerFrom: { actionId: '00000000-0000-4000-8000-000000000000', timeoutMs: 99 } },
      '#/answerFrom/timeoutMs',
    ],
  ])('%j is refused at %s', async (members, pointer) => {
    const answer = await alice.post('/api/v1/endpoints', members)
    expect(wrongParts(answer).map((part) => part.split(' ')[0])).toContain(pointer)
  })
})
