import { beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { ROUTES, type Route, STREAMS, type Stream } from '@creel/core'
import { z } from 'zod'
import { type Audit, createAudit } from '../support/audit.ts'
import type { Answer, CallOptions, Client } from '../support/client.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeWorld, pathOf, placeholdersOf, type World } from '../support/world.ts'

/** Rules of every operation of the API. The tests walk the router, so a new route is covered by its declaration. */

let service: TestService
let audit: Audit
let alices: World
let charlies: World

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 1_000_000 } })
  audit = await createAudit(service.alice)
  alices = await makeWorld(service.alice)
  charlies = await makeWorld(service.charlie)
})

type Called = Route | Stream

const takesBody = (route: Called) => route.method !== 'GET' && route.method !== 'DELETE'

/** Calls the route with the given ids; `await` waits no longer than it must. */
function call(
  client: Client,
  route: Called,
  ids: World['ids'],
  body?: unknown,
  options?: CallOptions,
): Promise<Answer> {
  const query = route.name === 'requests.await' ? '?timeoutSeconds=1' : ''
  const sent = takesBody(route) && options?.rawBody === undefined ? (body ?? {}) : undefined
  return client.call(route.method, pathOf(route, ids) + query, sent, options)
}

/** Walks the routes and collects all faults, so that one run names everything. */
async function walk<One extends Called>(
  routes: readonly One[],
  visit: (route: One) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const faults: string[] = []
  for (const route of routes) faults.push(...(await visit(route)))
  return faults
}

/** The code of an answer and its audit entry, if another code was expected. */
function expectCode(
  route: Called,
  answer: Answer,
  status: number,
  code: string,
  what: string,
): readonly string[] {
  const { code: seen } = z.object({ code: z.string() }).catch({ code: 'none' }).parse(answer.body)
  const faults = audit.faultsOf(route, answer)
  if (answer.status === status && seen === code) return faults
  return [`${route.method} ${route.path} ${what}: ${answer.status} ${seen}`, ...faults]
}

const paged = ROUTES.filter((route) => 'pageSize' in route.input.shape)
const reads = ROUTES.filter((route) => route.method === 'GET')
const writes = ROUTES.filter(takesBody)
const everything: readonly Called[] = [...ROUTES, ...STREAMS]
const withIds = everything.filter((route) => route.path.includes('{'))

/** Everything of an answer but its traceId. */
function fingerprint(answer: Answer): string {
  const { traceId: _, ...body } = z.looseObject({ traceId: z.string() }).parse(answer.body)
  const headers = [...answer.headers].filter(([name]) => name !== 'date' && name !== 'creel-trace-id')
  return JSON.stringify([answer.status, headers, body])
}

describe('who calls', () => {
  test('no key, an unknown one and a revoked one all answer 401', async () => {
    const strangers = ['', 'Bearer', 'Bearer creel_live_unknown', 'Basic YTpi']
    expect(
      await walk(everything, async (route) => {
        // Failed calls of an address have a limit for each minute.
        if (everything.indexOf(route) % 100 === 99) await service.clock.advance(60_000)
        const faults: string[] = []
        for (const Authorization of strangers) {
          const answer = await call(service.alice, route, alices.ids, {}, { headers: { Authorization } })
          faults.push(...expectCode(route, answer, 401, 'unauthorized', `'${Authorization}'`))
          if (!(answer.headers.get('www-authenticate') ?? '').startsWith('Bearer'))
            faults.push('no challenge')
        }
        const revoked = await call(service.bob, route, alices.ids)
        return [...faults, ...expectCode(route, revoked, 401, 'unauthorized', 'revoked')]
      }),
    ).toEqual([])
  })

  test('a plan without API access answers 403, whatever the route and its ids', async () => {
    const limited = await startService({ plan: 'solo' })
    const { alice, operator } = limited
    await operator.workspaces.setPlan({ workspace: alice.workspaceId, plan: 'free' })
    expect(
      await walk(everything, async (route) => {
        const answer = await call(alice, route, alices.ids)
        return expectCode(route, answer, 403, 'api_access_disabled', 'free plan')
      }),
    ).toEqual([])
    await limited.stop()
  })
})

