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

/** The counts of refused captures, once there are `count`. */
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
    // It applies to the very next capture.
    await service.alice.patch(endpoint.at(''), { rejectUnverified: false })
    expect((await endpoint.send({ body })).status).toBe(200)
  })

  test('asks for nothing where nothing is to be checked', async () => {
    const endpoint = await service.alice.endpoint({ rejectUnverified: true })
    expect((await endpoint.send()).status).toBe(200)
  })
})

describe("a provider's challenge to an endpoint that takes verified captures only", () => {
  const challenge = JSON.stringify({ type: 'url_verification', token: 't', challenge: 'c-123' })
  const guarded = () =>
    service.alice.endpoint({ provider: 'slack', signingSecret: SECRET, rejectUnverified: true })

  test('is answered, stored and counted; it is not delivered', async () => {
    const endpoint = await guarded()
    const action = { kind: 'forward', url: 'http://127.0.0.1:9/' }
    expect((await service.alice.post(endpoint.at('/actions'), action)).status).toBe(201)
    const answer = await endpoint.send({ body: challenge })
    expect({ status: answer.status, text: await answer.text() }).toMatchObject({
      status: 200,
      text: expect.stringContaining('c-123'),
    })
    expect(await endpoint.requests()).toMatchObject([{ state: 'NotAttempted', attemptCount: 0 }])
    const { traffic } = await endpoint.client.expect(endpoint.client.get(endpoint.at('/stats')), Stats)
    expect(traffic.refusedCount).toBe(0)
  })

  test('is limited like any capture', async () => {
    const endpoint = await guarded()
    await service.db
      .updateTable('endpointCounters')
      .set({ windowStartedAt: service.clock.now(), windowCount: 60_000 })
      .where('endpointId', '=', endpoint.id)
      .execute()
    expect((await endpoint.send({ body: challenge })).status).toBe(429)
    expect(await endpoint.requests()).toHaveLength(0)
  })
})

describe('an endpoint that takes no captures answers 404 whatever guards it', () => {
  const guards = {
    verified: { provider: 'slack', signingSecret: SECRET, rejectUnverified: true },
    'sent from elsewhere': { allowedSenders: ['198.51.100.0/24'] },
  }
  const ends: Readonly<Record<string, (endpoint: TestEndpoint) => Promise<unknown>>> = {
    deleted: (endpoint) => endpoint.client.delete(endpoint.at('')),
    expired: () => service.clock.advance(60_000),
    'switched off': (endpoint) => endpoint.client.patch(endpoint.at(''), { isActive: false }),
    suspended: ({ id }) =>
      service.db.updateTable('endpoints').set({ suspendedByPlan: true }).where('id', '=', id).execute(),
  }
  const challenge = JSON.stringify({ type: 'url_verification', token: 't', challenge: 'c-123' })
  for (const [guard, members] of Object.entries(guards)) {
    for (const [state, end] of Object.entries(ends)) {
      test(`${state}, not ${guard}`, async () => {
        const endpoint = await service.alice.endpoint({ ...members, ttlSeconds: 60 })
        // From now on the process has the settings in its cache.
        expect((await endpoint.send()).status).not.toBe(404)
        await end(endpoint)
        for (const body of [challenge, '{}']) {
          const answer = await endpoint.send({ body })
          expect({ status: answer.status, text: await answer.text() }).toEqual({
            status: 404,
            text: '{"error":"not_found"}',
          })
        }
      })
    }
  }
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
    // It applies to the very next capture.
    await service.alice.patch(endpoint.at(''), { allowedSenders: ['198.51.100.0/24'] })
    expect((await endpoint.send(from('198.51.101.1'))).status).toBe(403)
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
