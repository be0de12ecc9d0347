import { beforeAll, describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { type Creel, createCreel, type Endpoint } from 'creel-client'
import { verifyRequest, verifySignature } from 'creel-client/verify'
import { z } from 'zod'
import { callsOf, streamsOf } from '../../scripts/client/calls.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { refusalOf } from './refusal.ts'

/** The package creel-client against a service, from its sources; package.test.ts tests the packed one. */

let service: TestService
let creel: Creel

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000 } })
  creel = createCreel({ url: service.baseUrl, key: service.alice.key })
})

/** Sends webhooks one after the other. */
async function send(endpoint: Endpoint, ...bodies: readonly string[]): Promise<void> {
  for (const body of bodies) await fetch(endpoint.url, { method: 'POST', body })
}

test('the methods are those of the promised description (`bun run openapi:snapshot`)', async () => {
  const snapshot = await Bun.file(new URL('../contract/snapshots/openapi.v1.json', import.meta.url)).json()
  const source = (name: string) =>
    Bun.file(new URL(`../../clients/typescript/src/${name}`, import.meta.url)).text()
  expect(await source('calls.ts')).toEndWith(callsOf(JSON.stringify(snapshot)))
  expect(await source('streams.ts')).toEndWith(streamsOf(JSON.stringify(snapshot)))
})

describe('another server', () => {
  test.each([
    ['an empty object', () => Response.json({})],
    ['a list', () => Response.json([])],
    ['nothing', () => new Response('')],
    ['members of another kind', () => Response.json({ key: 1, id: null, items: {} })],
    ['a page', () => new Response('<html>')],
    ['404', () => new Response('Not Found', { status: 404 })],
    ['405 as JSON', () => Response.json({ error: 'method' }, { status: 405 })],
  ])('that answers with %s is not taken for a service', async (_, answer) => {
    using server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer })
    const stranger = createCreel({ url: server.url.href, key: 'key' })
    for (const call of [() => stranger.endpoints.create(), () => stranger.me()]) {
      const { code, detail } = await refusalOf(call())
      expect([code, detail]).toEqual([
        'unexpected_answer',
        expect.stringContaining(`${server.url.origin} is not a Creel.`),
      ])
    }
    await expect(Array.fromAsync(stranger.endpoints.list())).rejects.toThrow('is not a Creel.')
  })

  test('that answers with a page is not taken for one by raw calls and imports', async () => {
    using server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('<html>') })
    const stranger = createCreel({ url: server.url.href, key: 'key' })
    const raw = await refusalOf(stranger.api.GET('/api/v1/me'))
    expect(raw).toMatchObject({ code: 'unexpected_answer', status: 200 })
    expect(raw.detail).toContain('is not a Creel. Its answer is not JSON.')
    const imported = stranger.endpoints.requests('e').import('{}')
    expect(await refusalOf(imported)).toMatchObject({ code: 'unexpected_answer', status: 200 })
  })
})

