import { beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { z } from 'zod'
import type { TestEndpoint } from '../../support/client.ts'
import { processorTime } from '../../support/processorTime.ts'
import { startService, type TestService } from '../../support/service.ts'

/** An operation of the API's description. */
const Described = z.looseObject({
  responses: z.record(
    z.string(),
    z.looseObject({ headers: z.looseObject({}).optional(), content: z.looseObject({}).optional() }),
  ),
})

let service: TestService
beforeAll(async () => {
  service = await startService()
})

const read = (endpoint: TestEndpoint, id: number, range?: string, { alice } = service) =>
  fetch(alice.baseUrl + endpoint.at(`/requests/${id}/body`), {
    headers: {
      Authorization: `Bearer ${alice.key}`,
      ...(range === undefined ? {} : { Range: range }),
    },
  })

describe('GET …/requests/{requestId}/body', () => {
  test('answers the octets as an attachment that nothing can run', async () => {
    const endpoint = await service.alice.endpoint()
    const octets = new Uint8Array([0, 255, 60, 115, 13, 10])
    const { id } = await endpoint.capture({ body: octets, headers: { 'Content-Type': 'text/html' } })
    const answer = await read(endpoint, id)
    expect(new Uint8Array(await answer.arrayBuffer())).toEqual(octets)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'accept-ranges': 'bytes',
      'content-disposition': `attachment; filename="request-${id}.bin"`,
      'content-security-policy': "default-src 'none'; sandbox",
      'content-type': 'application/octet-stream',
      'x-content-type-options': 'nosniff',
    })
  })

  test('answers a part, by header or by query', async () => {
    const endpoint = await service.alice.endpoint()
    const { id } = await endpoint.capture({ body: '0123456789' })
    const part = await read(endpoint, id, 'bytes=2-4')
    expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([
      206,
      'bytes 2-4/10',
      '234',
    ])
    const last = await service.alice.get(endpoint.at(`/requests/${id}/body?range=bytes=-3`))
    expect([last.status, last.text]).toEqual([206, '789'])
    const beyond = await read(endpoint, id, 'bytes=10-')
    expect([beyond.status, await beyond.text()]).toEqual([200, '0123456789'])
  })

  test('answers with the statuses and headers that the description names', async () => {
    const endpoint = await service.alice.endpoint()
    const { id } = await endpoint.capture({ body: '0123456789' })
    const described = z
      .object({
        body: z.object({ paths: z.record(z.string(), z.looseObject({ get: Described.optional() })) }),
      })
      .parse(await service.alice.get('/openapi/v1.json'))
    const { responses } =
      described.body.paths['/api/v1/endpoints/{endpointId}/requests/{requestId}/body']?.get ?? {}
    const asked = ['bytes=2-4', undefined, 'bytes=10-', 'lines=0-1']
    const answers = await Promise.all(asked.map((range) => read(endpoint, id, range)))
    expect(answers.map(({ status }) => status)).toEqual([206, 200, 200, 200])
    for (const { status, headers } of answers) {
      const sent = ['Accept-Ranges', 'Content-Range'].filter((name) => headers.has(name))
      const { headers: named = {}, content = {} } = responses?.[status] ?? {}
      expect(Object.keys(named)).toEqual(sent)
      expect(Object.keys(content)).toEqual(['application/octet-stream'])
    }
  })

  test('is gone with the request', async () => {
    const endpoint = await service.alice.endpoint()
    const { id } = await endpoint.capture()
    await service.alice.delete(endpoint.at(`/requests/${id}`))
    expect((await read(endpoint, id)).status).toBe(404)
  })
})

// Answers over 4 MiB are sent in chunks, shorter ones with their length.
test.each([900_000, 4_000_000])(
  'a long body of %d characters arrives as it came by every way',
  async (length) => {
    const large = await startService({ limits: { payloadBytesMax: 40_000_000 } })
    const endpoint = await large.alice.endpoint()
    const text = `x${'\u{1f60a}é"\n'.repeat(length / 5)}`
    const octets = Buffer.from(text, 'utf16le')
    const bodies = [
      { sent: text, shown: text },
      { sent: octets, shown: octets.toString('base64') },
    ]
    for (const { sent, shown } of bodies) {
      const { id } = await endpoint.capture({ body: sent })
      const detail = endpoint.at(`/requests/${id}`)
      const input = encodeURIComponent(JSON.stringify({ endpointId: endpoint.id, requestId: id }))
      // Two calls that are the same share their answer.
      const answers = await Promise.all([large.alice.get(detail), large.alice.get(detail)])
      answers.push(await large.alice.get(`${detail}?bodyBytesMax=40000000`))
      answers.push(await large.alice.get(`/trpc/requests.get?input=${input}`))
      for (const { text } of answers) expect(text.includes(JSON.stringify(shown))).toBeTrue()
      const download = await read(endpoint, id, undefined, large)
      expect(Buffer.from(sent).equals(Buffer.from(await download.arrayBuffer()))).toBeTrue()
    }
    await large.stop()
  },
)

