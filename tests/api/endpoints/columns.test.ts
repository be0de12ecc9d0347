import { beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { attemptsEnded } from '../../support/attempts.ts'
import type { TestEndpoint } from '../../support/client.ts'
import { openEvents } from '../../support/eventReader.ts'
import { eventually } from '../../support/eventually.ts'
import { wrongParts } from '../../support/problems.ts'
import { startReceiver } from '../../support/receiver.ts'
import { startService, type TestService } from '../../support/service.ts'

/** Columns of an endpoint: values of the body that lists of requests show. */

let service: TestService

beforeAll(async () => {
  service = await startService()
})

const Row = z.looseObject({ id: z.int(), columns: z.record(z.string(), z.string()) })
const listed = async (endpoint: TestEndpoint, query = '') =>
  z.array(Row).parse(await endpoint.requests(query))
const columnsOf = async (endpoint: TestEndpoint) => (await listed(endpoint)).map(({ columns }) => columns)

describe('columns of an endpoint', () => {
  const columns = ['body.amount', 'body.items[0].name', 'body.paid']

  test('are read at the capture, with all digits, and shown in lists, details and streams', async () => {
    const endpoint = await service.alice.endpoint({ columns })
    expect((await service.alice.get(endpoint.at(''))).body).toMatchObject({ columns })
    await using stream = await openEvents(service.alice, endpoint.at('/requests/stream'))
    const { id } = await endpoint.capture({
      body: '{"amount":1732867200.123456789,"items":[{"name":"ü"}],"paid":true}',
    })
    const values = { 'body.amount': '1732867200.123456789', 'body.items[0].name': 'ü', 'body.paid': 'true' }
    expect(await listed(endpoint)).toMatchObject([{ id, columns: values }])
    expect(await listed(endpoint, 'q=amount')).toMatchObject([{ id, columns: values }])
    expect((await service.alice.get(endpoint.at(`/requests/${id}`))).body).toMatchObject({ columns: values })
    const Event = z.looseObject({ requests: z.array(Row).optional() })
    await stream.until((events) =>
      events.some(({ data }) =>
        Event.parse(data).requests?.some((row) => row.id === id && row.columns['body.paid'] === 'true'),
      ),
    )
    // Long texts are cut; lists, objects and what is absent have no value.
    await endpoint.capture({ body: JSON.stringify({ amount: 'x'.repeat(500), items: 1, paid: [1] }) })
    await endpoint.capture({ body: 'no json' })
    expect((await columnsOf(endpoint)).slice(0, 2)).toEqual([{}, { 'body.amount': 'x'.repeat(80) }])
  })

  test('that are new are filled in for the newest requests; other requests keep what they have', async () => {
    const endpoint = await service.alice.endpoint()
    await endpoint.capture({ body: '{"amount":7}' })
    expect(await columnsOf(endpoint)).toEqual([{}])
    expect((await service.alice.patch(endpoint.at(''), { columns: ['body.amount'] })).status).toBe(200)
    expect(await columnsOf(endpoint)).toEqual([{ 'body.amount': '7' }])
    await service.alice.patch(endpoint.at(''), { columns: [] })
    expect(await columnsOf(endpoint)).toEqual([{}])
    await endpoint.capture({ body: '{"amount":8}' })
    expect(await columnsOf(endpoint)).toEqual([{}, {}])
  })

  test('show what is stored: nothing of what rules took out, and nothing of an encrypted request', async () => {
    const storeRules = [{ version: 1, name: 'Card', steps: [{ op: 'remove', paths: ['body.card'] }] }]
    const redacting = await service.alice.endpoint({ columns: ['body.card', 'body.n'], storeRules })
    await redacting.capture({ body: '{"card":"4242","n":1}' })
    expect(await columnsOf(redacting)).toEqual([{ 'body.n': '1' }])
    const sealed = await service.alice.endpoint({ columns: ['body.n'], encryptBodies: true })
    await sealed.capture({ body: '{"n":1}' })
    await service.alice.patch(sealed.at(''), { columns: ['body.n', 'body.m'] })
    expect(await columnsOf(sealed)).toEqual([{}])
    // Requests that are encrypted later lose theirs.
    const later = await service.alice.endpoint({ columns: ['body.n'] })
    await later.capture({ body: '{"n":1}' })
    expect(await columnsOf(later)).toEqual([{ 'body.n': '1' }])
    await service.alice.patch(later.at(''), { encryptBodies: true })
    await eventually('the encryption', async () => {
      await service.runJob('endpoints.seal', {})
      return (await columnsOf(later)).every((values) => Object.keys(values).length === 0)
    })
  })

  test('are at most three paths of values in the body', async () => {
    const refused = async (paths: unknown) =>
      wrongParts(await service.alice.post('/api/v1/endpoints', { columns: paths }))
    expect(await refused(['body.a', 'body.b', 'body.c', 'body.d'])).toEqual(['#/columns too_many'])
    expect(await refused(['headers.authorization', 'body', 'body.*', 'body..x'])).toEqual([
      '#/columns too_many',
    ])
    expect(await refused(['headers.authorization', 'body'])).toEqual([
      '#/columns/0 bad_path',
      '#/columns/1 bad_path',
    ])
  })

  test('come with an import, and change nothing of a delivery', async () => {
    await using receiver = await startReceiver()
    const endpoint = await service.alice.endpoint({ columns: ['body.n'] })
    await service.alice.post(endpoint.at('/actions'), { kind: 'forward', url: receiver.url })
    await endpoint.capture({ body: '{"n":1}' })
    await attemptsEnded(service, endpoint)
    expect((await receiver.take(1))[0]?.body.toString()).toBe('{"n":1}')
    const exported = await service.alice.get(endpoint.at('/requests/export?format=ndjson'))
    const other = await service.alice.endpoint({ columns: ['body.n'] })
    await other.importLines(exported.text)
    await eventually('the import', async () => (await columnsOf(other))[0]?.['body.n'] === '1')
  })
})
