import { beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import type { Answer } from '../../support/client.ts'
import { wrongParts } from '../../support/problems.ts'
import { startService, type TestService } from '../../support/service.ts'
import { addForward, addRule, documentOf, problemOf, REMOVE } from './support.ts'

let service: TestService
beforeAll(async () => {
  service = await startService({ parts: ['gateway'], limits: { rulesMax: 2 } })
})

const PREVIEW = '/api/v1/transformations/preview'
const FLOOD_MAX = 2000

const SLIM = documentOf(
  [
    { op: 'keep', paths: ['body.id', 'body.data.amount'] },
    {
      op: 'compute',
      path: 'body.cents',
      fn: 'round',
      args: [{ fn: 'multiply', args: ['body.data.amount', 100] }],
    },
    { op: 'redact', paths: ['headers.Authorization'] },
    {
      op: 'compute',
      path: 'headers.X-Sig',
      fn: 'hmacSha256',
      args: [{ raw: 'body' }, { secret: 'signing' }],
    },
  ],
  { when: { all: [{ path: 'body.type', op: 'startsWith', value: 'invoice.' }] } },
)

describe('POST /api/v1/transformations/preview', () => {
  test('tells every step and what would be sent', async () => {
    const answer = await service.alice.post(PREVIEW, {
      rule: SLIM,
      sample: {
        headers: { Authorization: 'Bearer x' },
        contentType: 'application/json',
        body: { id: 'evt_1', type: 'invoice.paid', data: { amount: 12.5, tax: 1 } },
      },
    })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      matched: true,
      faulted: false,
      note: expect.stringMatching(/^1 of 1 rules applied; the signing secret was replaced by a dummy/),
      rules: [
        {
          ruleId: null,
          name: 'Slim',
          version: null,
          matched: true,
          note: null,
          steps: [
            { index: 0, op: 'keep', changed: true, note: null },
            { index: 1, op: 'compute', changed: true, note: null },
            { index: 2, op: 'redact', changed: true, note: null },
            { index: 3, op: 'compute', changed: true, note: expect.any(String) },
          ],
          fault: null,
        },
      ],
      output: {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          Authorization: '***',
          'X-Sig': expect.stringMatching(/^[0-9a-f]{64}$/),
        },
        body: '{"id":"evt_1","data":{"amount":12.5},"cents":1250}',
        bodyIsBinary: false,
        decodedBody: null,
        contentType: 'application/json',
      },
    })
  })

  test('a fault is a 200 without output', async () => {
    const rule = documentOf([
      { op: 'remove', paths: ['body.a'] },
      { op: 'compute', path: 'body.n', fn: 'divide', args: [1, 'body.zero'] },
    ])
    const answer = await service.alice.post(PREVIEW, { rule, sample: { body: { zero: 0 } } })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      matched: true,
      faulted: true,
      note: "0 of 1 rules applied; rule 'Slim' faulted: divide_by_zero",
      rules: [
        {
          steps: [{ index: 0, changed: false }],
          fault: { stepIndex: 1, code: 'divide_by_zero', detail: expect.any(String) },
        },
      ],
      output: null,
    })
  })

  test('what does not match passes as it came; digits of a JSON sample are kept', async () => {
    const rawBody = `{"rule":${JSON.stringify(SLIM)},"sample":{"body":{"big":9007199254740993,"x":1.0,"nothing":null},"method":"PUT","query":{"a":["1","2"]}}}`
    const answer = await service.alice.post(PREVIEW, undefined, {
      rawBody,
      headers: { 'Content-Type': 'application/json' },
    })
    expect(answer.body).toMatchObject({
      matched: false,
      note: '0 of 1 rules applied',
      rules: [{ matched: false, steps: [] }],
      output: {
        method: 'PUT',
        headers: {},
        body: '{"big":9007199254740993,"x":1.0,"nothing":null}',
        contentType: null,
      },
    })
  })

  test('a sample has the label that its capture would have', async () => {
    const rule = {
      ...documentOf([{ op: 'set', path: 'headers.X', value: '1' }]),
      when: { path: 'label', op: 'eq', value: 'invoice.paid' },
    }
    const sample = { body: { type: 'invoice.paid' } }
    const run = async (more: object) =>
      Object((await service.alice.post(PREVIEW, { rule, sample, ...more })).body).matched
    expect(await run({})).toBe(true)
    const github = await service.alice.endpoint({ provider: 'github' })
    expect(await run({ endpointId: github.id })).toBe(false)
    const stripe = await service.alice.endpoint({ provider: 'stripe' })
    const set = await service.alice.post(stripe.at('/transformations/preview-set'), { rules: [rule], sample })
    expect(set).toMatchObject({ status: 200, body: { matched: true } })
  })

  test('a sample that is null counts as absent', async () => {
    const endpoint = await service.alice.endpoint()
    const { id: requestId } = await endpoint.capture({ body: '{"id":5}' })
    const rule = documentOf([{ op: 'set', path: 'headers.X', value: '1' }])
    const stored = { sample: null, requestId }
    for (const [path, input] of [
      [PREVIEW, { rule, endpointId: endpoint.id }],
      [endpoint.at('/transformations/preview-set'), { rules: [rule] }],
      [endpoint.at('/store-rules/preview'), {}],
    ] as const) {
      expect((await service.alice.post(path, { ...input, ...stored })).status).toBe(200)
      const neither = await service.alice.post(path, { ...input, sample: null, requestId: null })
      expect(wrongParts(neither)).toEqual(['#/sample required'])
    }
  })

  test('binary bodies, empty ones, null, and which content type wins', async () => {
    const rule = documentOf([
      { op: 'compute', path: 'headers.X', fn: 'concat', args: ['query.a', { literal: '|' }, 'contentType'] },
    ])
    const run = async (sample: object) => (await service.alice.post(PREVIEW, { rule, sample })).body
    expect(await run({ body: '/wA=', bodyIsBinary: true })).toMatchObject({
      output: { body: '/wA=', bodyIsBinary: true },
    })
    expect(await run({ method: 'PUT' })).toMatchObject({ output: { body: null, bodyIsBinary: false } })
    expect(await run({ body: null })).toMatchObject({ output: { body: 'null' } })
    expect(
      await run({
        headers: { 'content-type': 'text/plain' },
        contentType: 'application/json',
        query: { a: ['1', '2'] },
      }),
    ).toMatchObject({
      output: { headers: { X: '1|text/plain', 'content-type': 'text/plain' }, contentType: 'text/plain' },
    })
  })

  test('on a stored request', async () => {
    const endpoint = await service.alice.endpoint({ name: 'stored' })
    const { id } = await endpoint.capture({ body: '{"type":"invoice.paid","id":7}', suffix: '/eu?x=1' })
    const rule = documentOf([
      {
        op: 'template',
        path: 'headers.X-About',
        template: '{{endpoint.name}} {{request.id}} {{path}} {{query.x}} {{body.id}}',
      },
    ])
    const answer = await service.alice.post(PREVIEW, { rule, endpointId: endpoint.id, requestId: id })
    expect(answer.body).toMatchObject({ output: { headers: { 'X-About': `stored ${id} /eu 1 7` } } })
    expect(
      (await service.alice.post(PREVIEW, { rule, endpointId: endpoint.id, requestId: id + 1000 })).status,
    ).toBe(404)
    expect(
      (await service.charlie.post(PREVIEW, { rule, endpointId: endpoint.id, requestId: id })).status,
    ).toBe(404)
    expect(
      problemOf(await service.alice.post(PREVIEW, { rule, endpointId: 'nonsense', requestId: id })),
    ).toEqual(['validation_failed', '#/endpointId bad_format'])
  })

  test('shows of the captured headers those that a forward passes on, and every one that a rule wrote', async () => {
    const endpoint = await service.alice.endpoint({ name: 'headers' })
    const { id } = await endpoint.capture({
      headers: {
        'User-Agent': 'Stripe/1.0',
        Connection: 'X-Hop',
        'X-Hop': 'one connection',
        'X-Forwarded-Proto': 'http',
        'creel-hops': '1',
        'X-Kept': 'yes',
        Via: '1.1 proxy',
      },
    })
    const headersOf = async (rule: object) => {
      const answer = await service.alice.post(PREVIEW, { rule, endpointId: endpoint.id, requestId: id })
      return z.object({ output: z.object({ headers: z.record(z.string(), z.string()) }) }).parse(answer.body)
        .output.headers
    }
    const passedOn = {
      'Content-Type': 'application/json',
      'User-Agent': 'Stripe/1.0',
      'X-Kept': 'yes',
      Accept: '*/*',
    }
    expect(await headersOf(documentOf([{ op: 'remove', paths: ['headers.X-None'] }]))).toEqual(passedOn)
    const written = documentOf([{ op: 'set', path: 'headers.User-Agent', value: 'mine' }])
    expect(await headersOf(written)).toEqual({ ...passedOn, 'User-Agent': 'mine' })
  })

  test('what is wrong with the sample', async () => {
    const post = async (body: object) => problemOf(await service.alice.post(PREVIEW, body))
    expect(await post({ rule: REMOVE })).toEqual(['validation_failed', '#/sample required'])
    expect(await post({ rule: REMOVE, requestId: 5 })).toEqual(['validation_failed', '#/endpointId required'])
    expect(await post({ sample: {} })).toEqual(['validation_failed', '#/rule required'])
    expect(await post({ rule: REMOVE, sample: { headers: { 'X Y': 'a', X: 'a\nb', Y: 5 } } })).toEqual([
      'validation_failed',
      '#/sample/headers/Y type',
    ])
    expect(await post({ rule: REMOVE, sample: null })).toEqual(['validation_failed', '#/sample required'])
    expect(await post({ rule: REMOVE, sample: { path: null, query: { a: null } } })).toEqual([
      'validation_failed',
      '#/sample/path type',
      '#/sample/query/a type',
    ])
    expect(
      await post({
        rule: REMOVE,
        sample: { headers: { 'X Y': 'a', X: 'a\nb' }, body: '!', bodyIsBinary: true },
      }),
    ).toEqual([
      'validation_failed',
      '#/sample/headers/X%20Y bad_format',
      '#/sample/headers/X bad_format',
      '#/sample/body bad_format',
    ])
  })
})

