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
    const { run } = await rehearse({ creel, endpointId: endpoint.id, pace: PACE, to })
    expect(run).toMatchObject({ state: 'done', counts: { done: 5, errored: 0 } })
  })

  test('is refused when nothing matches', async () => {
    const select = { filter: { label: 'no.such' } }
    const refused = rehearse({ creel, endpointId: endpoint.id, select, to: () => new Response() })
    expect(await refused.catch((error: Error) => error.message)).toContain('No stored request matches')
  })
})
