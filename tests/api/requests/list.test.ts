import { beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { attemptsEnded } from '../../support/attempts.ts'
import type { TestEndpoint } from '../../support/client.ts'
import { wrongParts } from '../../support/problems.ts'
import { startReceiver } from '../../support/receiver.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
let endpoint: TestEndpoint

const Page = z.object({
  items: z.array(z.looseObject({ id: z.int(), path: z.string() })),
  totalCount: z.int(),
  page: z.int(),
  pageSize: z.int(),
  totalPages: z.int(),
})

/** Paths of the requests that a query finds, newest first. Every capture of this file has a unique path. */
async function find(query: string): Promise<readonly string[]> {
  const page = await service.alice.expect(service.alice.get(endpoint.at(`/requests?${query}`)), Page)
  return page.items.map(({ path }) => path)
}

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000 } })
  endpoint = await service.alice.endpoint({ name: 'search' })
  await endpoint.capture({ suffix: '/json', body: '{"type":"invoice.paid","note":"Zürich ÉCOLE 100%"}' })
  await endpoint.capture({ suffix: '/get?colour=Red', method: 'GET' })
  await endpoint.capture({
    suffix: '/put',
    method: 'PUT',
    // The second value is sent as UTF-8 bytes.
    headers: { 'X-Tenant': 'Acme_Corp', 'X-City': Buffer.from('KÖLN').toString('latin1') },
    body: 'plain text',
  })
  await endpoint.capture({
    suffix: '/binary',
    body: new Uint8Array([0, 1, 2, 0x6e, 0x65, 0x65, 0x64, 0x6c, 0x65]),
  })
  await endpoint.capture({ suffix: '/event', headers: { 'X-GitHub-Event': 'push' }, body: '{"ref":"main"}' })
})

