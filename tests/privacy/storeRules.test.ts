import { beforeAll, describe, expect, test } from 'bun:test'
import { hash } from 'node:crypto'
import { sql } from 'kysely'
import { z } from 'zod'
import { type Client, TestEndpoint } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { wrongParts } from '../support/problems.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'

/** `storeRules` and `dropHeaders` of an endpoint: what they store, show, refuse and warn of. */

let service: TestService
let alice: Client

beforeAll(async () => {
  service = await startService({
    limits: { apiRatePerMinute: 100_000, endpointsMax: 1_000, payloadBytesMax: 200_000 },
  })
  alice = service.alice
})

const Detail = z.looseObject({
  id: z.int(),
  body: z.string().nullable(),
  label: z.string().nullable(),
  eventId: z.string().nullable(),
  headers: z.record(z.string(), z.string()),
  queryString: z.string().nullable(),
  redacted: z.boolean(),
  redactedPaths: z.array(z.string()),
  redactionFault: z.string().nullable(),
})
const captured = async (endpoint: TestEndpoint, options: Parameters<TestEndpoint['send']>[0]) => {
  const { id } = await endpoint.capture(options)
  return await alice.expect(alice.get(endpoint.at(`/requests/${id}`)), Detail)
}
const json = (body: unknown) => ({
  body: JSON.stringify(body),
  headers: { 'Content-Type': 'application/json' },
})
const hashing = { storeRules: [{ op: 'hash', paths: ['body.email', 'body.address'] }] }