describe('what a path names', () => {
  const UNKNOWN = /^\d+$/
  const unknownLike = (id: string) => (UNKNOWN.test(id) ? '8999999999999999' : randomUUID())
  const MALFORMED = [
    '0',
    '-1',
    '1.5',
    'null',
    '9223372036854775808',
    '%00',
    'a%20b',
    '%E2%82%AC',
    'x'.repeat(300),
  ]

  test("another workspace's id answers byte for byte like an unknown and a malformed one", async () => {
    expect(
      await walk(withIds, async (route) => {
        const faults: string[] = []
        for (const name of placeholdersOf(route)) {
          const with_ = (id: string) => call(service.alice, route, { ...alices.ids, [name]: id })
          const unknown = await with_(unknownLike(alices.ids[name] ?? ''))
          faults.push(...expectCode(route, unknown, 404, 'not_found', `unknown ${name}`))
          // Versions count from 1 in every workspace.
          const foreign = name === 'n' ? unknown : await with_(charlies.ids[name] ?? '')
          if (fingerprint(foreign) !== fingerprint(unknown))
            faults.push(`${route.method} ${route.path}: foreign ${name} is told apart: ${foreign.text}`)
          // Other spellings of an existing number.
          const own = alices.ids[name] ?? ''
          const respelled = UNKNOWN.test(own)
            ? [`0${own}`, `+${own}`, `%20${own}`, `${own}%20`, `${own}.0`, `${own}e0`, `0x${own}`]
            : []
          for (const malformed of [...MALFORMED, ...respelled]) {
            const answer = await with_(malformed)
            if (fingerprint(answer) !== fingerprint(unknown))
              faults.push(
                `${route.method} ${route.path}: ${name}=${malformed} is told apart: ${answer.status} ${answer.text}`,
              )
          }
        }
        return faults
      }),
    ).toEqual([])
  })

  test('the whole of another workspace is absent', async () => {
    expect(
      await walk(withIds, async (route) =>
        expectCode(route, await call(service.alice, route, charlies.ids), 404, 'not_found', 'foreign'),
      ),
    ).toEqual([])
  })

  test('is looked up before the body is checked', async () => {
    const unknown = Object.fromEntries(
      Object.entries(alices.ids).map(([name, id]) => [name, unknownLike(id)]),
    )
    expect(
      await walk(
        writes.filter((route) => route.path.includes('{')),
        async (route) => {
          const options = { rawBody: '{', headers: { 'Content-Type': 'application/json' } }
          const answer = await call(service.alice, route, unknown, undefined, options)
          return expectCode(route, answer, 404, 'not_found', 'unreadable body')
        },
      ),
    ).toEqual([])
  })
})

describe('a body that cannot be read answers request_invalid', () => {
  const json = { 'Content-Type': 'application/json' }
  const UNREADABLE: Readonly<Record<string, CallOptions>> = {
    'malformed JSON': { rawBody: '{"name":', headers: json },
    'JSON that is no object': { rawBody: '[1]', headers: json },
    null: { rawBody: 'null', headers: json },
    'two values': { rawBody: '{}{}', headers: json },
    'invalid UTF-8': { rawBody: new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), headers: json },
    'a form': { rawBody: 'name=a', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } },
    'plain text': { rawBody: '{}', headers: { 'Content-Type': 'text/plain' } },
    'over 1 MiB': { rawBody: JSON.stringify({ name: 'a'.repeat(1_048_576) }), headers: json },
  }

  test.each(Object.entries(UNREADABLE))('%s', async (what, options) => {
    expect(
      await walk(writes, async (route) => {
        const answer = await call(service.alice, route, alices.ids, undefined, options)
        return expectCode(route, answer, 400, 'request_invalid', what)
      }),
    ).toEqual([])
  })

  test('nothing of it was done', async () => {
    const { body } = await service.alice.get(`/api/v1/endpoints/${alices.ids.endpointId}`)
    expect(body).toMatchObject({ name: 'world', isActive: true })
  })
})

/** An address may send 600 failing calls a minute. */
const forgetFailures = () => service.clock.advance(61_000)

describe('lists', () => {
  test('take page and pageSize within their bounds, and name whichever is out of them', async () => {
    const wrong = [
      'page=0',
      'page=-1',
      'page=a',
      'page=1.5',
      'page=',
      'pageSize=0',
      'pageSize=101',
      'pageSize=1e2',
    ]
    expect(
      await walk(paged, async (route) => {
        const faults: string[] = []
        for (const query of wrong) {
          const answer = await service.alice.get(`${pathOf(route, alices.ids)}?${query}`)
          faults.push(...expectCode(route, answer, 400, 'validation_failed', query))
          const parameter = query.split('=')[0] ?? ''
          if (!answer.text.includes(`"parameter":"${parameter}"`))
            faults.push(`${route.path} ${query}: ${answer.text}`)
        }
        return faults
      }),
    ).toEqual([])
  })

  test('answer an empty page past the end, with the whole count', async () => {
    const Page = z.object({
      items: z.array(z.unknown()),
      totalCount: z.int(),
      page: z.int(),
      pageSize: z.int(),
      totalPages: z.int(),
    })
    expect(paged.length).toBeGreaterThan(0)
    for (const route of paged) {
      const path = pathOf(route, alices.ids)
      const first = Page.parse((await service.alice.get(path)).body)
      const far = Page.parse((await service.alice.get(`${path}?page=1000000&pageSize=100`)).body)
      expect(first).toMatchObject({ page: 1, pageSize: 50, totalPages: Math.ceil(first.totalCount / 50) })
      expect(far).toMatchObject({ items: [], totalCount: first.totalCount, page: 1_000_000, pageSize: 100 })
    }
  })
})

