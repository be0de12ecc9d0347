import { beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { loadRuleSets, recordRuleOutcomes } from '@creel/core/transformations'
import { z } from 'zod'
import { addForward, addRule, documentOf, problemOf, rulesOf } from '../api/transformations/support.ts'
import { attemptsEnded } from '../support/attempts.ts'
import type { TestEndpoint } from '../support/client.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'

const Attempt = z.looseObject({
  id: z.int(),
  state: z.string(),
  error: z.string().nullable(),
  transformed: z.boolean(),
  transformationVersion: z.int().nullable(),
})
const Detail = Attempt.extend({
  transformNote: z.string().nullable(),
  sent: z.looseObject({ headers: z.record(z.string(), z.string()), body: z.string().nullable() }).nullable(),
})
const Outcomes = z.looseObject({
  outcomes: z.tuple([z.looseObject({ attemptId: z.int(), state: z.string(), error: z.string().nullable() })]),
})

let service: TestService

beforeAll(async () => {
  service = await startService()
})

const set = (path: string, value: unknown) => ({ op: 'set', path, value })
/** A rule that faults on a body whose `n` is not a number. */
const NUMBER = documentOf(
  [
    { op: 'compute', path: 'body.n', fn: 'add', args: ['body.n', 1] },
    { op: 'redact', paths: ['body.card'] },
  ],
  { name: 'Count' },
)

/** Sends a stored request again, at once, and reads the attempt in full. */
async function replay(endpoint: TestEndpoint, requestId: number): Promise<z.output<typeof Detail>> {
  const { client } = endpoint
  const { outcomes } = await client.expect(
    client.post(endpoint.at(`/requests/${requestId}/replay`)),
    Outcomes,
  )
  return await client.expect(client.get(endpoint.at(`/deliveries/${outcomes[0].attemptId}`)), Detail)
}

async function captureAll(
  endpoint: TestEndpoint,
  bodies: readonly string[],
  contentType = 'application/json',
): Promise<number[]> {
  const ids: number[] = []
  for (const body of bodies)
    ids.push((await endpoint.capture({ body, headers: { 'Content-Type': contentType } })).id)
  return ids
}

describe('a body is read for what it is, whatever its sender calls it', () => {
  test('by redactions, conditions, labels, previews and the view alike', async () => {
    const alice = await service.newClient()
    await using receiver = await startReceiver()
    const endpoint = await alice.endpoint()
    const condition = { path: 'body.email', op: 'exists' }
    const actionId = await addForward(endpoint, { url: receiver.url, condition })
    const rule = documentOf([{ op: 'redact', paths: ['body.email', 'body.people.*.email'] }])
    await addRule(endpoint, rule)
    const body = '{"type":"person.made","email":"ada@example.test","people":[{"email":"bob@example.test"}]}'
    const redacted = '{"type":"person.made","email":"***","people":[{"email":"***"}]}'
    const types = ['application/x-www-form-urlencoded', 'text/plain', 'application/octet-stream', 'text/json']
    for (const [at, contentType] of types.entries()) {
      const { id } = await endpoint.capture({ body, headers: { 'Content-Type': contentType } })
      const received = (await receiver.take(at + 1))[at]
      expect([contentType, received?.body.toString()]).toEqual([contentType, redacted])
      const detail = await alice.get(endpoint.at(`/requests/${id}`))
      expect(detail.body).toMatchObject({ contentType, bodyKind: 'json', label: 'person.made' })
      const stored = { rule, endpointId: endpoint.id, requestId: id }
      expect((await alice.post('/api/v1/transformations/preview', stored)).body).toMatchObject({
        output: { body: redacted },
        rules: [{ steps: [{ changed: true, note: null }] }],
      })
    }
    const missed = {
      rule: documentOf([{ op: 'redact', paths: ['body.mail', 'body.email'] }]),
      sample: { body },
    }
    expect((await alice.post('/api/v1/transformations/preview', missed)).body).toMatchObject({
      rules: [{ steps: [{ changed: true, note: 'matched nothing: body.mail' }] }],
    })
    const none = {
      rule: documentOf([{ op: 'remove', paths: ['body.mail', 'headers.X-No'] }]),
      sample: { body },
    }
    expect((await alice.post('/api/v1/transformations/preview', none)).body).toMatchObject({
      rules: [{ note: null, steps: [{ changed: false, note: 'matched nothing' }] }],
    })
    const reading = {
      rule: {
        ...documentOf([
          { op: 'template', path: 'body.hello', template: '{{body.name}} <{{ body.emial }}>' },
          { op: 'compute', path: 'body.a', fn: 'concat', args: [{ fn: 'lower', args: ['headers.X-No'] }] },
        ]),
        when: {
          any: [
            { path: 'body.tpye', op: 'eq', value: 'x' },
            { path: 'method', op: 'exists' },
          ],
        },
      },
      sample: { body },
    }
    expect((await alice.post('/api/v1/transformations/preview', reading)).body).toMatchObject({
      rules: [
        {
          matched: true,
          note: 'matched nothing: body.tpye',
          steps: [
            { note: expect.stringMatching(/^matched nothing: .*body\.emial$/) },
            { note: 'matched nothing: headers.X-No' },
          ],
        },
      ],
    })
    expect(actionId).toBeString()
  })
})

describe('what a destination receives', () => {
  test('the result of the rules, signed as sent, and the attempt says so', async () => {
    const alice = await service.newClient()
    await using receiver = await startReceiver()
    const endpoint = await alice.endpoint()
    await addForward(endpoint, { url: receiver.url, signingSecret: 'a secret of sixteen or more' })
    await addRule(
      endpoint,
      documentOf([
        { op: 'remove', paths: ['body.secret', 'headers.X-Token'] },
        set('headers.User-Agent', 'rule/1'),
        set('headers.X-Forwarded-For', 'written'),
      ]),
    )
    const { id } = await endpoint.capture({
      body: '{"id": 9007199254740993, "secret": "x"}',
      headers: { 'X-Token': 't', 'X-Forwarded-Host': 'captured' },
    })
    const [received] = await receiver.take(1)
    const body = '{"id":9007199254740993}'
    expect(received?.body.toString()).toBe(body)
    expect(received?.header('x-token')).toBeUndefined()
    expect(received?.header('x-forwarded-host')).toBeUndefined()
    expect(received?.header('x-forwarded-for')).toBe('written')
    expect(received?.rawHeaders.filter(([name]) => name.toLowerCase() === 'user-agent')).toEqual([
      ['User-Agent', 'rule/1'],
    ])
    expect(received?.header('content-length')).toBe(String(body.length))
    const [, time, signature] =
      /^t=(\d+),v1=([0-9a-f]+)$/.exec(received?.header('creel-signature') ?? '') ?? []
    expect(signature).toBe(
      createHmac('sha256', 'a secret of sixteen or more').update(`${time}.${body}`).digest('hex'),
    )

    expect((await alice.get(endpoint.at('/requests/await?state=Succeeded&timeoutSeconds=30'))).status).toBe(
      200,
    )
    const page = await alice.expect(
      alice.get(endpoint.at(`/deliveries?requestId=${id}`)),
      z.looseObject({ items: z.tuple([Attempt]) }),
    )
    expect(page.items[0]).toMatchObject({ state: 'Succeeded', transformed: true, transformationVersion: 1 })
    const detail = await alice.expect(alice.get(endpoint.at(`/deliveries/${page.items[0].id}`)), Detail)
    expect(detail).toMatchObject({ transformNote: null, sent: { body } })
  })

  test('the captured bytes, when no rule matched or touched the body', async () => {
    const alice = await service.newClient()
    await using receiver = await startReceiver()
    const endpoint = await alice.endpoint()
    const body = '{ "a" : 1.0 }'
    const [id = 0] = await captureAll(endpoint, [body])
    await addForward(endpoint, { url: receiver.url })
    await addRule(endpoint, documentOf([set('body.b', 1)], { when: { path: 'body.a', op: 'eq', value: 2 } }))
    expect(await replay(endpoint, id)).toMatchObject({
      state: 'Succeeded',
      transformed: false,
      transformationVersion: 1,
      transformNote: null,
    })
    await addRule(endpoint, documentOf([set('headers.X-Only', 'header')], { name: 'Header' }))
    expect(await replay(endpoint, id)).toMatchObject({
      state: 'Succeeded',
      transformed: true,
      transformationVersion: null,
      transformNote: "'Slim' v1 did not match; 'Header' v1 applied",
    })
    expect(receiver.received.map((one) => one.body.toString())).toEqual([body, body])
    expect(receiver.received[1]?.header('x-only')).toBe('header')
  })

  test('rules run in their order; one that is off is skipped, and every attempt says so', async () => {
    const alice = await service.newClient()
    await using receiver = await startReceiver()
    const endpoint = await alice.endpoint()
    const [id = 0] = await captureAll(endpoint, ['{}'])
    await addForward(endpoint, { url: receiver.url })
    const first = await addRule(endpoint, documentOf([set('body.by', 'first')], { name: 'First' }))
    const second = await addRule(endpoint, documentOf([set('body.by', 'second')], { name: 'Second' }))
    const send = async () => {
      const detail = await replay(endpoint, id)
      return [detail.sent?.body, detail.transformationVersion, detail.transformNote]
    }
    expect(await send()).toEqual(['{"by":"second"}', null, "'First' v1 applied; 'Second' v1 applied"])
    await alice.put(endpoint.at('/transformations/order'), { order: [second.id, first.id] })
    expect(await send()).toEqual(['{"by":"first"}', null, "'Second' v1 applied; 'First' v1 applied"])
    await alice.put(endpoint.at(`/transformations/${first.id}`), { enabled: false })
    expect(await send()).toEqual([
      '{"by":"second"}',
      1,
      "'Second' v1 applied; 'First' v1 skipped: switched off",
    ])
    await alice.put(endpoint.at(`/transformations/${second.id}`), { enabled: false })
    expect(await send()).toEqual([
      '{}',
      null,
      "'Second' v1 skipped: switched off; 'First' v1 skipped: switched off",
    ])
  })

  test('rules of another destination do not count', async () => {
    const alice = await service.newClient()
    await using receiver = await startReceiver()
    const endpoint = await alice.endpoint()
    await addForward(endpoint, { url: receiver.url })
    const other = await addForward(endpoint, { url: receiver.url, name: 'other' })
    await alice.post(endpoint.at(`/transformations?actionId=${other}`), documentOf([set('body.other', true)]))
    await endpoint.capture({ body: '{"a": 1}' })
    const bodies = (await receiver.take(2)).map((one) => one.body.toString())
    expect(bodies.sort()).toEqual(['{"a": 1}', '{"a":1,"other":true}'])
  })

  test('rules stored before a downgrade go on running', async () => {
    const alice = await service.newClient()
    await using receiver = await startReceiver()
    const endpoint = await alice.endpoint()
    const [id = 0] = await captureAll(endpoint, ['{"card":"4242"}'])
    await addForward(endpoint, { url: receiver.url })
    await addRule(endpoint, documentOf([{ op: 'redact', paths: ['body.card'] }]))
    await service.operator.workspaces.setPlan({ workspace: alice.workspaceId, plan: 'solo' })
    expect(problemOf(await alice.post(endpoint.at('/transformations'), NUMBER))).toEqual([
      'feature_not_in_plan',
    ])
    expect((await replay(endpoint, id)).sent?.body).toBe('{"card":"***"}')
  })
})

describe('faults', () => {
  test('nothing is sent, the attempt is Errored and tried again on schedule', async () => {
    const alice = await service.newClient()
    await using receiver = await startReceiver()
    const endpoint = await alice.endpoint()
    await addForward(endpoint, { url: receiver.url })
    await addRule(endpoint, NUMBER)
    const { id } = await endpoint.capture({ body: '{"n":"x"}' })
    expect((await alice.get(endpoint.at('/requests/await?state=Errored&timeoutSeconds=30'))).status).toBe(200)
    const page = await alice.expect(
      alice.get(endpoint.at(`/deliveries?requestId=${id}`)),
      z.looseObject({ items: z.array(Attempt) }),
    )
    expect(page.items.at(-1)).toMatchObject({
      state: 'Errored',
      error: "rule_fault: rule 'Count' v1 faulted: bad_number",
      nextAttemptAt: expect.any(String),
      transformed: true,
      transformationVersion: 1,
    })
    expect(receiver.received).toEqual([])
  })

  test('five requests in a row switch the rule off, whichever process counts; the reason, the event and every attempt say so', async () => {
    const alice = await service.newClient()
    await using receiver = await startReceiver()
    const endpoint = await alice.endpoint({ name: 'counted' })
    const ids = await captureAll(endpoint, [
      '{"n":"a"}',
      '{"n":"b"}',
      '{"n":1}',
      '{"n":"c"}',
      '{"n":"d"}',
      '{"n":"e"}',
      '{"n":"f"}',
      '{"n":"g","card":"4242"}',
    ])
    const [a = 0, b = 0, fine = 0, c = 0, d = 0, e = 0, f = 0, g = 0] = ids
    await addForward(endpoint, { url: receiver.url })
    const { id } = await addRule(endpoint, NUMBER)
    const rule = async () => (await rulesOf(endpoint)).rules.find((each) => each.id === id)

    // The same request counts once; a run without a fault resets the count.
    for (const request of [a, b, a, a, a]) expect((await replay(endpoint, request)).state).toBe('Errored')
    expect((await replay(endpoint, fine)).state).toBe('Succeeded')
    for (const request of [a, b, c]) await replay(endpoint, request)
    expect(await rule()).toMatchObject({ enabled: true })

    const second = await startService({
      database: service.database,
      clock: service.clock,
      secretKey: service.secretKey,
    })
    const other = {
      call: (path: string) =>
        fetch(second.baseUrl + path, { method: 'POST', headers: { Authorization: `Bearer ${alice.key}` } }),
    }
    expect((await other.call(endpoint.at(`/requests/${d}/replay`))).status).toBe(200)
    expect(await rule()).toMatchObject({ enabled: true, disabledReason: null })
    await Promise.all([other.call(endpoint.at(`/requests/${e}/replay`)), replay(endpoint, f)])
    await second.stop()

    expect(await rule()).toMatchObject({
      enabled: false,
      version: 1,
      disabledReason: expect.stringContaining('5 requests in a row'),
    })
    expect((await rule())?.disabledReason).toContain('redact')
    // The rule removes data, so nothing is sent without it.
    expect(await replay(endpoint, g)).toMatchObject({
      state: 'Errored',
      error: "rule_disabled: rule 'Count' v1",
      transformed: false,
      transformationVersion: null,
      transformNote: "'Count' v1 switched off by the service: deliveries are held",
      sent: null,
    })

    const alerts = await service.db
      .selectFrom('alerts')
      .selectAll()
      .where('workspaceId', '=', alice.workspaceId)
      .where('eventKind', '=', 'transformation.disabled')
      .execute()
    expect(alerts).toMatchObject([
      {
        subjectId: id,
        subjectName: 'Count',
        endpointName: 'counted',
        status: 'single',
        reason: expect.stringContaining('redact'),
      },
    ])

    // A user switches it: off keeps the reason and sends deliveries without the rule, on clears the reason and the
    // count.
    const path = endpoint.at(`/transformations/${id}`)
    expect((await alice.put(path, { enabled: false })).body).toMatchObject({
      disabledReason: expect.any(String),
      holdsDeliveries: false,
    })
    expect(await replay(endpoint, g)).toMatchObject({
      state: 'Succeeded',
      transformNote: "'Count' v1 skipped: switched off by the service",
      sent: { body: '{"n":"g","card":"4242"}' },
    })
    expect((await alice.put(path, { rule: { ...NUMBER, name: 'Count better' } })).body).toMatchObject({
      enabled: false,
      version: 2,
    })
    expect((await alice.put(path, { enabled: true })).body).toMatchObject({
      enabled: true,
      disabledReason: null,
    })
    for (const request of [a, b, c, d]) await replay(endpoint, request)
    expect(await rule()).toMatchObject({ enabled: true })
    await replay(endpoint, e)
    expect(await rule()).toMatchObject({ enabled: false })
  })

  test('what a switched-off redaction holds is retried on schedule, and at once when the rule is edited', async () => {
    const alice = await service.newClient()
    await using receiver = await startReceiver()
    const endpoint = await alice.endpoint()
    const ids = await captureAll(
      endpoint,
      Array.from({ length: 5 }, (_, at) => `{"n":"x${at}"}`),
    )
    await addForward(endpoint, { url: receiver.url })
    const { id } = await addRule(endpoint, NUMBER)
    for (const request of ids) await replay(endpoint, request)
    expect((await rulesOf(endpoint)).rules[0]).toMatchObject({ enabled: false, holdsDeliveries: true })

    const held = await endpoint.capture({ body: '{"n":1,"card":"4242"}' })
    const attempts = async (count: number) => {
      await attemptsEnded(service, endpoint, ids.length + count)
      const answer = await alice.get(endpoint.at(`/deliveries?requestId=${held.id}`))
      return z
        .looseObject({ items: z.array(Attempt) })
        .parse(answer.body)
        .items.map(({ error }) => error)
    }
    const disabled = "rule_disabled: rule 'Count' v1"
    expect(await attempts(1)).toEqual([disabled])
    await service.clock.advance(7000)
    expect(await attempts(2)).toEqual([disabled, disabled])
    const path = endpoint.at(`/transformations/${id}`)
    // Saving the same document changes nothing.
    expect((await alice.put(path, { rule: NUMBER })).body).toMatchObject({ holdsDeliveries: true })
    const edited = { rule: { ...NUMBER, name: 'Better' }, enabled: true }
    expect((await alice.put(path, edited)).body).toMatchObject({ enabled: true, holdsDeliveries: false })
    expect((await receiver.take(1))[0]?.body.toString()).toBe('{"n":2,"card":"***"}')
  })

  test('a rule that takes nothing out is switched off by any five faults, and skipped from then on', async () => {
    const alice = await service.newClient()
    await using receiver = await startReceiver()
    const endpoint = await alice.endpoint()
    const ids = await captureAll(
      endpoint,
      Array.from({ length: 5 }, (_, index) => `not json ${index}`),
    )
    await addForward(endpoint, { url: receiver.url })
    await addRule(endpoint, documentOf([set('body.by', 'creel')]))
    for (const id of ids) await replay(endpoint, id)
    expect((await rulesOf(endpoint)).rules[0]).toMatchObject({
      enabled: false,
      holdsDeliveries: false,
      disabledReason: expect.stringContaining('continue without it'),
    })
    expect(await replay(endpoint, ids[0] ?? 0)).toMatchObject({
      state: 'Succeeded',
      sent: { body: 'not json 0' },
    })
  })

  test('faults of an earlier version that are recorded late do not count for the present one', async () => {
    const alice = await service.newClient()
    const endpoint = await alice.endpoint()
    const actionId = await addForward(endpoint)
    const { id } = await addRule(endpoint, NUMBER)
    const [early] = (await loadRuleSets(service.db, [actionId])).get(actionId) ?? []
    if (early === undefined) throw new Error('no rule')
    await alice.put(endpoint.at(`/transformations/${id}`), { rule: { ...NUMBER, name: 'Better' } })
    const outcomes = Array.from({ length: 5 }, (_, index) => ({
      workspaceId: alice.workspaceId,
      endpoint: { id: endpoint.id, name: 'late' },
      requestId: index + 1,
      ends: [{ rule: early, fault: { code: 'type' as const, counted: true } }],
    }))
    const services = {
      clock: service.clock,
      actor: { kind: 'service', id: null, name: 'creel', address: null } as const,
      enqueue: async () => {},
    }
    await service.db.transaction().execute((trx) => recordRuleOutcomes(services, trx, outcomes))
    expect((await rulesOf(endpoint)).rules[0]).toMatchObject({ enabled: true, version: 2 })
  })

  test('a sender cannot switch a redaction off with bodies that it cannot hold', async () => {
    const alice = await service.newClient()
    await using receiver = await startReceiver()
    const endpoint = await alice.endpoint()
    const ids = await captureAll(
      endpoint,
      Array.from({ length: 6 }, (_, index) => `not json ${index}`),
    )
    await addForward(endpoint, { url: receiver.url })
    await addRule(endpoint, documentOf([{ op: 'redact', paths: ['body.card'] }]))
    for (const id of ids)
      expect(await replay(endpoint, id)).toMatchObject({
        state: 'Errored',
        error: "rule_fault: rule 'Slim' v1 faulted: not_structured",
        sent: null,
      })
    expect((await rulesOf(endpoint)).rules[0]).toMatchObject({ enabled: true })
    expect(receiver.received).toEqual([])
  })
})
