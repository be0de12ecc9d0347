import { beforeAll, describe, expect, test } from 'bun:test'
import { rehearsalMatchers, rehearse } from 'creel-client/testing'
import type { TestEndpoint } from '../support/client.ts'
import { startService, type TestService } from '../support/service.ts'

/** `rehearse()` of creel-client/testing: captured requests against a handler in this process. */

let service: TestService
let endpoint: TestEndpoint
let creel: { url: string; key: string }

const PACE = { perSecond: 1000 }

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000 } })
  creel = { url: service.baseUrl, key: service.alice.key }
  endpoint = await service.alice.endpoint({ name: 'rehearsed' })
  for (let id = 1; id <= 5; id += 1)
    await endpoint.capture({ body: JSON.stringify({ id }), suffix: '/orders' })
})

describe('rehearse', () => {
  test('finds a handler that is not idempotent, and passes the corrected one', async () => {
    const handlerWith = (paysTwice: boolean) => {
      const paid = new Set<number>()
      return async (request: Request) => {
        expect(new URL(request.url).pathname).toBe('/orders')
        expect(request.headers.get('creel-rehearsal')).not.toBeNull()
        const { id }: { id: number } = JSON.parse(await request.text())
        const isNew = !paid.has(id)
        paid.add(id)
        return Response.json({ id }, { status: paysTwice && !isNew ? 409 : 200 })
      }
    }
    const terms = {
      creel,
      endpointId: endpoint.id,
      pace: PACE,
      faults: { duplicate: 1 },
      compare: { with: 'first' },
    }
    const broken = await rehearse({ ...terms, to: handlerWith(true) })
    expect(broken.isFine).toBe(false)
    expect(broken.report).toContain('5 differ')
    expect(broken.report).toContain('status: 200 became 409')
    expect(() => broken.assertFine()).toThrow('5 differ')
    expect(rehearsalMatchers.toBeFine(broken).pass).toBe(false)
    const fine = await rehearse({ ...terms, to: handlerWith(false) })
    expect(fine.report).toStartWith('10 of 10 sent, 0 differ')
    fine.assertFine()
    expect(rehearsalMatchers.toBeFine(fine).pass).toBe(true)
  })

  test('of a server that does not answer is a result', async () => {
    const to = () => Promise.reject(new Error('the handler broke'))
    const { run, isFine, report } = await rehearse({ creel, endpointId: endpoint.id, pace: PACE, to })
    expect(run).toMatchObject({ state: 'done', counts: { done: 5, errored: 0 } })
    expect(isFine).toBe(false)
    expect(report).toStartWith('5 of 5 sent, 5 differ, 5 unanswered')
    expect(report.match(/the handler broke/g)).toHaveLength(5)
  })

  test('of a handler that hangs, of a long answer and of unusual headers is one as well', async () => {
    const one = await service.alice.endpoint({ name: 'unusual' })
    const name = 'Zoë → Łódź'
    for (const wish of ['hang', 'long', 'echo'])
      await one.capture({ body: wish, headers: { 'X-Name': Buffer.from(name).toString('latin1') } })
    const seen: (string | null)[] = []
    const to = async (request: Request) => {
      seen.push(Buffer.from(request.headers.get('x-name') ?? '', 'latin1').toString())
      const wish = await request.text()
      if (wish === 'hang') return new Promise<Response>(() => undefined)
      return new Response(wish === 'long' ? 'x'.repeat(900_000) : wish)
    }
    const { run } = await rehearse({ creel, endpointId: one.id, pace: PACE, timeoutSeconds: 3, to })
    expect(run).toMatchObject({ state: 'done', counts: { done: 3, errored: 0 } })
    expect(seen).toEqual([name, name, name])
    const { body } = await service.alice.get(one.at(`/replays/${run.id}/results`))
    const [hung, long, echo] = Object(body).items
    expect(hung).toMatchObject({ statusCode: null, error: 'no answer within 3 s' })
    expect(long).toMatchObject({ statusCode: 200, error: null })
    expect(long.body).toHaveLength(256 * 1024)
    expect(echo).toMatchObject({ statusCode: 200, body: 'echo' })
  })

  test('sends what is due beside a slow answer, and lists what differs in order', async () => {
    const slow = Promise.withResolvers<void>()
    const to = async (request: Request) => {
      const { id }: { id: number } = JSON.parse(await request.text())
      if (id === 5) slow.resolve()
      if (id === 1) await slow.promise
      return new Response(null, { status: 200 })
    }
    const terms = { creel, endpointId: endpoint.id, pace: { perSecond: 20 }, concurrency: 2 }
    const fine = await rehearse({ ...terms, to })
    fine.assertFine()
    const second = await rehearse({
      ...terms,
      compare: { with: fine.run.id },
      to: async (request) => {
        const { id }: { id: number } = JSON.parse(await request.text())
        return new Response(null, { status: id % 2 === 0 ? 500 : 404 })
      },
    })
    expect(second.differing.map(({ position, outcome }) => [position, outcome])).toEqual([
      [1, 'changed'],
      [2, 'failed'],
      [3, 'changed'],
      [4, 'failed'],
      [5, 'changed'],
    ])
  })

  test('rejects with the error of a report, and leaves no replay behind', async () => {
    const broken = {
      ...creel,
      fetch: (url: string, init: RequestInit) =>
        url.endsWith('/answer') ? Promise.reject(new Error('unplugged')) : fetch(url, init),
    }
    const refused = rehearse({
      creel: broken,
      endpointId: endpoint.id,
      pace: PACE,
      concurrency: 4,
      to: () => new Response(),
    })
    expect(await refused.catch((error: Error) => error.message)).toContain('unplugged')
    const { body } = await service.alice.get(endpoint.at('/replays'))
    expect(Object(body).items[0].state).toBe('cancelled')
  })

  test('is not fine if a baseline was named and there is none', async () => {
    const compare = { with: 'recorded' }
    const to = () => new Response()
    const unknown = await rehearse({ creel, endpointId: endpoint.id, pace: PACE, compare, to })
    expect(unknown.isFine).toBe(false)
    expect(unknown.report).toStartWith('5 of 5 sent, 0 differ, 0 unanswered, 5 not compared')
  })

  test('is refused when nothing matches', async () => {
    const select = { filter: { label: 'no.such' } }
    const refused = rehearse({ creel, endpointId: endpoint.id, select, to: () => new Response() })
    expect(await refused.catch((error: Error) => error.message)).toContain('No stored request matches')
  })
})