describe('a sample with none of the members of a request', () => {
  test.each([
    ['an object', '{"id":9007199254740993,"a":1}', '{"id":9007199254740993}'],
    ['an empty object', '{}', '{}'],
    ['a list', '[{"a":1}]', '[{"a":1}]'],
    ['text', '"{\\"a\\":1}"', '{}'],
    ['a made-up request', '{"body":{"a":1},"id":5}', '{}'],
  ])('%s is the body itself', async (_, sample, body) => {
    const rawBody = `{"rule":${JSON.stringify(REMOVE)},"sample":${sample}}`
    const headers = { 'Content-Type': 'application/json' }
    const answer = await service.alice.post(PREVIEW, undefined, { rawBody, headers })
    expect(answer.body).toMatchObject({ faulted: false, output: { body } })
  })
})

describe('POST preview-set', () => {
  test('runs documents and saved rules together, without a destination', async () => {
    const endpoint = await service.alice.endpoint()
    const path = endpoint.at('/transformations/preview-set')
    const rules = [REMOVE, documentOf([{ op: 'set', path: 'body.b', value: 2 }], { name: 'Two' })]
    const answer = await service.alice.post(path, { rules, sample: { body: { a: 1 } } })
    expect(answer.body).toMatchObject({
      matched: true,
      note: '2 of 2 rules applied',
      rules: [{ name: 'Slim' }, { name: 'Two' }],
      output: { body: '{"b":2}' },
    })
    expect(problemOf(await service.alice.post(path, { rules: [...rules, REMOVE], sample: {} }))).toEqual([
      'validation_failed',
      '#/rules too_many',
    ])
    expect(
      problemOf(await service.alice.post(path, { rules: [{ ruleId: endpoint.id }, 5], sample: {} })),
    ).toEqual(['validation_failed', '#/rules/0/ruleId unknown_value', '#/rules/1 type'])
    expect(problemOf(await service.alice.post(path, { rules }))).toEqual([
      'validation_failed',
      '#/sample required',
    ])
  })

  test('without rules, the saved ones that are enabled', async () => {
    const endpoint = await service.alice.endpoint()
    await addForward(endpoint)
    const off = await addRule(endpoint)
    const on = await addRule(endpoint, documentOf([{ op: 'set', path: 'body.b', value: 2 }], { name: 'On' }))
    await service.alice.put(endpoint.at(`/transformations/${off.id}`), { enabled: false })
    const path = endpoint.at('/transformations/preview-set')
    const saved = await service.alice.post(path, { sample: { body: { a: 1 } } })
    expect(saved.body).toMatchObject({
      rules: [{ ruleId: on.id, version: 1, name: 'On', matched: true }],
      output: { body: '{"a":1,"b":2}' },
    })
    const { id } = await endpoint.capture({ body: '{"a":1}' })
    const named = await service.alice.post(path, { rules: [{ ruleId: off.id }], requestId: id })
    expect(named.body).toMatchObject({ rules: [{ ruleId: off.id, name: 'Slim' }], output: { body: '{}' } })
  })
})