test('a body that is longer than was asked for is left out of the detail', async () => {
  const endpoint = await service.alice.endpoint()
  const { id } = await endpoint.capture({ body: '{"a":1}' })
  const detail = async (query: string) =>
    (await service.alice.get(endpoint.at(`/requests/${id}${query}`))).body
  expect(await detail('?bodyBytesMax=6')).toMatchObject({ body: null, bodyOmitted: true, sizeBytes: 7 })
  expect(await detail('?bodyBytesMax=7')).toMatchObject({ body: '{"a":1}', bodyOmitted: false })
  expect(await detail('')).toMatchObject({ body: '{"a":1}', bodyOmitted: false, bodyKind: 'json' })
})

describe('GET …/shape', () => {
  test('names paths as conditions write them, with types, share and the newest example', async () => {
    const endpoint = await service.alice.endpoint()
    await endpoint.capture({ body: '{"type":"a","n":1.10,"list":[{"id":1},{"id":"x"}]}' })
    await endpoint.capture({
      body: '{"type":"b","odd name":null}',
      suffix: '?tenant=acme',
      headers: { 'X-Shop': 'one' },
    })
    const { body } = await service.alice.get(endpoint.at('/shape'))
    expect(body).toMatchObject({ sampleCount: 2 })
    expect(Object(body).paths).toEqual(
      expect.arrayContaining([
        { path: 'body.type', types: ['string'], share: 1, example: 'b' },
        { path: 'body["odd name"]', types: ['null'], share: 0.5, example: 'null' },
        { path: 'body.n', types: ['number'], share: 0.5, example: expect.stringMatching(/^1\.10?$/) },
        { path: 'body.list[*].id', types: ['number', 'string'], share: 0.5, example: '1' },
        { path: 'query.tenant', types: ['string'], share: 0.5, example: 'acme' },
        { path: 'headers.X-Shop', types: ['string'], share: 0.5, example: 'one' },
      ]),
    )
  })

  test('of a label, and of nothing', async () => {
    const endpoint = await service.alice.endpoint({ provider: 'stripe' })
    expect((await service.alice.get(endpoint.at('/shape'))).body).toEqual({ sampleCount: 0, paths: [] })
    await endpoint.capture({ body: '{"type":"a","only":1}' })
    await endpoint.capture({ body: '{"type":"b"}' })
    const { body } = await service.alice.get(endpoint.at('/shape?label=a&last=200'))
    expect(body).toMatchObject({ sampleCount: 1 })
    expect((await service.alice.get(endpoint.at('/shape?last=201'))).status).toBe(400)
  })

  test('member names without end do not make an answer without end', async () => {
    const endpoint = await service.alice.endpoint()
    const members = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`id${index}`, index]))
    await endpoint.capture({ body: JSON.stringify(members) })
    const { body } = await service.alice.get(endpoint.at('/shape'))
    expect(Object(body).paths).toHaveLength(500)
  })
})

test('traffic of the workspace is counted in all, and by endpoint', async () => {
  const client = await service.newClient()
  const [busy, calm] = [await client.endpoint(), await client.endpoint()]
  await client.endpoint()
  await busy.captureMany(2)
  await calm.capture()
  const { body } = await client.get('/api/v1/traffic?buckets=1')
  expect(body).toMatchObject({ buckets: [{ capturedCount: 3, failedCount: 0, rejectedCount: 0 }] })
  expect(Object(body).endpoints).toHaveLength(2)
  expect(Object(body).endpoints).toEqual(
    expect.arrayContaining([
      { endpointId: busy.id, capturedCount: 2, failedCount: 0, rejectedCount: 0, discardedCount: 0 },
      { endpointId: calm.id, capturedCount: 1, failedCount: 0, rejectedCount: 0, discardedCount: 0 },
    ]),
  )
})

test('traffic of many endpoints takes processor time by their number, not by its square', async () => {
  const MINUTES = 20
  const [few, many] = [400, 3_200]
  /** The least time of three calls in a workspace with so many endpoints that refused captures. */
  const counting = async (endpoints: number) => {
    const client = await service.newClient()
    const now = service.clock.now()
    await sql`
      with made as (
        insert into endpoints (id, workspace_id, name, is_active, response_status_code, response_content_type,
          response_headers, response_body, created_at)
        select gen_random_uuid(), ${client.workspaceId}::uuid, 'planted', true, 200, 'text/plain', '{}', '', now()
        from generate_series(1, ${endpoints}::int) returning id
      )
      insert into rejection_minutes (endpoint_id, minute, rejected_count, discarded_count)
      select made.id, date_trunc('minute', ${now}::timestamptz) - n * interval '1 minute', 2, 1
      from made cross join generate_series(1, ${MINUTES}::int) n`.execute(service.db)
    const times: number[] = []
    for (let calls = 0; calls < 3; calls += 1) {
      const spent = processorTime()
      const { body } = await client.get('/api/v1/traffic?buckets=1')
      times.push(spent())
      const counts = { capturedCount: 0, failedCount: 0, rejectedCount: 2 * MINUTES, discardedCount: MINUTES }
      expect(Object(body).endpoints).toHaveLength(endpoints)
      expect(Object(body).endpoints[0]).toMatchObject(counts)
      expect(Object(body).buckets).toMatchObject([
        { rejectedCount: endpoints * 2 * MINUTES, discardedCount: endpoints * MINUTES },
      ])
    }
    return Math.min(...times)
  }
  const least = await counting(few)
  expect((await counting(many)) / least).toBeLessThan((2.5 * many) / few)
})
