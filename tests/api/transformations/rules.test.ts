import { beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { startService, type TestService } from '../../support/service.ts'
import { addForward, addRule, documentOf, problemOf, REMOVE, Rule, RuleSet, rulesOf } from './support.ts'

let service: TestService
beforeAll(async () => {
  service = await startService({ limits: { rulesMax: 3 } })
})

async function endpointWithDestination() {
  const endpoint = await service.alice.endpoint()
  return { endpoint, actionId: await addForward(endpoint) }
}

describe('the set of an endpoint', () => {
  test('without a forward action it is empty, and takes no rule', async () => {
    const endpoint = await service.alice.endpoint()
    expect(await rulesOf(endpoint)).toEqual({
      endpointId: endpoint.id,
      destinationId: null,
      destinationUrl: null,
      rules: [],
      maxRules: 3,
      featureInPlan: true,
      schemaUrl: `${service.baseUrl}/api/v1/transformations/schema`,
    })
    for (const [method, path, body] of [
      ['POST', '/transformations', REMOVE],
      ['POST', '/transformation', REMOVE],
      ['PUT', '/transformation', { enabled: true }],
      ['DELETE', '/transformation', undefined],
      ['PUT', '/transformations/order', { order: [] }],
      ['POST', '/transformations/preview-set', { sample: {} }],
    ] as const) {
      const answer = await service.alice.call(method, endpoint.at(path), body)
      expect([path, answer.status, ...problemOf(answer)]).toEqual([path, 409, 'no_destination'])
    }
  })

  test('what is wrong with a write to its first rule comes before the missing destination', async () => {
    const endpoint = await service.alice.endpoint()
    const put = (body: object) => service.alice.put(endpoint.at('/transformation'), body)
    expect(problemOf(await put({}))).toEqual(['validation_failed', '# required'])
    expect((await service.alice.get(endpoint.at('/transformation'))).status).toBe(404)
    await addForward(endpoint)
    expect((await put({ enabled: true })).status).toBe(404)
    expect((await service.alice.delete(endpoint.at('/transformation'))).status).toBe(404)
  })

  test('a new rule is version 1, enabled, and last', async () => {
    const { endpoint, actionId } = await endpointWithDestination()
    const first = await addRule(endpoint)
    expect(first).toMatchObject({
      position: 1,
      name: 'Slim',
      enabled: true,
      disabledReason: null,
      condition: 'Always',
      rule: REMOVE,
      version: 1,
    })
    const when = { all: [{ path: 'body.type', op: 'startsWith', value: 'invoice.' }] }
    const second = await addRule(endpoint, { ...REMOVE, name: 'Second', when })
    expect(second).toMatchObject({ position: 2, condition: 'body.type starts with "invoice."' })
    expect(await rulesOf(endpoint)).toMatchObject({
      destinationId: actionId,
      destinationUrl: 'http://127.0.0.1:9/hooks',
      rules: [{ id: first.id }, { id: second.id }],
    })
    const actions = await service.alice.get(endpoint.at('/actions'))
    expect(actions.body).toMatchObject({ actions: [{ ruleCount: 2 }] })
  })

  test('one more than maxRules is refused, after the document was looked at', async () => {
    const { endpoint } = await endpointWithDestination()
    for (let count = 0; count < 3; count += 1) await addRule(endpoint)
    const refused = await service.alice.post(endpoint.at('/transformations'), REMOVE)
    expect([refused.status, ...problemOf(refused)]).toEqual([409, 'limit_reached'])
    expect(
      (await service.alice.post(endpoint.at('/transformations'), { ...REMOVE, version: 2 })).status,
    ).toBe(400)
  })

  test('adding at once never goes over the limit, and leaves positions whole', async () => {
    const { endpoint } = await endpointWithDestination()
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => service.alice.post(endpoint.at('/transformations'), REMOVE)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 409, 409, 409])
    expect((await rulesOf(endpoint)).rules.map(({ position }) => position)).toEqual([1, 2, 3])
  })

  test('another destination has its own set; the default moves with positions', async () => {
    const { endpoint, actionId } = await endpointWithDestination()
    const other = await addForward(endpoint, { name: 'other' })
    await addRule(endpoint)
    const made = await service.alice.post(endpoint.at(`/transformations?actionId=${other}`), {
      ...REMOVE,
      name: 'Other',
    })
    const rule = Rule.parse(made.body)
    expect((await rulesOf(endpoint, `?actionId=${other}`)).rules.map(({ name }) => name)).toEqual(['Other'])
    expect((await rulesOf(endpoint)).destinationId).toBe(actionId)
    await service.alice.put(endpoint.at(`/actions/${other}`), { position: 1 })
    expect((await rulesOf(endpoint)).destinationId).toBe(other)

    const byRule = endpoint.at(`/transformations/${rule.id}`)
    expect((await service.alice.get(byRule)).status).toBe(200)
    expect((await service.alice.get(`${byRule}?actionId=${other}`)).status).toBe(200)
    expect((await service.alice.get(`${byRule}?actionId=${actionId}`)).status).toBe(404)
  })

  test('an actionId that is malformed is 400, unknown or of a notify action 404', async () => {
    const { endpoint } = await endpointWithDestination()
    const get = async (actionId: string) =>
      await service.alice.get(endpoint.at(`/transformations?actionId=${actionId}`))
    expect(problemOf(await get('nonsense'))).toEqual(['validation_failed', '?actionId bad_format'])
    expect((await get('0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33')).status).toBe(404)
    const channel = await service.alice.expect(
      service.alice.post('/api/v1/alert-channels', {
        kind: 'webhook',
        name: 'x',
        settings: { url: 'http://127.0.0.1:9/' },
        events: [],
      }),
      z.looseObject({ id: z.string() }),
    )
    const notify = await service.alice.expect(
      service.alice.post(endpoint.at('/actions'), {
        kind: 'notify',
        alertChannelId: channel.id,
        messageTemplate: 'x',
      }),
      z.looseObject({ id: z.string() }),
    )
    expect((await get(notify.id)).status).toBe(404)
  })

  test('order takes every rule exactly once', async () => {
    const { endpoint } = await endpointWithDestination()
    const [a, b, c] = [await addRule(endpoint), await addRule(endpoint), await addRule(endpoint)]
    const put = (order: unknown) => service.alice.put(endpoint.at('/transformations/order'), { order })
    const answer = await put([c.id, a.id, b.id.toUpperCase()])
    expect(answer.status).toBe(200)
    expect(RuleSet.parse(answer.body).rules.map(({ id, position }) => [id, position])).toEqual([
      [c.id, 1],
      [a.id, 2],
      [b.id, 3],
    ])
    expect(problemOf(await put([a.id, b.id]))).toEqual(['validation_failed', '#/order required'])
    expect(problemOf(await put([a.id, b.id, c.id, a.id]))).toEqual([
      'validation_failed',
      '#/order/3 duplicate',
    ])
    expect(problemOf(await put([a.id, 'x', b.id, c.id]))).toEqual([
      'validation_failed',
      '#/order/1 unknown_value',
    ])
    expect(problemOf(await put([a.id, 5, b.id]))).toEqual(['validation_failed', '#/order/1 type'])
    expect(problemOf(await put(undefined))).toEqual(['validation_failed', '#/order required'])
    expect((await rulesOf(endpoint)).rules[0]?.id).toBe(c.id)
  })

  test('a deleted rule is gone with its versions, the others close up', async () => {
    const { endpoint } = await endpointWithDestination()
    const [a, b, c] = [await addRule(endpoint), await addRule(endpoint), await addRule(endpoint)]
    const path = endpoint.at(`/transformations/${b.id}`)
    expect((await service.alice.delete(path)).status).toBe(204)
    expect((await service.alice.delete(path)).status).toBe(404)
    expect((await service.alice.get(`${path}/versions`)).status).toBe(404)
    expect((await rulesOf(endpoint)).rules.map(({ id, position }) => [id, position])).toEqual([
      [a.id, 1],
      [c.id, 2],
    ])
  })

  test('deleting the action deletes its rules', async () => {
    const { endpoint, actionId } = await endpointWithDestination()
    const rule = await addRule(endpoint)
    expect((await service.alice.delete(endpoint.at(`/actions/${actionId}`))).status).toBe(204)
    expect((await service.alice.get(endpoint.at(`/transformations/${rule.id}`))).status).toBe(404)
    expect((await rulesOf(endpoint)).rules).toEqual([])
  })
})

