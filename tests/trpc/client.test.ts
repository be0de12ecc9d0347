import { beforeAll, describe, expect, test } from 'bun:test'
import type { AppRouter } from '@creel/core'
import { createTRPCClient, httpBatchLink, httpLink, TRPCClientError } from '@trpc/client'
import { z } from 'zod'
import { startService, type TestService } from '../support/service.ts'

let service: TestService

beforeAll(async () => {
  service = await startService()
})

const Problem = z.looseObject({ code: z.string(), status: z.int(), detail: z.string(), traceId: z.string() })
const Refusal = z.object({
  error: z.object({ data: z.looseObject({ code: z.string(), httpStatus: z.int(), problem: Problem }) }),
})

/** A typed caller, as another TypeScript program would make one. */
function typedClient(baseUrl: string, key: string) {
  return createTRPCClient<AppRouter>({
    links: [httpLink({ url: `${baseUrl}/trpc`, headers: { Authorization: `Bearer ${key}` } })],
  })
}

/** The error of a refused call. */
async function refusalOf(call: Promise<unknown>) {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof TRPCClientError)) throw new Error('The call was not refused.')
  return Problem.parse(error.data.problem)
}

describe('@trpc/client', () => {
  test('reads and writes like REST does, with types', async () => {
    const { alice, baseUrl } = service
    const creel = typedClient(baseUrl, alice.key)

    const endpoint = await creel.endpoints.create.mutate({ name: 'typed', ttlSeconds: 60 })
    const listed = await creel.endpoints.list.query({})

    expect(listed).toMatchObject({ totalCount: 1, items: [{ id: endpoint.id, name: 'typed' }] })
    expect((await alice.get(`/api/v1/endpoints/${endpoint.id}`)).body).toEqual(endpoint)
  })

  test('is refused with the same problems, under a traceId', async () => {
    const { alice, bob, charlie, baseUrl } = service
    const { id } = await typedClient(baseUrl, charlie.key).endpoints.create.mutate({})
    const creel = typedClient(baseUrl, alice.key)

    const foreign = await refusalOf(creel.endpoints.get.query({ endpointId: id }))
    expect(foreign).toMatchObject({
      code: 'not_found',
      status: 404,
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
    })
    const invalid = await refusalOf(creel.endpoints.create.mutate({ ttlSeconds: 1 }))
    expect(invalid).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '#/ttlSeconds', parameter: null, code: 'out_of_range' }],
    })
    const revoked = await refusalOf(typedClient(baseUrl, bob.key).me.get.query({}))
    expect(revoked).toMatchObject({
      code: 'unauthorized',
      status: 401,
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
    })
  })

  test('keeps the digits of numbers, in each call of a batch', async () => {
    const { alice, baseUrl } = service
    const endpoint = await alice.endpoint()
    const channel = await alice.post(endpoint.at('/actions'), {
      kind: 'forward',
      url: 'https://example.com/',
    })
    const actionId = String(Object(channel.body).id)
    const calls = [
      ['actions.update', `{"condition":{"path":"body.id","op":"eq","value":9007199254740993}}`],
      [
        'transformations.create',
        '{"rule":{"version":1,"name":"a","steps":[{"op":"set","path":"body.a","value":1732867200.1234567890}]}}',
      ],
    ].map(([name = '', members = '']) => [
      name,
      members.replace('{', `{"endpointId":"${endpoint.id}","actionId":"${actionId}",`),
    ])
    const called = async (path: string, body: string) => {
      const headers = { Authorization: `Bearer ${alice.key}`, 'Content-Type': 'application/json' }
      const answer = await fetch(`${baseUrl}/trpc/${path}`, { method: 'POST', headers, body })
      return { status: answer.status, text: await answer.text() }
    }
    const digits = ['"value":9007199254740993}', '"value":1732867200.1234567890}']
    const batch = await called(
      `${calls.map(([name]) => name).join()}?batch=1`,
      `{${calls.map(([, input], index) => `"${index}":${input}`).join()}}`,
    )
    expect(batch.status).toBe(200)
    for (const text of digits) expect(batch.text).toContain(text)
    for (const [index, [name = '', input = '']] of calls.entries())
      expect(await called(name, input)).toMatchObject({
        status: 200,
        text: expect.stringContaining(digits[index] ?? ''),
      })
  })

  test('leaves the input out where nothing of it is required, and is told what is where something is', async () => {
    const { alice, baseUrl } = service
    const creel = typedClient(baseUrl, alice.key)
    expect(await creel.me.get.query()).toEqual(await creel.me.get.query({}))
    expect(await creel.endpoints.list.query()).toMatchObject({ page: 1 })
    expect(await creel.endpoints.create.mutate()).toMatchObject({ name: 'Untitled endpoint' })
    // @ts-expect-error: an endpoint must be named.
    expect(await refusalOf(creel.endpoints.get.query())).toMatchObject({ code: 'not_found' })
    // @ts-expect-error: a watchdog has an interval.
    const unnamed = await refusalOf(creel.watchdogs.create.mutate())
    expect(unnamed).toMatchObject({
      errors: [{ pointer: '#/endpointId' }, { pointer: '#/expectedIntervalSeconds', code: 'required' }],
    })
    const headers = { Authorization: `Bearer ${alice.key}` }
    const batch = await fetch(`${baseUrl}/trpc/me.get,endpoints.list?batch=1`, { headers })
    expect([batch.status, await batch.json()]).toMatchObject([200, [{ result: {} }, { result: {} }]])
  })

  test("carries tRPC's own code for the status of every refusal", async () => {
    const { alice, bob, baseUrl } = service
    const full = await startService({ limits: { endpointsMax: 0, apiRatePerMinute: 2 } })
    const { id } = await alice.endpoint()
    const creel = typedClient(baseUrl, alice.key)
    const limited = typedClient(full.baseUrl, full.alice.key)
    const codes = async (...calls: readonly Promise<unknown>[]) => {
      const ended = await Promise.allSettled(calls)
      return ended.map(
        (end) => end.status === 'rejected' && [end.reason.data?.httpStatus, end.reason.data?.code],
      )
    }
    expect(
      await codes(
        creel.endpoints.create.mutate({ ttlSeconds: 1 }),
        typedClient(baseUrl, bob.key).me.get.query(),
        creel.sessions.list.query(),
        creel.endpoints.get.query({ endpointId: 'none' }),
        creel.transformations.removeFirst.mutate({ endpointId: id }),
      ),
    ).toEqual([
      [400, 'BAD_REQUEST'],
      [401, 'UNAUTHORIZED'],
      [403, 'FORBIDDEN'],
      [404, 'NOT_FOUND'],
      [409, 'CONFLICT'],
    ])
    await limited.me.get.query()
    await limited.me.get.query()
    expect(await codes(limited.me.get.query())).toEqual([[429, 'TOO_MANY_REQUESTS']])
  })

  test('is refused with a traceId, as JSON, also before anything of the call is known', async () => {
    const { alice, baseUrl } = service
    const call = async (method: string, path: string, init: RequestInit = {}) => {
      const answer = await fetch(`${baseUrl}/trpc/${path}`, { method, ...init })
      const { error } = Refusal.parse(await answer.json())
      const { code, httpStatus, problem } = error.data
      expect(answer.headers.get('content-type')).toStartWith('application/json')
      expect(problem.traceId).toMatch(/^[0-9a-f]{32}$/)
      expect([httpStatus, problem.status]).toEqual([answer.status, answer.status])
      return [answer.status, code, problem.code, answer.headers.get('allow')]
    }
    const headers = { Authorization: `Bearer ${alice.key}` }
    const unread = [400, 'BAD_REQUEST', 'request_invalid', null]
    expect(await call('POST', 'endpoints.create', { headers })).toEqual(unread)
    expect(await call('POST', 'endpoints.create', { headers, body: '{}' })).toEqual(unread)
    const form = new FormData()
    form.set('name', 'of a form')
    expect(await call('POST', 'endpoints.create', { headers, body: form })).toEqual(unread)
    const bytes = { ...headers, 'Content-Type': 'application/octet-stream' }
    expect(await call('POST', 'endpoints.create', { headers: bytes, body: 'x' })).toEqual(unread)
    expect(await call('GET', 'no.such')).toEqual([404, 'NOT_FOUND', 'not_found', null])
    const notAllowed = [405, 'METHOD_NOT_SUPPORTED', 'method_not_allowed']
    expect(await call('GET', 'endpoints.create')).toEqual([...notAllowed, 'POST'])
    for (const [name, body] of [['endpoints.list'], ['requests.follow,me.get', form]] as const)
      expect(await call('POST', name, { headers, ...(body && { body }) })).toEqual([...notAllowed, 'GET'])
    for (const method of ['DELETE', 'OPTIONS'])
      expect(await call(method, 'me.get', { headers })).toEqual([...notAllowed, 'GET, POST'])
  })

  test('has no way to an operator procedure', async () => {
    const { alice, baseUrl } = service
    for (const name of ['workspaces.list', 'sessions.link', 'retention.purge', 'workspaces.create']) {
      const answer = await fetch(`${baseUrl}/trpc/${name}`, {
        headers: { Authorization: `Bearer ${alice.key}` },
      })
      expect(answer.status).toBe(404)
    }
  })
})