describe('a rule for storing', () => {
  test('keeps the digits of long numbers in its condition and in what it sets', async () => {
    const rule =
      '{"when":{"path":"body.id","op":"eq","value":9007199254740993},"steps":[{"op":"set","path":"body.as","value":12345678901234567890}]}'
    const made = await alice.post('/api/v1/endpoints', undefined, {
      rawBody: `{"name":"long","storeRules":[${rule}]}`,
    })
    expect(made.text).toContain(`"storeRules":[${rule}]`)
    const { id, url } = z.looseObject({ id: z.string(), url: z.string() }).parse(made.body)
    const endpoint = new TestEndpoint(alice, id, url)
    const bodies: (string | null)[] = []
    for (const number of ['9007199254740992', '9007199254740993'])
      bodies.push((await captured(endpoint, { ...json({}), body: `{"id":${number}}` })).body)
    expect(bodies).toEqual(['{"id":9007199254740992}', '{"id":9007199254740993,"as":12345678901234567890}'])
    const preview = await alice.post(endpoint.at('/store-rules/preview'), undefined, {
      rawBody: `{"storeRules":[${rule}],"sample":{"body":{"id":9007199254740993}}}`,
    })
    expect(preview.text).toContain('12345678901234567890')
  })

  test('may hold a value as deep as a document may nest', async () => {
    const value: unknown = JSON.parse(`${'['.repeat(253)}${']'.repeat(253)}`)
    const storeRules = [{ version: 1, name: 'deep', steps: [{ op: 'set', path: 'body.x', value }] }]
    const endpoint = await alice.endpoint({ storeRules })
    expect(await alice.get(endpoint.at(''))).toMatchObject({ status: 200, body: { storeRules } })
    expect((await alice.patch(endpoint.at(''), { storeRules, name: 'deep' })).status).toBe(200)
    expect((await endpoint.send(json({}))).status).toBe(200)
  })

  test('may be a document with a condition, one document, or steps; the endpoint shows it, and null leaves it', async () => {
    const steps = [{ op: 'remove', paths: ['body.a'] }]
    const document = { version: 1, name: 'No a', when: { path: 'body.kind', op: 'eq', value: 'x' }, steps }
    const endpoint = await alice.endpoint({ storeRules: [document] })
    expect((await captured(endpoint, json({ kind: 'x', a: 1 }))).body).toBe('{"kind":"x"}')
    expect(await captured(endpoint, json({ kind: 'y', a: 1 }))).toMatchObject({
      body: '{"kind":"y","a":1}',
      redacted: false,
      redactedPaths: [],
    })
    for (const [given, shown] of [
      [document, [document]],
      [steps, steps],
      [null, steps],
      [[], []],
    ]) {
      const changed = await alice.patch(endpoint.at(''), { storeRules: given })
      expect(changed.body).toMatchObject({ storeRules: shown })
    }
    for (const given of [['X-Gone'], null]) {
      const changed = await alice.patch(endpoint.at(''), { dropHeaders: given })
      expect(changed.body).toMatchObject({ dropHeaders: ['X-Gone'] })
    }
  })

  test('hashes equal values of a workspace alike, on all endpoints, and those of another workspace otherwise', async () => {
    const emailOf = async (endpoint: TestEndpoint, email: unknown) =>
      JSON.parse((await captured(endpoint, json({ email }))).body ?? '').email
    const [one, other] = [await alice.endpoint(hashing), await alice.endpoint(hashing)]
    const digest = await emailOf(one, 'ada@example.com')
    expect(digest).toMatch(/^[0-9a-f]{64}$/)
    expect(await emailOf(other, 'ada@example.com')).toBe(digest)
    expect(await emailOf(one, 'bob@example.com')).not.toBe(digest)
    expect(await emailOf(one, 17)).toBe(await emailOf(other, 17))
    const foreign = await service.charlie.endpoint(hashing)
    const { id } = await foreign.capture(json({ email: 'ada@example.com' }))
    const read = await service.charlie.get(foreign.at(`/requests/${id}`))
    expect(read.text).not.toContain(digest)
  })

  test('is applied after label, event id, conditions and `dedupe` were read', async () => {
    await using receiver = await startReceiver()
    const endpoint = await alice.endpoint({
      eventIdPath: 'body.id',
      dedupe: { by: 'event', windowSeconds: 600, then: 'mark' },
      storeRules: [
        { op: 'hash', paths: ['body.id'] },
        { op: 'remove', paths: ['body.secret'] },
      ],
    })
    await alice.post(endpoint.at('/actions'), {
      kind: 'forward',
      name: 'App',
      url: receiver.url,
      condition: { path: 'body.secret', op: 'eq', value: 'yes' },
    })
    const sent = json({ id: 'evt_1', type: 'order.paid', secret: 'yes' })
    const first = await captured(endpoint, sent)
    expect(first.eventId).toMatch(/^[0-9a-f]{64}$/)
    expect(JSON.parse(first.body ?? '')).toEqual({ id: first.eventId, type: 'order.paid' })
    expect(first.label).toBe('order.paid')
    expect(await captured(endpoint, sent)).toMatchObject({ duplicateOf: first.id, eventId: first.eventId })
    const [forwarded] = await receiver.take(1)
    expect(JSON.parse(String(forwarded?.body))).toEqual(JSON.parse(first.body ?? ''))
  })

  test('keeps the order of deliveries that wait when it is switched on', async () => {
    await using receiver = await startReceiver({ status: 500 })
    const endpoint = await alice.endpoint()
    await alice.post(endpoint.at('/actions'), {
      kind: 'forward',
      name: 'Ordered',
      url: receiver.url,
      delivery: { order: { by: 'body.customer', onDeadLetter: 'hold' } },
    })
    await captured(endpoint, json({ customer: 'c-1', n: 0 }))
    await receiver.take(1)
    const storeRules = [
      {
        when: { path: 'body.n', op: 'gt', value: 1 },
        steps: [{ op: 'remove', paths: ['body.customer'] }],
      },
    ]
    expect((await alice.patch(endpoint.at(''), { storeRules })).status).toBe(200)
    for (const n of [1, 2]) await captured(endpoint, json({ customer: 'c-1', n }))
    const { rows } = await sql<{ orderKey: string }>`
      select order_key from deliveries where endpoint_id = ${endpoint.id}`.execute(service.db)
    expect(rows).toHaveLength(3)
    expect(new Set(rows.map(({ orderKey }) => orderKey)).size).toBe(1)
    expect(rows[0]?.orderKey).toMatch(/^[0-9a-f]{64}$/)
  })

  test('that faults stores a trace, delivers nothing and raises one alert', async () => {
    await using receiver = await startReceiver()
    const endpoint = await alice.endpoint({
      name: 'Strict',
      storeRules: [{ name: 'No mail', steps: [{ op: 'redact', paths: ['body.email'] }] }],
    })
    await alice.post(endpoint.at('/actions'), { kind: 'forward', name: 'App', url: receiver.url })
    const unreadable = {
      body: 'email: ada@example.com',
      headers: { 'Content-Type': 'text/plain', 'X-Mail': 'ada' },
    }
    for (const suffix of ['?email=ada', '']) {
      expect(await captured(endpoint, { ...unreadable, suffix })).toMatchObject({
        body: null,
        bodyPreview: null,
        queryString: null,
        bodyTruncated: true,
        state: 'NotAttempted',
        redacted: true,
        redactedPaths: ['body', 'query', 'headers'],
        redactionFault: "rule 'No mail' faulted at step 1: not_structured",
        headers: { 'Content-Type': 'text/plain', 'Content-Length': '22' },
      })
    }
    const alerts = await service.db
      .selectFrom('alerts')
      .where('endpointId', '=', endpoint.id)
      .select(['eventKind', 'reason'])
      .execute()
    expect(alerts).toEqual([
      { eventKind: 'redaction.failed', reason: "rule 'No mail' faulted at step 1: not_structured" },
    ])
    await captured(endpoint, json({ email: 'x' }))
    await receiver.take(1)
    expect(receiver.received.map(({ body }) => String(body))).toEqual(['{"email":"***"}'])
  })

  test('that faults names path and address among what it took out, if a rule names them', async () => {
    const endpoint = await alice.endpoint({
      storeRules: [{ op: 'remove', paths: ['path', 'ip', 'body.card'] }],
    })
    expect(await captured(endpoint, { body: 'text', suffix: '/users/ada' })).toMatchObject({
      path: '',
      ip: null,
      redactedPaths: ['body', 'query', 'headers', 'path', 'ip'],
      redactionFault: 'rule 1 faulted at step 1: not_structured',
    })
  })

  test('with a condition on a body that cannot be read faults, unless other parts decide', async () => {
    const rule = (when: unknown) => ({
      storeRules: [{ when, steps: [{ op: 'remove', paths: ['body.card'] }] }],
    })
    const isCard = { path: 'body.kind', op: 'eq', value: 'card' }
    const unreadable = [
      { body: '<card>4111</card>', headers: { 'Content-Type': 'application/xml' } },
      { body: '{"kind":"card","card":"4111"', headers: { 'Content-Type': 'application/json' } },
      { body: JSON.stringify({ kind: 'card', card: '4'.repeat(250_000) }), headers: {} },
    ]
    for (const when of [
      isCard,
      { any: [isCard, { path: 'headers.x-card', op: 'exists' }] },
      { path: 'label', op: 'eq', value: 'card' },
    ]) {
      const endpoint = await alice.endpoint(rule(when))
      for (const sent of unreadable)
        expect(await captured(endpoint, sent)).toMatchObject({
          body: null,
          redactionFault: 'rule 1 faulted at step 1: not_structured',
        })
      expect(await captured(endpoint, { body: '' })).toMatchObject({ redactionFault: null })
    }
    const decided = { all: [isCard, { path: 'headers.x-card', op: 'exists' }] }
    const endpoint = await alice.endpoint(rule(decided))
    for (const sent of unreadable)
      expect(await captured(endpoint, sent)).toMatchObject({ redacted: false, redactionFault: null })
  })

  test('that sets what is there already takes out earlier duplicates of the name', async () => {
    const endpoint = await alice.endpoint({ storeRules: [{ op: 'set', path: 'body.card', value: '***' }] })
    const twice = await captured(endpoint, { ...json(null), body: '{"card":"4111","card":"***"}' })
    expect(twice).toMatchObject({ body: '{"card":"***"}', redactedPaths: ['body.card'] })
  })

  test('leaves no digest of an event id from which the id could be guessed', async () => {
    for (const settings of [
      { storeRules: [{ op: 'hash', paths: ['body.id'] }] },
      { encryptBodies: true },
      {},
    ]) {
      const endpoint = await alice.endpoint({
        ...settings,
        dedupe: { by: 'body.id', windowSeconds: 600, then: 'mark' },
      })
      const [one, other] = [
        await endpoint.capture(json({ id: 'evt_1' })),
        await captured(endpoint, json({ id: 'evt_1' })),
      ]
      expect(other).toMatchObject({ duplicateOf: one.id })
      const claims = await service.db
        .selectFrom('eventClaims')
        .where('endpointId', '=', endpoint.id)
        .select('key')
        .execute()
      const guessed = hash('sha256', JSON.stringify([true, 'body.id', 'evt_1']), 'hex').slice(0, 32)
      expect(claims.map(({ key }) => key.replaceAll('-', ''))).toEqual([expect.not.stringMatching(guessed)])
    }
  })

  test('applies to the label and the event id of an imported line', async () => {
    const endpoint = await alice.endpoint({ storeRules: [{ op: 'redact', paths: ['body.email'] }] })
    const line = (body: unknown) =>
      JSON.stringify({
        receivedAt: new Date(service.clock.now().getTime() - 3_600_000).toISOString(),
        method: 'POST',
        rawHeaders: [{ name: 'Content-Type', value: 'application/json' }],
        label: 'signup of ada@example.com',
        eventId: 'signup-ada@example.com',
        body: JSON.stringify(body),
      })
    const imported = await endpoint.importLines(
      `${line({ email: 'ada@example.com' })}\n${line({ type: 'signup' })}\n`,
    )
    expect(imported.body).toMatchObject({ importedCount: 2 })
    const [kept, redacted] = await endpoint.requests()
    expect(redacted).toMatchObject({ label: null, eventId: expect.stringMatching(/^[0-9a-f]{64}$/) })
    expect(kept).toMatchObject({ label: 'signup of ada@example.com', eventId: 'signup-ada@example.com' })
  })

  test('leaves its marks in exports, and imports keep them beside those of their own rules', async () => {
    const source = await alice.endpoint({
      storeRules: [{ op: 'redact', paths: ['body.email'] }],
      dropHeaders: ['X-Gone'],
    })
    await source.capture(json({ email: 'ada@example.com', name: 'Ada' }))
    await source.capture({ body: 'not structured' })
    await source.capture(json({ name: 'Bob' }))
    const marks = [
      { redacted: false, redactedPaths: [], redactionFault: null },
      { redactedPaths: ['body', 'query', 'headers'], redactionFault: expect.stringContaining('rule 1') },
      { redacted: true, redactedPaths: ['body.email'], redactionFault: null },
    ]
    expect(await source.requests()).toMatchObject(marks)
    const { text } = await alice.get(source.at('/requests/export?format=ndjson'))
    const into = async (endpoint: TestEndpoint, lines: string) => await endpoint.importLines(lines)
    const plain = await alice.endpoint()
    expect((await into(plain, text)).body).toMatchObject({ importedCount: 3 })
    expect(await plain.requests()).toMatchObject(marks)
    const strict = await alice.endpoint({ storeRules: [{ op: 'redact', paths: ['body.name'] }] })
    await into(strict, text.slice(0, text.indexOf('\n')))
    expect(await strict.requests()).toMatchObject([{ redactedPaths: ['body.email', 'body.name'] }])
    const wrong = text.replace('"redactedPaths":["body.email"]', '"redactedPaths":[1]')
    expect(wrongParts(await into(plain, wrong))).toEqual(['#/lines/1/redactedPaths/0 type'])
  })

  test('may hash or replace path and address: exports of them can be imported', async () => {
    for (const [step, ip] of [
      [{ op: 'hash' }, /^[0-9a-f]{64}$/],
      [{ op: 'redact' }, /^\*\*\*$/],
      [{ op: 'redact', with: 'somewhere €' }, /^somewhere €$/],
    ] as const) {
      const source = await alice.endpoint({ storeRules: [{ ...step, paths: ['ip', 'path'] }] })
      await source.capture({ suffix: '/orders' })
      const { text } = await alice.get(source.at('/requests/export?format=ndjson'))
      const target = await alice.endpoint()
      expect((await target.importLines(text)).body).toMatchObject({ importedCount: 1 })
      const [was, is] = [await source.requests(), await target.requests()].map(([one]) => one)
      expect(is).toMatchObject({ ip: expect.stringMatching(ip), redacted: true })
      expect([is?.ip, is?.path, is?.redactedPaths]).toEqual([was?.ip, was?.path, was?.redactedPaths])
      const unmarked = JSON.stringify({ ...JSON.parse(text), redactedPaths: ['path'] })
      expect(wrongParts(await target.importLines(unmarked))).toEqual(['#/lines/1/ip bad_format'])
    }
  })

  test('that faults on an imported line raises the alert, too', async () => {
    const endpoint = await alice.endpoint({ storeRules: [{ op: 'redact', paths: ['body.email'] }] })
    const line = {
      receivedAt: new Date(service.clock.now().getTime() - 3_600_000).toISOString(),
      method: 'POST',
      body: 'not structured',
    }
    const imported = await endpoint.importLines(`${JSON.stringify(line)}\n`)
    expect(imported.body).toMatchObject({ importedCount: 1 })
    const alerts = await service.db
      .selectFrom('alerts')
      .where('endpointId', '=', endpoint.id)
      .select('eventKind')
      .execute()
    expect(alerts).toEqual([{ eventKind: 'redaction.failed' }])
  })

  test('takes out every duplicate of a name, also where the last one is changed by no step', async () => {
    const endpoint = await alice.endpoint({ storeRules: [{ op: 'remove', paths: ['body.absent'] }] })
    const twice = await captured(endpoint, { ...json(null), body: '{"a":"first","a":"last"}' })
    expect(twice.body).toBe('{"a":"last"}')
  })
})