describe('methods', () => {
  /** Header fields that are not compared. A stream without a body has no transfer encoding. */
  const UNCOMPARED = new Set(['date', 'transfer-encoding', 'creel-trace-id'])

  test('a GET that is right answers as described, and HEAD the same without a body', async () => {
    const query: Readonly<Record<string, string>> = {
      'watchdogs.suggest': `?endpointId=${alices.ids.endpointId}`,
      'watchdogs.labels': `?endpointId=${alices.ids.endpointId}`,
      'requests.export': '?format=curl',
      'replays.report': '?format=md',
    }
    expect(
      await walk(reads, async (route) => {
        const path = pathOf(route, alices.ids) + (query[route.name] ?? '')
        const get = await service.alice.get(path)
        const head = await service.alice.call('HEAD', path)
        const lines = (answer: Answer) =>
          JSON.stringify([answer.status, [...answer.headers].filter(([name]) => !UNCOMPARED.has(name))])
        return [
          ...(get.status === 200 ? [] : [`${route.path}: ${get.status} ${get.text}`]),
          ...audit.faultsOf(route, get),
          ...(lines(head) === lines(get) && head.text === ''
            ? []
            : [`${route.path}: HEAD ${lines(head)} ≠ ${lines(get)}`]),
        ]
      }),
    ).toEqual([])
  })

  test('one that a path does not have answers 404, and 401 without a key', async () => {
    const paths = Map.groupBy(ROUTES, (route) => pathOf(route, alices.ids))
    const faults: string[] = []
    await forgetFailures()
    for (const [path, routes] of paths) {
      const declared = new Set<string>(routes.map(({ method }) => method))
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
        // This path matches the parameter of a sibling: for DELETE, the last part of `…/requests/await` is a request
        // id.
        const taken = ROUTES.some((route) => route.method === method && matches(route, path))
        if (declared.has(method) || taken) continue
        const answer = await service.alice.call(method, path)
        if (answer.status !== 404 || !answer.text.includes('"not_found"'))
          faults.push(`${method} ${path}: ${answer.status}`)
        // Only one method a path: an address may send 600 failing calls a minute.
        if (method !== 'PROPFIND') continue
        const stranger = await service.bob.call(method, path)
        if (stranger.status !== 401) faults.push(`${method} ${path} without a key: ${stranger.status}`)
      }
    }
    expect(faults).toEqual([])
  })

  function matches(route: Route, path: string): boolean {
    const pattern = new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
    return pattern.test(path)
  }
})

describe('unknown routes', () => {
  beforeAll(forgetFailures)

  const UNDER_V1 = [
    '/api/v1',
    '/api/v1/',
    '/api/v1/nothing',
    '/api/v1/endpoints/x/nothing',
    '/api/v1/me/x',
    '/api/v1/%',
  ]
  const BESIDE_V1 = ['/api/v2/me', '/api/v10', '/api/v1x']
  const ELSEWHERE = ['/', '/api', '/nothing', '/openapi']

  test.each(UNDER_V1)('%s answers 404 to a key and 401 without', async (path) => {
    const known = await service.alice.get(path)
    expect(known).toMatchObject({ status: 404, body: { code: 'not_found', status: 404 } })
    expect(known.headers.get('content-type')).toBe('application/problem+json')
    expect(await service.bob.get(path)).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
  })

  test('a change at a path that ends in a slash is one, as a deletion with an empty id is', async () => {
    const endpoint = await service.alice.endpoint()
    const { id } = await endpoint.capture({ body: 'kept' })
    for (const method of ['DELETE', 'POST']) {
      expect(await service.alice.call(method, endpoint.at('/requests/'))).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      })
    }
    expect(await service.alice.get(endpoint.at(`/requests/${id}`))).toMatchObject({ status: 200 })
    expect(await service.alice.get(endpoint.at('/requests/'))).toMatchObject({ status: 200 })
  })

  test.each(BESIDE_V1)('%s answers 404 without a key, too', async (path) => {
    const answer = await service.bob.get(path)
    expect(answer).toMatchObject({ status: 404, body: { code: 'not_found', status: 404 } })
  })

  test.each(ELSEWHERE)('%s answers a plain 404', async (path) => {
    const answer = await service.bob.get(path)
    expect(answer.status).toBe(404)
    expect(answer.body).toBeUndefined()
  })
})

describe('the traceId', () => {
  test("is the caller's when it sends a valid traceparent, else a new one each time", async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
    const traced = { headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01` } }
    expect((await service.alice.get('/api/v1/nothing', traced)).body).toMatchObject({ traceId })
    const wrong = { headers: { traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01` } }
    const TraceId = z.object({ traceId: z.string().regex(/^[0-9a-f]{32}$/) })
    const seen = new Set<string>()
    for (const options of [wrong, wrong, {}]) {
      seen.add(TraceId.parse((await service.alice.get('/api/v1/nothing', options)).body).traceId)
    }
    expect(seen.size).toBe(3)
    expect(seen.has('0'.repeat(32))).toBe(false)
  })
})
