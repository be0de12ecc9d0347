import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { AppRouter } from '@creel/core'
import { createTRPCClient, httpBatchStreamLink } from '@trpc/client'
import { pino } from 'pino'
import { TestBrowser } from '../support/browser.ts'
import type { TestEndpoint } from '../support/client.ts'
import { startService, type TestService } from '../support/service.ts'

/** The limit of failed calls for callers without a good key. */

const WRONG_CALLS = 600

let service: TestService
let endpoint: TestEndpoint
const errorLines: string[] = []

beforeAll(async () => {
  const log = pino({ level: 'error' }, { write: (line: string) => errorLines.push(line) })
  service = await startService({ parts: ['gateway'], log })
  endpoint = await service.charlie.endpoint()
})

afterAll(() => {
  // Calls without a good key are not errors of the service.
  expect(errorLines).toEqual([])
})

/** Makes `count` calls, some at once; returns the statuses. */
async function calls(count: number, call: () => Promise<Response>): Promise<number[]> {
  const statuses: number[] = []
  const caller = async () => {
    while (statuses.length < count) {
      const place = statuses.push(0) - 1
      const answer = await call()
      await answer.bytes()
      statuses[place] = answer.status
    }
  }
  await Promise.all(Array.from({ length: 20 }, caller))
  return statuses
}

const me = (key: string) =>
  fetch(`${service.baseUrl}/api/v1/me`, { headers: { Authorization: `Bearer ${key}` } })
/** Calls a service at its port, whatever its base URL is. */
function elsewhere({ running }: TestService) {
  const url = `http://127.0.0.1:${running.port}/trpc/me.get?input={}`
  return {
    stranger: () => fetch(url),
    withCookie: async (cookie: string) =>
      (await fetch(url, { headers: { Cookie: cookie, 'Sec-Fetch-Site': 'same-origin' } })).status,
  }
}

const waitOf = (answer: Response) => Number(answer.headers.get('retry-after'))

describe('calls without a good key', () => {
  test('are refused once there were too many, until the time that was told; good keys never are', async () => {
    // The minute of an address must not end before all of its calls are made, however slow the machine is.
    const refused = await service.clock.at(service.clock.now(), async () => {
      // The service has this key in its cache, because it called before.
      expect((await me(service.alice.key)).status).toBe(200)
      const browser = new TestBrowser(service)
      expect((await browser.signIn({ key: service.alice.key })).status).toBe(204)
      const statuses = await calls(WRONG_CALLS, () => fetch(`${service.baseUrl}/api/v1/me`))
      expect(new Set(statuses)).toEqual(new Set([401]))

      const refused = await fetch(`${service.baseUrl}/api/v1/endpoints`)
      expect(refused.status).toBe(429)
      expect(await refused.json()).toMatchObject({ code: 'rate_limited', status: 429 })
      expect(waitOf(refused)).toBeWithin(1, 61)
      expect((await me(`creel_live_${randomUUID()}`)).status).toBe(429)
      // Monitoring may come from the same address.
      for (const path of ['/healthz', '/readyz', '/metrics', '/llms.txt', '/docs']) {
        expect([path, (await fetch(service.baseUrl + path)).status]).toEqual([path, 200])
      }
      expect((await fetch(`${service.baseUrl}/nothing`)).status).toBe(429)
      expect((await me(service.alice.key)).status).toBe(200)
      // This key is not in the cache: it is looked up, together with all others that wait.
      const newcomer = await service.newClient()
      expect((await me(newcomer.key)).status).toBe(200)
      expect((await me(service.bob.key)).status).toBe(429)
      const signIn = (key: string) => new TestBrowser(service).signIn({ key })
      expect((await signIn((await service.newClient()).key)).status).toBe(204)
      expect((await signIn(service.bob.key)).status).toBe(429)
      // A signed-in browser is recognised by its session, also in a process that it never called.
      expect((await browser.query('me.get')).status).toBe(200)
      const second = await startService({
        parts: ['gateway'],
        database: service.database,
        clock: service.clock,
        secretKey: service.secretKey,
        baseUrl: service.baseUrl,
      })
      const there = elsewhere(second)
      await calls(WRONG_CALLS, there.stranger)
      expect(await there.withCookie(browser.cookie)).toBe(200)
      expect(await there.withCookie(browser.cookie.replace(/=.*/, '=nobody'))).toBe(429)
      await second.stop()
      return refused
    })
    await service.clock.advance(waitOf(refused) * 1000)
    expect((await me('wrong')).status).toBe(401)
  })
})