test('wrong rules and names are refused, each with its pointer', async () => {
  const made = await alice.post('/api/v1/endpoints', {
    storeRules: [
      { op: 'redact', paths: ['body.ok', 'bdy', 'headers.creel-hops'] },
      { op: 'template', path: 'body.a', template: 'x' },
    ],
    dropHeaders: ['Cookie', 'Creel-Hops'],
  })
  expect(wrongParts(made)).toEqual([
    '#/storeRules/0/paths/1 bad_path',
    '#/storeRules/0/paths/2 not_allowed',
    '#/storeRules/1/op unknown_op',
    '#/dropHeaders/1 not_allowed',
  ])
  const documents = await alice.post('/api/v1/endpoints', {
    storeRules: [{ steps: [{ op: 'hash', paths: ['body.a'] }] }, { steps: [], when: { path: 'x' } }],
    dropHeaders: ['Co okie'],
  })
  expect(documents.status).toBe(400)
})

describe('a preview', () => {
  test('shows what would be stored, and names what reads the values that go', async () => {
    const endpoint = await alice.endpoint({ eventIdPath: 'body.id' })
    await alice.post(endpoint.at('/actions'), {
      kind: 'forward',
      name: 'Billing',
      url: 'http://127.0.0.1:9/',
      condition: { path: 'body.data.email', op: 'exists' },
      delivery: { order: { by: 'body.customer' } },
    })
    const kept = await captured(endpoint, json({ id: 'evt', data: { email: 'a' }, customer: 'c' }))
    const tried = {
      storeRules: [{ op: 'remove', paths: ['body.data', 'body.customer', 'body.id'] }],
      requestId: kept.id,
    }
    const preview = await alice.post(endpoint.at('/store-rules/preview'), tried)
    expect(preview.body).toMatchObject({
      redacted: true,
      redactedPaths: ['body.data', 'body.customer', 'body.id'],
      redactionFault: null,
      stored: { body: '{}', headers: { 'Content-Type': 'application/json' } },
      warnings: [
        expect.stringContaining('event id is read from body.id'),
        expect.stringContaining("condition of the action 'Billing' reads body.data.email"),
        expect.stringContaining("'Billing' orders by body.customer"),
      ],
    })
    expect(await alice.expect(alice.get(endpoint.at(`/requests/${kept.id}`)), Detail)).toMatchObject({
      redacted: false,
    })
    const oversize = await endpoint.capture({ body: `{"id":"${'x'.repeat(250_000)}"}` })
    const saved = await alice.patch(endpoint.at(''), { storeRules: tried.storeRules })
    expect(saved.body).toMatchObject({ warnings: [{}, {}, {}].map(() => expect.any(String)) })
    const sample = { headers: { Cookie: 'a=b' }, query: { t: 'x' }, body: { id: 'e' } }
    const pasted = await alice.post(endpoint.at('/store-rules/preview'), {
      storeRules: [],
      dropHeaders: ['cookie'],
      sample,
    })
    expect(pasted.body).toMatchObject({ redactedPaths: ['headers.cookie'], stored: { queryString: 't=x' } })
    const overlong = await alice.post(endpoint.at('/store-rules/preview'), {
      ...tried,
      requestId: oversize.id,
    })
    expect(overlong.body).toMatchObject({
      redactionFault: 'rule 1 faulted at step 1: not_structured',
      stored: { body: null },
    })
    const nothing = await alice.post(endpoint.at('/store-rules/preview'), { storeRules: [{ op: 'x' }] })
    expect(wrongParts(nothing)).toEqual(['#/storeRules/0/op unknown_op', '#/sample required'])
  })
})