describe('an answer that breaks off', () => {
  /** Answers every call with the beginning of a JSON text that is announced to be longer. */
  async function startBreaking(status: number) {
    const server = createServer((socket) => {
      socket.on('error', () => socket.destroy())
      socket.once('data', () => {
        const head = `HTTP/1.1 ${status} Some
Content-Type: application/json
Content-Length: 100

`
        socket.end(`${head}{"code":"not_found",`)
      })
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = z.object({ port: z.int() }).parse(server.address())
    return { url: `http://127.0.0.1:${port}`, [Symbol.dispose]: () => void server.close() }
  }

  const CALLS: readonly (readonly [string, (of: Creel) => Promise<unknown>])[] = [
    ['a call', (of) => of.me()],
    ['an export', (of) => of.endpoints.requests('e').export(1, 'curl')],
    [
      'an export of all',
      async (of) => await new Response(await of.endpoints.requests('e').exportAll()).text(),
    ],
    ['an import', (of) => of.endpoints.requests('e').import('{}')],
    ['a raw call', (of) => of.api.GET('/api/v1/me')],
    ['a request of any path', async (of) => await (await of.send('/api/v1/me')).arrayBuffer()],
  ]

  test.each(CALLS)("of %s rejects with the client's own error, also as a refusal", async (_, call) => {
    for (const status of [200, 404]) {
      using server = await startBreaking(status)
      const error = await refusalOf(call(createCreel({ url: server.url, key: 'key' })))
      expect(error).toMatchObject({ code: 'connection_failed', status: 0 })
      expect(error.cause).toBeInstanceOf(Error)
      const errorOf = ({ code }: { code: string }) => new Error(`Ours: ${code}`)
      const other = call(createCreel({ url: server.url, key: 'key', errorOf }))
      await expect(other).rejects.toThrow('Ours: connection_failed')
    }
  })
})

describe('endpoints', () => {
  test('are made, changed, listed and deleted', async () => {
    const endpoint = await creel.endpoints.create({ name: 'orders', ttlSeconds: 600 })
    expect((await endpoint.update({ name: 'paid orders' })).name).toBe('paid orders')
    expect((await creel.endpoints.get(endpoint.id)).name).toBe('paid orders')
    expect((await Array.fromAsync(creel.endpoints.list())).map(({ id }) => id)).toContain(endpoint.id)
    await endpoint.delete()
    expect(await refusalOf(endpoint.refresh())).toMatchObject({ code: 'not_found', status: 404 })
  })

  test('are deleted at the end of their block', async () => {
    let id = ''
    {
      await using endpoint = await creel.endpoints.create()
      id = endpoint.id
    }
    expect((await refusalOf(creel.endpoints.get(id))).code).toBe('not_found')
  })
})

describe('requests', () => {
  test('are awaited, one after the other, without a gap', async () => {
    await using endpoint = await creel.endpoints.create()
    const first = endpoint.requests.await({ q: 'wanted', afterId: 0 })
    await send(endpoint, 'other', 'wanted 1', 'wanted 2')
    expect((await first)?.body).toBe('wanted 1')
    const next = await endpoint.requests.await({ q: 'wanted', afterId: (await first)?.id ?? 0 })
    expect(next?.body).toBe('wanted 2')
    for (const timeoutSeconds of [1, 0.5])
      expect(await endpoint.requests.await({ q: 'never', timeoutSeconds })).toBeNull()
    for (const timeoutSeconds of [0, Number.NaN])
      await expect(endpoint.requests.await({ timeoutSeconds })).rejects.toThrow('timeoutSeconds must be')
  })

  test('are listed past the end of a page, each once, also while more arrive', async () => {
    await using endpoint = await creel.endpoints.create()
    await Promise.all(Array.from({ length: 120 }, () => send(endpoint, 'one')))
    const ids: number[] = []
    for await (const { id } of endpoint.requests.list()) {
      if (ids.length === 0) await send(endpoint, 'late', 'later')
      ids.push(id)
    }
    expect(ids.length).toBe(120)
    expect(new Set(ids).size).toBe(120)
  })

  test('are listed in the order that is asked for', async () => {
    await using endpoint = await creel.endpoints.create()
    await send(endpoint, 'one', 'two', 'three')
    const bodies: (string | null)[] = []
    for await (const { bodyPreview } of endpoint.requests.list({ order: 'asc' })) bodies.push(bodyPreview)
    expect(bodies).toEqual(['one', 'two', 'three'])
  })

  test('are replayed, noted, deleted and cleared', async () => {
    await using receiver = await startReceiver()
    await using endpoint = await creel.endpoints.create()
    const action = await endpoint.actions.create({ kind: 'forward', url: receiver.url })
    await endpoint.rules.create({ version: 1, name: 'Slim', steps: [{ op: 'remove', paths: ['body.card'] }] })
    await send(endpoint, '{"id":1,"card":"4242"}')
    const request = await endpoint.requests.await({ state: 'Succeeded' })
    const replayed = await endpoint.requests.replay(request?.id ?? 0, { actionId: action.id })
    expect(replayed).toMatchObject({ state: 'Succeeded', outcomes: [{ transformed: true }] })
    expect((await receiver.take(2)).map(({ body }) => body.toString())).toEqual(['{"id":1}', '{"id":1}'])
    const triggers = await Array.fromAsync(endpoint.deliveries.list(), ({ trigger }) => trigger)
    expect(triggers).toEqual(['replay', 'capture'])
    expect(await endpoint.requests.note(request?.id ?? 0, 'seen')).toMatchObject({ note: 'seen' })
    expect(await endpoint.requests.note(request?.id ?? 0, null)).toMatchObject({ note: null })
    await endpoint.requests.delete(request?.id ?? 0)
    await send(endpoint, 'a', 'b')
    const withoutId = JSON.parse('""')
    for (const call of [endpoint.requests.delete(withoutId), creel.calls.alertChannels.get({ id: '..' })]) {
      await expect(call).rejects.toThrow('must be an id')
    }
    expect(await endpoint.requests.clear()).toEqual({ deletedCount: 2 })
  })
})

test('every path is called raw, through middleware, and answers what it answered', async () => {
  const seen: string[] = []
  const { api } = createCreel({ url: service.baseUrl, key: service.alice.key })
  const notes = { onRequest: ({ request }: { request: Request }) => void seen.push(request.method) }
  api.use(notes)
  const made = await api.POST('/api/v1/endpoints', { body: { name: 'raw' } })
  expect(made.data?.name).toBe('raw')
  const path = { endpointId: made.data?.id ?? '' }
  const read = await api.GET('/api/v1/endpoints/{endpointId}', { params: { path } })
  expect(read.data).toEqual(made.data)
  api.eject(notes)
  const missing = await api.request('get', '/api/v1/endpoints/{endpointId}', {
    params: { path: { endpointId: 'none' } },
  })
  expect([missing.response.status, missing.error?.code]).toEqual([404, 'not_found'])
  expect((await api.DELETE('/api/v1/endpoints/{endpointId}', { params: { path } })).response.status).toBe(204)
  expect(seen).toEqual(['POST', 'GET'])
})

test('a history moves by export and import', async () => {
  await using endpoint = await creel.endpoints.create()
  await using copy = await creel.endpoints.create()
  await send(endpoint, 'one', 'two')
  const [newest] = await Array.fromAsync(endpoint.requests.list())
  const script = await endpoint.requests.export(newest?.id ?? 0, 'python')
  expect(await script.text()).toContain('import requests')
  const moved = await copy.requests.import(await endpoint.requests.exportAll({ q: 'two' }))
  expect(moved.importedCount).toBe(1)
  expect((await Array.fromAsync(copy.requests.list())).map(({ bodyPreview }) => bodyPreview)).toEqual(['two'])
  expect((await refusalOf(copy.requests.import('no json'))).errors[0]?.pointer).toBe('#/lines/1')
})

test('a watchdog is armed, paused and removed', async () => {
  await using endpoint = await creel.endpoints.create()
  const watchdog = await creel.watchdogs.create({ endpointId: endpoint.id, expectedIntervalSeconds: 3600 })
  expect(watchdog).toMatchObject({ state: 'waiting', graceSeconds: 720 })
  expect((await creel.watchdogs.update(watchdog.id, { active: false })).active).toBe(false)
  expect(await creel.watchdogs.suggest(endpoint.id)).toMatchObject({ available: false })
  await creel.watchdogs.delete(watchdog.id)
  expect((await refusalOf(creel.watchdogs.get(watchdog.id))).code).toBe('not_found')
})

describe('a refusal', () => {
  test('says what the service said', async () => {
    const error = await refusalOf(creel.endpoints.create({ ttlSeconds: 1, name: '' }))
    expect(error).toMatchObject({
      code: 'validation_failed',
      status: 400,
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
    })
    expect(error.errors.map(({ pointer, code }) => [pointer, code])).toEqual([
      ['#/ttlSeconds', 'out_of_range'],
      ['#/name', 'too_short'],
    ])
    expect(error.message).toContain('#/name')
  })

  test('of a service that is not there is the same class', async () => {
    const nowhere = createCreel({ url: 'http://127.0.0.1:1', key: 'none' })
    expect(await refusalOf(nowhere.me())).toMatchObject({
      code: 'connection_failed',
      status: 0,
      traceId: null,
    })
  })

  test('of something else than a service is the same class', async () => {
    using proxy = Bun.serve({ port: 0, fetch: () => new Response('<h1>Bad gateway</h1>', { status: 502 }) })
    const error = await refusalOf(createCreel({ url: proxy.url.href, key: 'none' }).me())
    expect(error).toMatchObject({ code: 'unexpected_answer', status: 502 })
  })
})

describe('429 and 503', () => {
  /** Answers the first `times` calls with a status, and records the bodies. */
  function busy(status: number, times: number, retryAfter: string) {
    const bodies: string[] = []
    const { promise: called, resolve: noteCall } = Promise.withResolvers<void>()
    const server = Bun.serve({
      port: 0,
      fetch: async (request) => {
        bodies.push(await request.text())
        noteCall()
        if (bodies.length <= times)
          return new Response(null, { status, headers: { 'Retry-After': retryAfter } })
        return fetch(service.baseUrl + new URL(request.url).pathname, {
          method: request.method,
          headers: { Authorization: `Bearer ${service.alice.key}`, 'Content-Type': 'application/json' },
          ...(request.method === 'GET' ? {} : { body: bodies.at(-1) ?? '' }),
        })
      },
    })
    return { server, bodies, called, url: server.url.href }
  }

  test.each([429, 503])('%d is repeated after the time that it says, with its body', async (status) => {
    const { server, bodies, url } = busy(status, 2, '0')
    using _ = server
    const endpoint = await createCreel({ url, key: 'any' }).endpoints.create({ name: 'in the end' })
    expect(endpoint.name).toBe('in the end')
    expect(bodies).toEqual(Array.from({ length: 3 }, () => '{"name":"in the end"}'))
    await creel.endpoints.get(endpoint.id).then((made) => made.delete())
  })

  test('is not waited out for longer than allowed, nor more often', async () => {
    const long = busy(429, 9, '3600')
    using _ = long.server
    const error = await refusalOf(createCreel({ url: long.url, key: 'any' }).me())
    expect(error).toMatchObject({ status: 429, retryAfterSeconds: 3600 })
    expect(long.bodies.length).toBe(1)
    const often = busy(503, 9, '0')
    using __ = often.server
    await refusalOf(createCreel({ url: often.url, key: 'any', retries: 2 }).me())
    expect(often.bodies.length).toBe(3)
  })

  test('is not waited out by a call that was aborted', async () => {
    const { server, called, url } = busy(429, 9, '30')
    using _ = server
    const stop = new AbortController()
    const call = createCreel({ url, key: 'any' }).me({ signal: stop.signal })
    const ended = call.catch((error: unknown) => error)
    await called
    stop.abort(new Error('enough'))
    expect(await ended).toEqual(new Error('enough'))
  })
})

test('the limit of a client ends its raw calls, but for those with a signal', async () => {
  using silent = Bun.serve({ port: 0, idleTimeout: 0, fetch: () => new Promise<never>(() => {}) })
  const { api } = createCreel({ url: silent.url.href, key: 'any', timeoutMs: 50 })
  expect((await refusalOf(api.GET('/api/v1/me'))).code).toBe('connection_failed')
  const stop = new AbortController()
  const waiting = api.GET('/api/v1/me', { signal: stop.signal }).catch(String)
  expect(await Promise.race([waiting, api.GET('/api/v1/me').catch(() => 'the limit')])).toBe('the limit')
  stop.abort('enough')
  expect(await waiting).toBe('enough')
})

test('an abort ends an await with its reason', async () => {
  await using endpoint = await creel.endpoints.create()
  const waiting = endpoint.requests.await({ signal: AbortSignal.timeout(50) })
  expect(await waiting.catch((error: Error) => error.name)).toBe('TimeoutError')
})

describe('creel-client/verify', () => {
  test('accepts a forward, and says why it refuses another', async () => {
    await using receiver = await startReceiver()
    await using endpoint = await creel.endpoints.create()
    const secret = 'sixteen characters'
    await endpoint.actions.create({ kind: 'forward', url: receiver.url, signingSecret: secret })
    await send(endpoint, '{"zürich":1.50}')
    const [forward] = await receiver.take(1)
    const header = forward?.header('creel-signature') ?? ''
    const body = forward?.body.toString() ?? ''
    const signedAt = Number(/t=(\d+)/.exec(header)?.[1]) * 1000
    const verdictOf = (changed: Partial<Parameters<typeof verifySignature>[0]>) =>
      verifySignature({ body, header, secret, now: signedAt, ...changed })

    expect(await verdictOf({})).toEqual({ ok: true, signedAt: new Date(signedAt) })
    expect(await verdictOf({ secret: ['the former secret', secret] })).toMatchObject({ ok: true })
    expect(await verdictOf({ body: `${body} ` })).toEqual({ ok: false, reason: 'mismatch' })
    expect(await verdictOf({ secret: 'another' })).toEqual({ ok: false, reason: 'mismatch' })
    expect(await verdictOf({ now: signedAt + 301_000 })).toEqual({ ok: false, reason: 'expired' })
    expect(await verdictOf({ header: null })).toEqual({ ok: false, reason: 'unsigned' })
    expect(await verdictOf({ header: 'v1=zz' })).toEqual({ ok: false, reason: 'malformed' })

    const request = new Request('http://receiver', {
      method: 'POST',
      body,
      headers: { 'creel-signature': header },
    })
    const read = await verifyRequest(request, 'another')
    expect([read.verdict.ok, new TextDecoder().decode(read.body), await request.text()]).toEqual([
      false,
      body,
      body,
    ])
  })
})
