import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { addForward, addRule, documentOf, problemOf, rulesOf } from '../api/transformations/support.ts'
import type { TestEndpoint } from '../support/client.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'

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

const set = (path: string, value: unknown) => ({ op: 'set', path, value })
/** Faults on a body whose `n` is no number. */
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

describe('what a destination receives', () => {
  test('the result of the rules, signed as sent, and the attempt says so', async () => {
    const { alice } = await startService()
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
    const { alice } = await startService()
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
    const { alice } = await startService()
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
    const { alice } = await startService()
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
    const rich = await startService()
    await using receiver = await startReceiver()
    const endpoint = await rich.alice.endpoint()
    const [id = 0] = await captureAll(endpoint, ['{"card":"4242"}'])
    await addForward(endpoint, { url: receiver.url })
    await addRule(endpoint, documentOf([{ op: 'redact', paths: ['body.card'] }]))
    await rich.operator.workspaces.setPlan({ workspace: rich.alice.workspaceId, plan: 'solo' })
    expect(problemOf(await rich.alice.post(endpoint.at('/transformations'), NUMBER))).toEqual([
      'feature_not_in_plan',
    ])
    expect((await replay(endpoint, id)).sent?.body).toBe('{"card":"***"}')
  })
})

describe('faults', () => {
  test('nothing is sent, the attempt is Errored and tried again on schedule', async () => {
    const { alice } = await startService()
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
    const service = await startService()
    const { alice } = service
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

    // The same request again is no further one; a run without a fault starts the count anew.
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
    const leaked = await replay(endpoint, g)
    expect(leaked).toMatchObject({
      state: 'Succeeded',
      transformed: false,
      transformationVersion: null,
      transformNote: "'Count' v1 skipped: switched off by the service",
      sent: { body: '{"n":"g","card":"4242"}' },
    })

    const alerts = await service.db
      .selectFrom('alerts')
      .selectAll()
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

    // By hand: off keeps the reason, on clears it and the count.
    const path = endpoint.at(`/transformations/${id}`)
    expect((await alice.put(path, { enabled: false })).body).toMatchObject({
      disabledReason: expect.any(String),
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

  test('a sender cannot switch a redaction off with bodies that it cannot hold', async () => {
    const { alice } = await startService()
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