describe('changing a rule', () => {
  test('a changed document is the next version, an identical one is none', async () => {
    const { endpoint } = await endpointWithDestination()
    const { id } = await addRule(endpoint)
    const path = endpoint.at(`/transformations/${id}`)
    const put = async (body: unknown) => Rule.parse((await service.alice.put(path, body)).body)
    const changed = documentOf([{ op: 'set', path: 'body.n', value: 1 }], { name: 'Renamed' })
    expect(await put({ rule: changed })).toMatchObject({ version: 2, name: 'Renamed', rule: changed })
    expect(await put({ rule: { steps: changed.steps, name: changed.name, version: 1 } })).toMatchObject({
      version: 2,
    })
    expect(await put({ rule: REMOVE, enabled: false })).toMatchObject({
      version: 3,
      enabled: false,
      disabledReason: null,
    })
    expect(await put({ rule: changed })).toMatchObject({ version: 4, enabled: false })
    expect(await put({ enabled: true })).toMatchObject({ version: 4, enabled: true })
    const seen = Rule.parse((await service.alice.get(path)).body)
    expect(await put(seen)).toEqual(seen)

    const { items } = z
      .object({
        items: z.array(
          z.looseObject({ version: z.int(), rule: z.unknown(), restoredFrom: z.int().nullable() }),
        ),
      })
      .parse((await service.alice.get(`${path}/versions`)).body)
    expect(items.map(({ version }) => version)).toEqual([4, 3, 2, 1])
    expect(items.at(-1)).toMatchObject({ rule: REMOVE, restoredFrom: null })
  })

  test('key order and the spelling of numbers are kept', async () => {
    const { endpoint } = await endpointWithDestination()
    const text =
      '{"steps":[{"op":"set","value":{"big":9007199254740993,"one":1.0},"path":"body.a"}],"version":1,"name":"exact"}'
    const made = await service.alice.post(endpoint.at('/transformations'), undefined, {
      rawBody: text,
      headers: { 'Content-Type': 'application/json' },
    })
    expect(made.status).toBe(201)
    expect(made.text).toContain(`"rule":${text}`)
    const { id } = Rule.parse(made.body)
    const path = endpoint.at(`/transformations/${id}`)
    const put = (value: string) =>
      service.alice.put(path, undefined, {
        rawBody: `{"rule":${text.replace('1.0', value)}}`,
        headers: { 'Content-Type': 'application/json' },
      })
    expect((await put('1')).body).toMatchObject({ version: 1 })
    expect((await put('1.50')).text).toContain('"one":1.50')
  })

  test('restore makes a new version out of an old one', async () => {
    const { endpoint } = await endpointWithDestination()
    const { id } = await addRule(endpoint)
    const path = endpoint.at(`/transformations/${id}`)
    await service.alice.put(path, {
      rule: documentOf([{ op: 'set', path: 'body.n', value: 1 }]),
      enabled: false,
    })
    const restored = await service.alice.post(`${path}/versions/1/restore`)
    expect([restored.status, restored.body]).toEqual([
      200,
      expect.objectContaining({ version: 3, rule: REMOVE, enabled: false }),
    ])
    // It also works for the current document.
    expect((await service.alice.post(`${path}/versions/1/restore`)).body).toMatchObject({ version: 4 })
    expect((await service.alice.get(`${path}/versions`)).body).toMatchObject({
      items: [
        { version: 4, restoredFrom: 1 },
        { version: 3, restoredFrom: 1 },
        { version: 2, restoredFrom: null },
        { version: 1 },
      ],
    })
    for (const n of ['5', '0', '-1', 'x', '99999999999']) {
      expect((await service.alice.post(`${path}/versions/${n}/restore`)).status).toBe(404)
    }
  })

  test('history is never rewritten, however many write at once', async () => {
    const { endpoint } = await endpointWithDestination()
    const { id } = await addRule(endpoint)
    const path = endpoint.at(`/transformations/${id}`)
    const values = Array.from({ length: 12 }, (_, index) => index)
    const answers = await Promise.all(
      values.map((value) =>
        service.alice.put(path, { rule: documentOf([{ op: 'set', path: 'body.n', value }]) }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual(values.map(() => 200))
    const page = z.object({
      items: z.array(
        z.looseObject({
          version: z.int(),
          rule: z.looseObject({ steps: z.array(z.looseObject({ value: z.int().optional() })) }),
        }),
      ),
    })
    const { items } = page.parse((await service.alice.get(`${path}/versions`)).body)
    expect(items.map(({ version }) => version)).toEqual(Array.from({ length: 13 }, (_, index) => 13 - index))
    expect(
      items
        .slice(0, 12)
        .map(({ rule }) => rule.steps[0]?.value)
        .sort((a = 0, b = 0) => a - b),
    ).toEqual(values)
    expect((await service.alice.get(path)).body).toMatchObject({ version: 13, rule: items[0]?.rule })
  })

  test('all versions of a rule have room for 4 MiB, since one answer lists them', async () => {
    const { endpoint } = await endpointWithDestination()
    const steps = Array.from({ length: 8 }, (_, n) => ({
      op: 'template',
      path: `body.n${n}`,
      template: 't'.repeat(4000),
    }))
    const { id } = await addRule(endpoint, documentOf(steps))
    const path = endpoint.at(`/transformations/${id}`)
    const statuses: number[] = []
    while (statuses.at(-1) !== 409 && statuses.length < 150)
      statuses.push((await service.alice.post(`${path}/versions/1/restore`)).status)
    expect([statuses.at(-1), statuses.length]).toEqual([409, 129])
    const refused = await service.alice.put(path, { rule: documentOf(steps.slice(1)) })
    expect([refused.status, ...problemOf(refused)]).toEqual([409, 'limit_reached'])
    // A change that adds no version still works.
    expect((await service.alice.put(path, { enabled: false })).status).toBe(200)
    const listed = await service.alice.get(`${path}/versions`)
    expect(listed.text.length).toBeLessThan(4.5 * 1024 * 1024)
    expect((await service.alice.delete(path)).status).toBe(204)
  })

  test('neither member is 400; one of the wrong type is not called missing', async () => {
    const { endpoint } = await endpointWithDestination()
    const { id } = await addRule(endpoint)
    const put = (body: unknown) => service.alice.put(endpoint.at(`/transformations/${id}`), body)
    for (const body of [{}, { rule: null, enabled: null }]) {
      expect(problemOf(await put(body))).toEqual(['validation_failed', '# required'])
    }
    expect(problemOf(await put({ enabled: 'x' }))).toEqual(['validation_failed', '#/enabled type'])
  })
})

describe('the singular routes', () => {
  test('address the first rule of the set', async () => {
    const { endpoint } = await endpointWithDestination()
    const path = endpoint.at('/transformation')
    for (const method of ['GET', 'DELETE'] as const)
      expect((await service.alice.call(method, path)).status).toBe(404)
    expect((await service.alice.put(path, { enabled: false })).status).toBe(404)
    const made = await service.alice.post(path, REMOVE)
    expect(made.status).toBe(201)
    const { id } = z.looseObject({ id: z.string() }).parse(made.body)
    await addRule(endpoint)
    expect((await service.alice.get(path)).body).toMatchObject({ id, ruleId: id, ruleCount: 2, position: 1 })
    expect((await service.alice.put(path, { enabled: false })).body).toMatchObject({
      ruleId: id,
      enabled: false,
      ruleCount: 2,
    })
    expect((await service.alice.delete(path)).status).toBe(204)
    expect((await service.alice.get(path)).body).toMatchObject({ ruleCount: 1, position: 1 })
  })
})

describe('bad documents', () => {
  test('each wrong part is one item, with a pointer from the root of the body, in document order', async () => {
    const { endpoint } = await endpointWithDestination()
    const document = {
      version: 1,
      name: '',
      steps: [
        { op: 'map' },
        { op: 'compute', path: 'headers.X', fn: 'evil', args: ['bdy.id', { literal: 1 }] },
        { op: 'compute', path: 'headers.X', fn: 'lower', args: [] },
        { op: 'remove', paths: ['headers.Host'], extra: true },
        { op: 'set', path: 'headers.X', value: 1 },
      ],
      when: { any: [] },
      more: 1,
    }
    const expected = [
      '/name too_short',
      '/steps/0/op unknown_op',
      '/steps/1/fn unknown_function',
      '/steps/1/args/0 bad_path',
      '/steps/2/args arity',
      '/steps/3/paths/0 not_allowed',
      '/steps/3/extra unknown_field',
      '/steps/4/value type',
      '/when/any too_short',
      '/more unknown_field',
    ]
    const created = await service.alice.post(endpoint.at('/transformations'), document)
    expect([created.status, ...problemOf(created)]).toEqual([
      400,
      'validation_failed',
      ...expected.map((item) => `#${item}`),
    ])

    const { id } = await addRule(endpoint)
    const put = await service.alice.put(endpoint.at(`/transformations/${id}`), {
      rule: document,
      enabled: 'yes',
    })
    expect(problemOf(put)).toEqual([
      'validation_failed',
      ...expected.map((item) => `#/rule${item}`),
      '#/enabled type',
    ])
    expect((await service.alice.get(endpoint.at(`/transformations/${id}`))).body).toMatchObject({
      version: 1,
    })

    const preview = await service.alice.post('/api/v1/transformations/preview', {
      rule: document,
      sample: {},
    })
    expect(problemOf(preview)).toEqual(['validation_failed', ...expected.map((item) => `#/rule${item}`)])
    const set = await service.alice.post(endpoint.at('/transformations/preview-set'), {
      rules: [REMOVE, document],
      sample: {},
    })
    expect(problemOf(set)).toEqual(['validation_failed', ...expected.map((item) => `#/rules/1${item}`)])
    expect((await rulesOf(endpoint)).rules).toHaveLength(1)
  })

  test('NUL in the name is one item', async () => {
    const { endpoint } = await endpointWithDestination()
    const answer = await service.alice.post(endpoint.at('/transformations'), { ...REMOVE, name: 'a\u0000b' })
    expect([answer.status, ...problemOf(answer)]).toEqual([400, 'validation_failed', '#/name not_allowed'])
  })

  test('a body that is no object, or missing', async () => {
    const { endpoint } = await endpointWithDestination()
    const post = (rawBody: string) =>
      service.alice.post(endpoint.at('/transformations'), undefined, {
        rawBody,
        headers: { 'Content-Type': 'application/json' },
      })
    expect(problemOf(await post('[]'))).toEqual(['request_invalid'])
    expect(problemOf(await post('{'))).toEqual(['request_invalid'])
    expect(problemOf(await post('{}'))).toEqual([
      'validation_failed',
      '#/version required',
      '#/name required',
      '#/steps required',
    ])
    expect(problemOf(await service.alice.post(endpoint.at('/transformations')))).toEqual([
      'validation_failed',
      '# required',
    ])
  })
})

describe('plans', () => {
  test('without transformations: reading, deleting, ordering and switching still work, writing does not', async () => {
    const client = await service.newClient('pro')
    const endpoint = await client.endpoint()
    await addForward(endpoint)
    const rule = await addRule(endpoint)
    const path = endpoint.at(`/transformations/${rule.id}`)
    // The limits of this service override every plan, so the plan without rules needs its own service.
    const poor = await startService({
      database: service.database,
      clock: service.clock,
      secretKey: service.secretKey,
      limits: { rulesMax: 0 },
    })
    const call = (method: string, at: string, body?: unknown) =>
      fetch(poor.baseUrl + at, {
        method,
        headers: {
          Authorization: `Bearer ${client.key}`,
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    const refusals = [
      ['POST', endpoint.at('/transformations'), { bad: true }],
      ['POST', endpoint.at('/transformation'), REMOVE],
      ['PUT', path, { rule: { bad: true } }],
      ['POST', `${path}/versions/1/restore`],
    ] as const
    for (const [method, at, body] of refusals) {
      const answer = await call(method, at, body)
      expect([
        at,
        answer.status,
        z.looseObject({ code: z.string() }).parse(await answer.json()).code,
      ]).toEqual([at, 403, 'feature_not_in_plan'])
    }
    expect((await call('GET', endpoint.at('/transformations'))).status).toBe(200)
    expect((await call('GET', '/api/v1/transformations/schema')).status).toBe(200)
    const preview = { rule: REMOVE, sample: { body: { a: 1 } } }
    expect((await call('POST', '/api/v1/transformations/preview', preview)).status).toBe(200)
    const previewSet = endpoint.at('/transformations/preview-set')
    expect((await call('POST', previewSet, { sample: { body: { a: 1 } } })).status).toBe(200)
    expect((await call('PUT', path, { enabled: false })).status).toBe(200)
    expect((await call('PUT', endpoint.at('/transformations/order'), { order: [rule.id] })).status).toBe(200)
    expect((await call('DELETE', path)).status).toBe(204)
    await poor.stop()
  })
})

describe('GET /api/v1/transformations/schema', () => {
  test('is JSON Schema 2020-12, under its own media type', async () => {
    const answer = await service.alice.get('/api/v1/transformations/schema')
    expect(answer.headers.get('content-type')).toBe('application/schema+json')
    expect(answer.body).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
    })
  })
})
