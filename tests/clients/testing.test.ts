import { beforeAll, describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { type Hook, HookError, type HookOptions, withEndpoint } from 'creel-client/testing'
import { startService, type TestService } from '../support/service.ts'

/** The test helpers of creel-client, above all their messages when a test fails. */

interface Paid {
  readonly type: string
  readonly n: number
}

let service: TestService
let options: HookOptions

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000 } })
  options = { creel: { url: service.baseUrl, key: service.alice.key } }
})

async function send(
  hook: Hook,
  body: unknown,
  init: { path?: string; headers?: Record<string, string> } = {},
) {
  await fetch(hook.url + (init.path ?? ''), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...init.headers },
    body: JSON.stringify(body),
  })
}

/** The error of a failed expectation. */
async function failureOf(expectation: Promise<unknown>): Promise<HookError> {
  const error = await expectation.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof HookError)) throw new Error(`The expectation did not fail: ${String(error)}`)
  return error
}

test('withEndpoint hands on what its body returns, and deletes the endpoint also when it throws', async () => {
  const url = await withEndpoint((hook) => hook.url, options)
  expect((await fetch(url, { method: 'POST' })).status).toBe(404)
  let broken = ''
  const failing = withEndpoint((hook) => {
    broken = hook.url
    throw new Error('test failed')
  }, options)
  expect(await failing.catch((error: Error) => error.message)).toBe('test failed')
  expect((await fetch(broken, { method: 'POST' })).status).toBe(404)
})

test('withEndpoint says what it lacks', async () => {
  expect(await withEndpoint(() => 0).catch((error: Error) => error.message)).toContain('CREEL_URL')
})

test('respond scripts the answers, until they are taken back', () =>
  withEndpoint(async (hook) => {
    const statuses = async () => [await fetch(hook.url), await fetch(hook.url)].map(({ status }) => status)
    {
      await using _answers = await hook.respond([{ status: 500, times: 1 }, { status: 202 }])
      expect(await statuses()).toEqual([500, 202])
    }
    expect(await statuses()).toEqual([200, 200])
  }, options))

test('respond begins to count again, also with the list that was there before', () =>
  withEndpoint(async (hook) => {
    for (const _ of [1, 2]) {
      await hook.respond([{ status: 500, times: 1 }])
      expect([await fetch(hook.url), await fetch(hook.url)].map(({ status }) => status)).toEqual([500, 200])
    }
  }, options))