test('previews that take long have turns, and those that would wait longer than ten seconds hear how long', async () => {
  const steps = Array.from({ length: 10 }, () => ({
    op: 'compute',
    path: 'headers.X-Digest',
    fn: 'sha512',
    args: [{ fn: 'concat', args: ['body', { literal: 'more' }] }],
  }))
  const hangUp = new AbortController()
  const preview = (signal?: AbortSignal) =>
    service.alice.post(
      PREVIEW,
      { rule: documentOf(steps), sample: { body: 'x'.repeat(900_000) } },
      signal === undefined ? {} : { signal },
    )
  // From now on their measured cost is high.
  expect((await preview()).status).toBe(200)
  expect((await preview()).status).toBe(200)
  let refused: Answer | undefined
  const flood: Promise<unknown>[] = []
  const isRefused = (answer: Answer) => {
    if (answer.status === 429) refused ??= answer
  }
  // They come faster than they are evaluated, so the line grows until its end would wait too long.
  for (; refused === undefined && flood.length < FLOOD_MAX; await Bun.sleep(1))
    flood.push(preview(hangUp.signal).then(isRefused, () => undefined))
  hangUp.abort()
  await Promise.all(flood)
  expect(Number(refused?.headers.get('retry-after'))).toBeWithin(1, 61)
  expect((await preview()).status).toBe(200)
})

test('thirty previews of rules that take nothing are all answered', async () => {
  const rule = documentOf([{ op: 'set', path: 'body.b', value: 2 }])
  // Previews of Alice's workspace were slow a moment ago.
  const client = await service.newClient()
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => client.post(PREVIEW, { rule, sample: { body: { a: 1 } } })),
  )
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
})