test.each([
  { storeRules: [{ op: 'redact', paths: ['body.email'] }] },
  { dropHeaders: ['X-Person'] },
  { encryptBodies: true },
  'shred',
])('an import that was begun under other settings, or another key, stores nothing: %p', async (change) => {
  const mail = 'ada@begun.example'
  const endpoint = await alice.endpoint({ encryptBodies: change === 'shred' })
  const line = JSON.stringify({
    receivedAt: new Date(service.clock.now().getTime() - 3_600_000).toISOString(),
    method: 'POST',
    rawHeaders: [{ name: 'X-Person', value: mail }],
    body: JSON.stringify({ email: mail }),
  })
  const changed = Promise.withResolvers<void>()
  const lines = new ReadableStream<Uint8Array>({
    async pull(controller) {
      controller.enqueue(Buffer.from(`${line}\n`.repeat(600)))
      await changed.promise
      controller.enqueue(Buffer.from(`${line}\n`))
      controller.close()
    },
  })
  const importing = endpoint.importLines(lines)
  await eventually('lines that are staged', async () => {
    const { rows } = await sql`select from imports where endpoint_id = ${endpoint.id}`.execute(service.db)
    return rows.length > 0
  })
  const answer =
    typeof change === 'string'
      ? await alice.post(endpoint.at(`/${change}`))
      : await alice.patch(endpoint.at(''), change)
  expect(answer.status).toBe(200)
  changed.resolve()
  expect((await importing).body).toMatchObject({ status: 409, code: 'concurrent_change' })
  expect(await endpoint.requests()).toEqual([])
  const { rows } = await sql`
    select from imports i left join import_batches b on b.import_id = i.id where i.endpoint_id = ${endpoint.id}`.execute(
    service.db,
  )
  expect(rows).toEqual([])
})