describe('a batch', () => {
  const batchOf = (baseUrl: string, key: string) =>
    createTRPCClient<AppRouter>({
      links: [
        httpBatchLink({
          url: `${baseUrl}/trpc`,
          headers: { Authorization: `Bearer ${key}` },
          maxItems: 100,
          maxURLLength: 100_000,
        }),
      ],
    })

  test('takes a call of the budget for every procedure', async () => {
    const { alice, baseUrl } = await startService({ limits: { apiRatePerMinute: 10 } })
    const creel = batchOf(baseUrl, alice.key)
    await Promise.all(Array.from({ length: 8 }, () => creel.me.get.query({})))
    const refused = await Promise.allSettled(Array.from({ length: 3 }, () => creel.me.get.query({})))
    expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    const raw = await fetch(`${baseUrl}/trpc/me.get,me.get,me.get?batch=1&input=%7B%7D`, {
      headers: { Authorization: `Bearer ${alice.key}` },
    })
    expect(raw.status).toBe(429)
    expect(Number(raw.headers.get('retry-after'))).toBeWithin(1, 61)
    // A refused batch did not use the budget: two calls are left.
    await Promise.all([creel.me.get.query({}), creel.me.get.query({})])
  })

  test('has no more long bodies than an answer can hold; one by one they all come', async () => {
    const large = await startService({ limits: { payloadBytesMax: 20_000_000 } })
    const endpoint = await large.alice.endpoint()
    const { id } = await endpoint.capture({ body: 'x'.repeat(18_000_000) })
    const input = { endpointId: endpoint.id, requestId: id }
    const url = `${large.baseUrl}/trpc/requests.get,requests.get?batch=1&input=${encodeURIComponent(JSON.stringify({ 0: input, 1: input }))}`
    const answer = await fetch(url, { headers: { Authorization: `Bearer ${large.alice.key}` } })
    const codes = z
      .array(
        z.looseObject({
          error: z
            .looseObject({ data: z.looseObject({ problem: z.looseObject({ code: z.string() }) }) })
            .optional(),
        }),
      )
      .parse(await answer.json())
      .map(({ error }) => error?.data.problem.code)
    expect(codes.sort()).toEqual(['request_invalid', undefined])
    expect(await typedClient(large.baseUrl, large.alice.key).requests.get.query(input)).toMatchObject({ id })
    await large.stop()
  })

  test('of more than 20 is refused', async () => {
    const { alice, baseUrl } = service
    const creel = batchOf(baseUrl, alice.key)
    await Promise.all(Array.from({ length: 20 }, () => creel.me.get.query({})))
    const calls = Array.from({ length: 21 }, () => refusalOf(creel.me.get.query({})))
    for (const problem of await Promise.all(calls))
      expect(problem).toMatchObject({ code: 'request_invalid', status: 400 })
  })
})