describe('GET /api/v1/endpoints/{endpointId}/requests', () => {
  test('lists newest first, without bodies', async () => {
    expect(await find('')).toEqual(['/event', '/binary', '/put', '/get', '/json'])
    const { text } = await service.alice.get(endpoint.at('/requests'))
    expect(text).not.toMatch(/"(body|rawHeaders|headers)":/)
  })

  test.each<[string, readonly string[]]>([
    ['method=get', ['/get']],
    ['method=PUT', ['/put']],
    ['method=REPORT', []],
    ['state=NotAttempted', ['/event', '/binary', '/put', '/get', '/json']],
    ['state=Succeeded', []],
    ['verification=none', ['/event', '/binary', '/put', '/get', '/json']],
    ['verification=verified', []],
    ['label=push', ['/event']],
    ['label=invoice.paid', ['/json']],
    ['label=PUSH', []],
    ['q=ZÜRICH', ['/json']],
    ['q=école', ['/json']],
    ['q=ÉCOLE', ['/json']],
    ['q=köln', ['/put']],
    ['q=KÖLN', ['/put']],
    ['q=100%25', ['/json']],
    ['q=red', ['/get']],
    ['q=acme_corp', ['/put']],
    ['q=acmeXcorp', []],
    ['q=needle', []],
    ['q=/bin', ['/binary']],
    ['q=plain&method=put', ['/put']],
    ['q=plain&method=get', []],
    ['method=&page=1', []],
  ])('%s', async (query, paths) => {
    if (query.startsWith('method=&')) {
      expect(wrongParts(await service.alice.get(endpoint.at(`/requests?${query}`)))).toEqual([
        '?method too_short',
      ])
      return
    }
    expect(await find(query)).toEqual([...paths])
  })

  test('since is inclusive, until is not', async () => {
    const [newest, , , , oldest] = await endpoint.requests()
    if (newest === undefined || oldest === undefined) throw new Error('Five were captured.')
    expect(await find(`since=${newest.receivedAt}`)).toEqual(['/event'])
    expect(await find(`until=${newest.receivedAt}`)).toEqual(['/binary', '/put', '/get', '/json'])
    expect(await find(`since=${oldest.receivedAt}&until=${oldest.receivedAt}`)).toEqual([])
    const offset = encodeURIComponent(newest.receivedAt.replace('Z', '+00:00'))
    expect(await find(`since=${offset}`)).toEqual(['/event'])
    // The bound is finer than stored times.
    expect(await find(`since=${newest.receivedAt.replace('Z', '0001Z')}`)).toEqual([])
    expect(await find(`until=${newest.receivedAt.replace('Z', '0001Z')}`)).toHaveLength(5)
  })

  test('a date alone is its midnight, and seconds may be left out', async () => {
    const [newest] = await endpoint.requests('pageSize=1')
    const day = String(newest?.receivedAt).slice(0, 10)
    const next = new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)
    expect(await find(`since=${day}&until=${next}`)).toHaveLength(5)
    expect(await find(`until=${day}`)).toEqual([])
    expect(await find(`since=${next}T00:00Z`)).toEqual([])
    expect(await find(`since=${day}T00:00Z&until=${next}T02:00%2B02:00`)).toHaveLength(5)
  })

  test('afterId answers newer ones only, also when it is of nobody', async () => {
    const ids = (await endpoint.requests()).map(({ id }) => id)
    expect(await find(`afterId=${ids[2]}`)).toEqual(['/event', '/binary'])
    expect(await find(`afterId=${ids[0]}`)).toEqual([])
    expect((await find('afterId=0')).length).toBe(5)
    for (const far of ['9007199254740991', '9007199254740993', '9223372036854775807'])
      expect(await find(`afterId=${far}`)).toEqual([])
    const attempts = endpoint.at('/deliveries?requestId=9223372036854775807')
    expect((await service.alice.get(attempts)).body).toMatchObject({ items: [], totalCount: 0 })
  })

  test('pages hold the whole count of what the filters match', async () => {
    const page = await service.alice.expect(
      service.alice.get(endpoint.at('/requests?verification=none&page=2&pageSize=2')),
      Page,
    )
    expect(page).toMatchObject({ totalCount: 5, page: 2, pageSize: 2, totalPages: 3 })
    expect(page.items.map(({ path }) => path)).toEqual(['/put', '/get'])
    const past = await service.alice.expect(
      service.alice.get(endpoint.at('/requests?method=put&page=9')),
      Page,
    )
    expect(past).toMatchObject({ items: [], totalCount: 1, totalPages: 1 })
  })

  test.each<[string, string]>([
    ['state=succeeded', '?state unknown_value'],
    ['verification=maybe', '?verification unknown_value'],
    ['since=yesterday', '?since bad_format'],
    ['until=2026-13-01T00:00:00Z', '?until bad_format'],
    ['since=2026-02-30', '?since bad_format'],
    ['since=2026-01', '?since bad_format'],
    ['until=2026-01-01T10:00', '?until bad_format'],
    ['until=2026-01-01T10Z', '?until bad_format'],
    ['afterId=-1', '?afterId out_of_range'],
    ['afterId=abc', '?afterId type'],
    ['afterId=9223372036854775808', '?afterId out_of_range'],
    ['page=99999999999999999999', '?page out_of_range'],
    ['page=-99999999999999999999', '?page out_of_range'],
    ['afterId=1.5', '?afterId type'],
    ['q=', '?q too_short'],
    [`q=${'x'.repeat(201)}`, '?q too_long'],
    ['q=a%00b', '?q not_allowed'],
    [`label=${'x'.repeat(201)}`, '?label too_long'],
    [`method=${'x'.repeat(33)}`, '?method too_long'],
  ])('%s answers 400', async (query, part) => {
    expect(wrongParts(await service.alice.get(endpoint.at(`/requests?${query}`)))).toEqual([part])
  })

  test('every wrong parameter is named at once', async () => {
    const answer = await service.alice.get(endpoint.at('/requests?page=0&state=x&afterId=y'))
    expect([...wrongParts(answer)].sort()).toEqual([
      '?afterId type',
      '?page out_of_range',
      '?state unknown_value',
    ])
  })
})

describe('GET /api/v1/endpoints/{endpointId}/requests/{requestId}', () => {
  test('answers the whole request', async () => {
    const [newest] = await endpoint.requests('q=/get')
    const { body } = await service.alice.get(endpoint.at(`/requests/${newest?.id}`))
    expect(body).toMatchObject({
      method: 'GET',
      path: '/get',
      queryString: 'colour=Red',
      query: { colour: ['Red'] },
      url: `${endpoint.url}/get?colour=Red`,
      body: null,
      sizeBytes: 0,
      deliveries: [],
      verification: null,
    })
  })

  test('lists its deliveries in the order of the actions, however they went', async () => {
    await using good = await startReceiver()
    await using bad = await startReceiver({ status: 500 })
    const mine = await service.alice.endpoint()
    for (const url of [good.url, bad.url, good.url])
      await service.alice.post(mine.at('/actions'), { kind: 'forward', url })
    const { id } = await mine.capture()
    await attemptsEnded(service, mine, 3)
    const { body } = await service.alice.get(mine.at(`/requests/${id}`))
    expect(body).toMatchObject({
      deliveries: [{ state: 'Succeeded' }, { state: 'Failed' }, { state: 'Succeeded' }],
    })
  })
})