describe('captures for nobody', () => {
  const toNobody = () => fetch(`${service.captureUrl}/hook/${randomUUID()}`, { method: 'POST', body: '{}' })

  test('are refused once there were too many; captures for somebody never are', async () => {
    await service.clock.advance(60_000)
    const refused = await service.clock.at(service.clock.now(), async () => {
      expect((await endpoint.send()).status).toBe(200)
      expect(new Set(await calls(WRONG_CALLS, toNobody))).toEqual(new Set([404]))

      const refused = await toNobody()
      expect({ status: refused.status, text: await refused.text() }).toEqual({
        status: 429,
        text: '{"error":"rate_limited"}',
      })
      expect(waitOf(refused)).toBeWithin(1, 61)
      expect((await endpoint.send()).status).toBe(200)
      const unseen = await service.charlie.endpoint()
      expect((await unseen.send()).status).toBe(200)
      return refused
    })
    await service.clock.advance(waitOf(refused) * 1000)
    expect((await toNobody()).status).toBe(404)
  })
})

describe('behind a proxy that is not declared', () => {
  const lines: string[] = []
  const warnings = () => lines.filter((line) => line.includes('CREEL_TRUSTED_PROXIES'))
  const logTo = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) })

  test('wrong calls of all clients are answered as such for longer, and the log warns once', async () => {
    const proxied = await startService({ parts: ['gateway'], log: logTo })
    const headers = { 'X-Forwarded-For': '203.0.113.5' }
    const keyless = () => fetch(`${proxied.baseUrl}/api/v1/me`, { headers })
    const toNobody = () => fetch(`${proxied.captureUrl}/hook/${randomUUID()}`, { method: 'POST', headers })
    expect((await (await proxied.alice.endpoint()).send()).status).toBe(200)
    expect(warnings()).toEqual([])
    expect(new Set(await calls(WRONG_CALLS, keyless))).toEqual(new Set([401]))
    expect(new Set(await calls(WRONG_CALLS, toNobody))).toEqual(new Set([404]))
    expect((await keyless()).status).toBe(401)
    expect(warnings()).toHaveLength(1)
    await proxied.stop()
  })

  test('nothing is said where proxies are trusted', async () => {
    lines.length = 0
    const declared = await startService({ parts: ['gateway'], log: logTo, trustedProxies: ['192.0.2.0/24'] })
    const answer = await fetch(`${declared.baseUrl}/api/v1/me`, {
      headers: { 'X-Forwarded-For': '203.0.113.5' },
    })
    expect(answer.status).toBe(401)
    expect(warnings()).toEqual([])
    await declared.stop()
  })

  test('a proxy that sends other fields is noticed, too', async () => {
    lines.length = 0
    const proxied = await startService({ parts: ['gateway'], log: logTo })
    const headers = { Forwarded: 'for=203.0.113.5' }
    expect((await fetch(`${proxied.baseUrl}/api/v1/me`, { headers })).status).toBe(401)
    expect((await fetch(`${proxied.baseUrl}/api/v1/me`, { headers })).status).toBe(401)
    expect(warnings()).toHaveLength(1)
    await proxied.stop()
  })
})

