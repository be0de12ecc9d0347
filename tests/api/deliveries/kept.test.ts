import { beforeAll, describe, expect, test } from 'bun:test'
import { recoverInterrupted, registerDeliveryWorker, startPresence } from '@creel/core/deliveries'
import { sql } from 'kysely'
import { z } from 'zod'
import { expectCountersEqualRows, sweepRetention } from '../../retention/support.ts'
import { attemptsEnded } from '../../support/attempts.ts'
import type { TestEndpoint } from '../../support/client.ts'
import { eventually } from '../../support/eventually.ts'
import { type Received, startReceiver } from '../../support/receiver.ts'
import { startService, type TestService } from '../../support/service.ts'

/** Records of attempts: what is kept after the request is evicted, and after the process dies. */

const Attempts = z.object({
  items: z.array(
    z.looseObject({ id: z.int(), requestId: z.int(), state: z.string(), hasDetail: z.boolean() }),
  ),
})
const Detail = z.looseObject({
  state: z.string(),
  sent: z.looseObject({
    method: z.string(),
    url: z.string(),
    rawHeaders: z.array(z.object({ name: z.string(), value: z.string() })),
    body: z.string().nullable(),
    bodyTruncated: z.boolean(),
  }),
  received: z.looseObject({ statusCode: z.int(), body: z.string().nullable() }).nullable(),
})

const RULE = {
  version: 1,
  name: 'redact',
  steps: [{ op: 'redact', paths: ['body.card'], with: '***' }],
}

let service: TestService
beforeAll(async () => {
  service = await startService({ planLimits: { pro: { storedRequestsMax: 2 } } })
})

async function attemptsOf({ client, at }: { client: TestEndpoint['client']; at: (path: string) => string }) {
  return (await client.expect(client.get(at('/deliveries')), Attempts)).items
}

const listed = (endpoint: TestEndpoint) =>
  attemptsOf({ client: endpoint.client, at: (path) => endpoint.at(path) })

const detailOf = (endpoint: TestEndpoint, id: number) =>
  endpoint.client.expect(endpoint.client.get(endpoint.at(`/deliveries/${id}`)), Detail)

/** A request at the receiver, in the format of a record. */
function sentAs({ method, rawHeaders, body }: Received, url: string) {
  return {
    method,
    url,
    rawHeaders: rawHeaders.map(([name, value]) => ({ name, value })),
    body: body.toString(),
    bodyTruncated: false,
  }
}

describe('an attempt of a request that was evicted', () => {
  test('keeps what was sent and received, whichever way the request went', async () => {
    await using receiver = await startReceiver({ status: 200, body: 'thanks' })
    const client = await service.newClient('pro')
    const endpoint = await client.endpoint({ forwardUrl: receiver.url })
    const bodies = ['first', 'second', 'third', 'fourth', 'fifth'].map((text) => JSON.stringify({ text }))
    for (const [index, body] of bodies.entries()) {
      await endpoint.send({ body })
      await attemptsEnded(service, endpoint, index + 1)
    }
    expect(await endpoint.requests()).toHaveLength(2)
    const attempts = (await listed(endpoint)).toReversed()
    expect(attempts.map(({ hasDetail }) => hasDetail)).toEqual([true, true, true, true, true])
    for (const [index, { id }] of attempts.entries()) {
      const detail = await detailOf(endpoint, id)
      const got = receiver.received[index]
      if (got === undefined) throw new Error('not received')
      expect(got.body.toString()).toBe(bodies[index] ?? '')
      expect(detail.sent).toMatchObject(sentAs(got, receiver.url))
      expect(detail.received).toMatchObject({ statusCode: 200, body: 'thanks' })
    }
    await expectCountersEqualRows(service, endpoint.id)
    // The sweep does not take them for orphans.
    await sweepRetention(service)
    expect((await listed(endpoint)).map(({ hasDetail }) => hasDetail)).toEqual([true, true, true, true, true])
  })

  test('keeps it when the request waited for its delivery, and is empty', async () => {
    const held = Promise.withResolvers<void>()
    await using receiver = await startReceiver((_request, response) => {
      void held.promise.then(() => response.end())
    })
    const client = await service.newClient('pro')
    const endpoint = await client.endpoint({ forwardUrl: receiver.url })
    await endpoint.send({ body: 'kept while it is delivered' })
    await endpoint.send({ method: 'GET' })
    await receiver.take(2)
    for (const body of ['1', '2']) await endpoint.send({ body })
    held.resolve()
    await attemptsEnded(service, endpoint, 4)
    await sweepRetention(service)
    const { rows } = await sql`select from requests where endpoint_id = ${endpoint.id}`.execute(service.db)
    expect(rows).toHaveLength(2)
    const [first, second] = (await listed(endpoint)).toReversed()
    const detail = await detailOf(endpoint, first?.id ?? 0)
    expect(detail.sent.body).toBe('kept while it is delivered')
    expect((await detailOf(endpoint, second?.id ?? 0)).sent.method).toBe('GET')
    await expectCountersEqualRows(service, endpoint.id)
  })
})

