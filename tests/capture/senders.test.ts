import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { z } from 'zod'
import type { TestEndpoint } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { startService, type TestService } from '../support/service.ts'

const SECRET = 'a secret that nobody guesses'

let service: TestService
beforeAll(async () => {
  service = await startService({ parts: ['gateway'], trustedProxies: ['127.0.0.1'] })
})
afterAll(async () => {
  await service.stop()
})

const Stats = z.looseObject({
  traffic: z.looseObject({
    refusedCount: z.int(),
    lastRefusedAt: z.string().nullable(),
    lastRefusal: z.string().nullable(),
  }),
})

/** What is told of refused captures, once so many are counted. */
const refusals = (endpoint: TestEndpoint, count: number) =>
  eventually(`${count} refusals`, async () => {
    const { traffic } = await endpoint.client.expect(endpoint.client.get(endpoint.at('/stats')), Stats)
    return traffic.refusedCount === count && traffic
  })

const from = (address: string) => ({ headers: { 'X-Forwarded-For': address } })

describe('rejectUnverified', () => {
  test('stores what is verified only; a stranger is answered 401, counted, and leaves a trace', async () => {
    const endpoint = await service.alice.endpoint({
      signatureHeader: 'X-Signature',
      signingSecret: SECRET,
      rejectUnverified: true,
    })
    const body = '{"paid":true}'
    const signature = createHmac('sha256', SECRET).update(body).digest('hex')
    expect((await endpoint.send({ body, headers: { 'X-Signature': signature } })).status).toBe(200)
    const forged = await endpoint.send({
      body,
      headers: { 'X-Signature': 'ab'.repeat(32), 'X-Forwarded-For': '203.0.113.9' },
    })
    expect({ status: forged.status, text: await forged.text() }).toEqual({
      status: 401,
      text: '{"error":"unverified"}',
    })
    expect((await endpoint.send({ body })).status).toBe(401)
    expect(await endpoint.requests()).toHaveLength(1)
    expect(await refusals(endpoint, 2)).toMatchObject({
      lastRefusedAt: expect.any(String),
      lastRefusal: expect.stringMatching(/: ./),
    })
    // In force for the very next capture.
    await service.alice.patch(endpoint.at(''), { rejectUnverified: false })
    expect((await endpoint.send({ body })).status).toBe(200)
  })

  test('asks for nothing where nothing is to be checked', async () => {
    const endpoint = await service.alice.endpoint({ rejectUnverified: true })
    expect((await endpoint.send()).status).toBe(200)
  })
})

describe('allowedSenders', () => {
  test('takes captures from these networks only; others are answered 403, counted, and leave a trace', async () => {
    const endpoint = await service.alice.endpoint({ allowedSenders: ['198.51.100.7/24', '2001:db8::1'] })
    const read = await service.alice.get(endpoint.at(''))
    expect(read.body).toMatchObject({ allowedSenders: ['198.51.100.0/24', '2001:db8::1/128'] })
    expect((await endpoint.send(from('198.51.100.200'))).status).toBe(200)
    expect((await endpoint.send(from('2001:db8::1'))).status).toBe(200)
    const foreign = await endpoint.send(from('198.51.101.1'))
    expect({ status: foreign.status, text: await foreign.text() }).toEqual({
      status: 403,
      text: '{"error":"sender_not_allowed"}',
    })
    expect((await endpoint.send(from('2001:db8::2'))).status).toBe(403)
    expect(await endpoint.requests()).toHaveLength(2)
    expect(await refusals(endpoint, 2)).toMatchObject({ lastRefusal: '2001:db8::2: not an allowed sender' })
    await service.alice.patch(endpoint.at(''), { allowedSenders: [] })
    expect((await endpoint.send(from('198.51.101.1'))).status).toBe(200)
  })

  test('what is no network is refused, all of it at once', async () => {
    const answer = await service.alice.post('/api/v1/endpoints', {
      allowedSenders: ['10.0.0.0/8', 'example.com', '10.0.0.0/40'],
    })
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '#/allowedSenders/1' }, { pointer: '#/allowedSenders/2' }],
    })
  })
})