describe('tRPC', () => {
  const trpc = (path: string, init?: RequestInit) => fetch(`${service.baseUrl}/trpc/${path}`, init)
  const keyOf = { 'content-type': 'application/json' }

  test('a mutation by GET is 405, a query by POST too', async () => {
    const answer = await trpc('endpoints.create?input={}')
    expect(answer.status).toBe(405)
    expect(await answer.json()).toMatchObject({
      error: { data: { code: 'METHOD_NOT_SUPPORTED', problem: { code: 'method_not_allowed' } } },
    })
    expect((await trpc('endpoints.list', { method: 'POST', headers: keyOf, body: '{}' })).status).toBe(405)
  })

  test('an unknown procedure, garbage and too many procedures are refused without a word in the log', async () => {
    for (const path of [
      'nothing',
      'endpoints.list?input=%7B',
      `${'a.'.repeat(20_000)}`,
      'a,'.repeat(1000),
      '%zz',
    ]) {
      expect((await trpc(path)).status).toBeWithin(400, 500)
    }
  })

  test('too many procedures get one error, not one each', async () => {
    for (const comma of [',', '%2C', '%2c']) {
      const answer = await trpc(`${`a${comma}`.repeat(10_000)}me?batch=1`, { headers: keyOf })
      expect(answer.status).toBe(400)
      const text = await answer.text()
      expect(text.length).toBeLessThan(1000)
      expect(text).toContain('A batch holds at most 20 procedures.')
    }
  })

  test('a batch of which every second comma is encoded counts as all of its procedures', async () => {
    const key = { ...keyOf, Authorization: `Bearer ${service.charlie.key}` }
    const batch = (count: number) => {
      const names = Array.from({ length: count / 2 }, () => 'me.get%2Cme.get').join(',')
      return trpc(`${names}?batch=1&input={}`, { headers: key })
    }
    expect(await (await batch(20)).json()).toHaveLength(20)
    expect((await batch(22)).status).toBe(400)
  })

  test('a path that cannot be decoded is refused like other calls that cannot be read', async () => {
    for (const method of ['GET', 'POST']) {
      const answer = await trpc('%zz%2Cme.get', { method })
      expect([answer.status, await answer.json()]).toMatchObject([
        400,
        { error: { data: { code: 'BAD_REQUEST', problem: { code: 'request_invalid' } } } },
      ])
    }
  })

  test("a body has REST's limit: by what it says, and by what comes", async () => {
    const key = { ...keyOf, Authorization: `Bearer ${service.charlie.key}` }
    const long = JSON.stringify({ name: 'x'.repeat(1_100_000) })
    const stream = new Response(long).body
    for (const body of [long, stream]) {
      const answer = await trpc('endpoints.create', { method: 'POST', headers: key, body })
      expect(answer.status).toBe(400)
      expect(await answer.json()).toMatchObject({
        error: { data: { problem: { code: 'request_invalid', detail: 'The body is over 1 MiB.' } } },
      })
    }
  })

  test('JSON that nests too deeply is refused, here and there', async () => {
    const deep = `{"name":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    const key = { ...keyOf, Authorization: `Bearer ${service.charlie.key}` }
    expect((await trpc('endpoints.create', { method: 'POST', headers: key, body: deep })).status).toBe(400)
    const query = `endpoints.list?input=${'['.repeat(50_000)}`
    expect((await trpc(query, { headers: key })).status).toBe(400)
    const path = `${service.baseUrl}/api/v1/endpoints`
    expect((await fetch(path, { method: 'POST', headers: key, body: deep })).status).toBe(400)
  })

  test('answers stream to the stock link of @trpc/client', async () => {
    const client = createTRPCClient<AppRouter>({
      links: [
        httpBatchStreamLink({
          url: `${service.baseUrl}/trpc`,
          headers: { Authorization: `Bearer ${service.charlie.key}` },
        }),
      ],
    })
    const [known, listed] = await Promise.all([client.me.get.query({}), client.endpoints.list.query({})])
    expect(known).toMatchObject({ plan: { key: 'team' } })
    expect(listed.items.map(({ id }) => id)).toContain(endpoint.id)
    const raw = await trpc('me.get?batch=1&input={}', {
      headers: { Authorization: `Bearer ${service.charlie.key}`, 'trpc-accept': 'application/jsonl' },
    })
    // An answer must have exactly one of the two.
    const framing = [raw.headers.has('content-length'), raw.headers.has('transfer-encoding')]
    expect(framing.filter(Boolean)).toHaveLength(1)
  })
})