describe('an attempt that was interrupted', () => {
  /** Recovers the attempt, unless the schedule of the service is doing so, and returns its id. */
  async function recovered(endpoint: TestEndpoint): Promise<number> {
    await recoverInterrupted(service.running.services)
    const { id } = await eventually('the attempt that was interrupted', async () =>
      (await listed(endpoint)).findLast(({ state }) => state === 'Interrupted'),
    )
    return id
  }

  /** Starts an attempt, lets its process die, and reads the record. */
  async function interrupted(endpoint: TestEndpoint, body: string, during: () => Promise<unknown>) {
    const receiver = await startReceiver(() => {})
    await endpoint.client.patch(endpoint.at(''), { forwardUrl: receiver.url })
    await during()
    await endpoint.send({ body, suffix: '/eu?x=1' })
    const [got] = await receiver.take(1)
    if (got === undefined) throw new Error('not received')
    const workerId = await registerDeliveryWorker(service.db)
    await sql`update delivery_attempts set worker_id = ${workerId} where endpoint_id = ${endpoint.id} and state = 'Pending'`.execute(
      service.db,
    )
    await startPresence({ ...service.running.services, workerId }).stop()
    const id = await recovered(endpoint)
    const detail = await endpoint.client.get(endpoint.at(`/deliveries/${id}`))
    await receiver[Symbol.asyncDispose]()
    return { got, url: receiver.url, detail: detail.body }
  }

  test('keeps what was sent, as its receiver got it', async () => {
    const endpoint = await service.alice.endpoint()
    const { got, url, detail } = await interrupted(endpoint, '{"card":"4111"}', async () => {})
    expect(detail).toMatchObject({
      state: 'Interrupted',
      error: 'interrupted',
      hasDetail: true,
      sent: sentAs(got, url),
      received: null,
    })
    await expectCountersEqualRows(service, endpoint.id)
  })

  test('keeps what the rules made of it, and the signature', async () => {
    const endpoint = await service.alice.endpoint()
    const { got, url, detail } = await interrupted(endpoint, '{"card":"4111"}', async () => {
      await service.alice.patch(endpoint.at(''), { forwardSigningSecret: 'a secret of 16 characters' })
      expect((await service.alice.post(endpoint.at('/transformations'), RULE)).status).toBe(201)
    })
    expect(got.body.toString()).toBe('{"card":"***"}')
    expect(got.header('creel-signature')).toBeString()
    expect(detail).toMatchObject({ state: 'Interrupted', transformed: true, sent: sentAs(got, url) })
  })

  test('that sent an original keeps which message that was, and none of its values', async () => {
    const card = '4111111111111111'
    const endpoint = await service.alice.endpoint({
      storeRules: [{ op: 'redact', paths: ['body.card'] }],
      eventIdPath: 'body.card',
      forwardOriginal: true,
    })
    const { got, detail } = await interrupted(endpoint, `{"card":"${card}"}`, async () => {})
    expect(got.header('creel-event-id')).toBe(card)
    expect(detail).toMatchObject({
      state: 'Interrupted',
      sent: {
        body: '{"card":"***"}',
        headers: { 'content-length': got.header('content-length'), 'creel-event-id': expect.any(String) },
      },
    })
    expect(JSON.stringify(detail)).not.toContain(card)
  })

  test('claims nothing when its rules have changed since', async () => {
    const endpoint = await service.alice.endpoint()
    await using receiver = await startReceiver(() => {})
    await service.alice.patch(endpoint.at(''), { forwardUrl: receiver.url })
    await endpoint.send({ body: '{"card":"4111"}' })
    await receiver.take(1)
    expect((await service.alice.post(endpoint.at('/transformations'), RULE)).status).toBe(201)
    await sql`update transformation_rules set updated_at = updated_at + interval '1 s' where endpoint_id = ${endpoint.id}`.execute(
      service.db,
    )
    await sql`update delivery_attempts set lease_until = 'epoch' where endpoint_id = ${endpoint.id}`.execute(
      service.db,
    )
    const id = await recovered(endpoint)
    const detail = await service.alice.get(endpoint.at(`/deliveries/${id}`))
    expect(detail.body).toMatchObject({ state: 'Interrupted', hasDetail: false, sent: null })
  })
})