describe('next', () => {
  test('gives two expectations at once a request each', () =>
    withEndpoint(async (hook) => {
      const two = Promise.all([hook.next(), hook.next()])
      await send(hook, 1)
      await send(hook, 2)
      expect((await two).map(({ body }) => body).sort()).toEqual(['1', '2'])
      await hook.none({}, { within: 0.1 })
    }, options))

  test('compares by an expression that keeps its place', () =>
    withEndpoint(async (hook) => {
      for (const _ of [1, 2]) await send(hook, { type: 'order.paid' })
      const matcher = { body: { type: /order/g } }
      await hook.next(matcher)
      await hook.next(matcher)
    }, options))

  test('takes what has arrived and what will, each once, in any order', () =>
    withEndpoint(async (hook) => {
      const later = hook.next({ body: { n: 2 } })
      await send(hook, { n: 1 })
      await send(hook, { n: 2 }, { path: '/two?x=1', headers: { 'X-Trace': 'abc' } })
      expect((await later).path).toBe('/two')
      expect((await hook.next({ body: { n: 1 } })).body).toBe('{"n":1}')
      expect((await failureOf(hook.next({}, { within: 0.1 }))).message).toContain('Nothing else arrived')
    }, options))

  test('compares every part of a request', () =>
    withEndpoint(async (hook) => {
      await send(
        hook,
        { type: 'order.paid', items: [{ id: 1, more: true }] },
        { path: '/a?x=1', headers: { 'X-Trace': 'abc' } },
      )
      const request = await hook.next({
        method: 'post',
        path: /^\/a$/,
        headers: { 'x-trace': 'abc', 'content-type': /json/ },
        query: { x: '1' },
        body: { type: /^order\./, items: [{ id: 1 }] },
        where: ({ sizeBytes }) => sizeBytes > 10,
      })
      expect(request.headers['X-Trace']).toBe('abc')
    }, options))

  test('shows what arrived, and how it differs', () =>
    withEndpoint(async (hook) => {
      await send(hook, { type: 'order.created', order: { id: 7 } })
      await fetch(hook.url, { method: 'PUT', body: 'no json' })
      const failure = await failureOf(
        hook.next({ method: 'POST', body: { type: 'order.paid', order: { id: 7 } } }, { within: 4 }),
      )
      expect(failure.arrived.length).toBe(2)
      expect(failure.message.replaceAll(/#\d+/g, '#n')).toBe(
        `No request with method "POST", body {"type":"order.paid","order":{"id":7}} within 4 s.
What arrived:
  #n POST / (order.created) "{\\"type\\":\\"order.created\\",\\"order\\":{\\"id\\":7}}"
    body.type: expected "order.paid", got "order.created"
  #n PUT / "no json"
    method: expected "POST", got "PUT"
    body: expected JSON, got "no json"`,
      )
    }, options))
})

describe('none', () => {
  test('looks at what has arrived, although the service is slow', async () => {
    const slow = async (url: string, init: RequestInit) => {
      if (url.includes('/await'))
        await new Promise((_, reject) => init.signal?.addEventListener('abort', reject))
      return await fetch(url, init)
    }
    await withEndpoint(
      async (hook) => {
        await send(hook, { type: 'order.paid' })
        expect((await failureOf(hook.none({}, { within: 0.1 }))).message).toContain('but got')
      },
      { creel: { url: service.baseUrl, key: service.alice.key, fetch: slow } },
    )
  })

  test('holds while nothing matches, and fails at once when something does', () =>
    withEndpoint(async (hook) => {
      await send(hook, { type: 'other' })
      await hook.none({ body: { type: 'order.paid' } }, { within: 0.2 })
      const failing = failureOf(hook.none({ body: { type: 'order.paid' } }, { within: 30 }))
      await send(hook, { type: 'order.paid' })
      expect((await failing).message).toContain('but got')
    }, options))
})

describe('sequence', () => {
  test('takes requests in their order, and says which one did not come', () =>
    withEndpoint(async (hook) => {
      for (const n of [1, 2, 3]) await send(hook, { n })
      const taken = await hook.sequence([{ body: { n: 1 } }, { body: { n: 3 } }])
      expect(taken.map(({ body }) => body)).toEqual(['{"n":1}', '{"n":3}'])
      for (const n of [5, 4]) await send(hook, { n })
      const failure = await failureOf(hook.sequence([{ body: { n: 4 } }, { body: { n: 5 } }], { within: 4 }))
      expect(failure.message).toContain('Request 2 of 2 in sequence did not come within 4 s: body {"n":5}')
      expect(failure.message).toContain('after #')
      expect(failure.message).toContain('{\\"n\\":2}')
    }, options))

  test('compares a compressed body decoded', () =>
    withEndpoint(async (hook) => {
      await fetch(hook.url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
        body: gzipSync('{"type":"order.paid","n":1}'),
      })
      const failure = await failureOf(hook.next({ body: /refunded/ }, { within: 4 }))
      expect(failure.message).toContain('order.paid')
      const request = await hook.next({
        body: { type: 'order.paid' },
        where: (it) => it.json<Paid>().n === 1,
      })
      expect(request.json<Paid>()).toEqual({ type: 'order.paid', n: 1 })
      expect(Object.keys(request)).not.toContain('json')
    }, options))

  test('names the request whose body is no JSON', () =>
    withEndpoint(async (hook) => {
      await fetch(hook.url, { method: 'PUT', body: 'no json' })
      const [request] = await hook.sequence([{ method: 'PUT' }])
      expect(() => request?.json()).toThrow(`The body is no JSON: #${request?.id} PUT / "no json"`)
    }, options))

  test('says so when what it misses was taken by an expectation before it', () =>
    withEndpoint(async (hook) => {
      await send(hook, { type: 'order.paid' })
      await send(hook, { type: 'order.created' })
      const { id } = await hook.next({ body: { type: 'order.paid' } })
      await hook.next({ body: { type: 'order.created' } })
      const failure = await failureOf(hook.sequence([{ body: { type: 'order.paid' } }], { within: 4 }))
      expect(failure.message).toEndWith(
        `Nothing else arrived.\nTaken by an earlier expectation, and matching:\n  #${id} POST / (order.paid) "{\\"type\\":\\"order.paid\\"}"`,
      )
      expect(failure.arrived).toEqual([])
    }, options))
})
