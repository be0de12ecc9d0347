import { beforeAll, describe, expect, test } from 'bun:test'
import { eventually } from '../../support/eventually.ts'
import { startReceiver } from '../../support/receiver.ts'
import type { TestService } from '../../support/service.ts'
import { type StripeApi, stripeEvent } from '../../support/stripeApi.ts'
import {
  capturesOf,
  DROPPED,
  ended,
  hoursAgo,
  isDropped,
  LISTED,
  reconciled,
  type Senders,
  sendAll,
  startRun,
  startSenders,
} from './support.ts'

/** Captures compared with what Stripe lists, on a stand-in of its API. */

let senders: Senders
let service: TestService
let stripe: StripeApi

beforeAll(async () => {
  senders = await startSenders()
  ;({ service, stripe } = senders)
})

describe('Stripe', () => {
  test(
    `of ${LISTED} events the ${DROPPED} that never came are captured, each once, and acted upon`,
    async () => {
      const from = hoursAgo(60).getTime()
      stripe.events.splice(
        0,
        stripe.events.length,
        ...Array.from({ length: LISTED }, (_, index) => stripeEvent(index, new Date(from + index * 1000))),
      )
      const dropped = stripe.events.filter(isDropped)
      const endpoint = await service.alice.endpoint({ name: 'payments', provider: 'stripe' })
      await sendAll(
        stripe.events.filter((_event, index) => !isDropped(_event, index)),
        (event) => endpoint.send({ body: JSON.stringify(event) }),
      )
      await using receiver = await startReceiver()
      await service.alice.post(endpoint.at('/actions'), {
        kind: 'forward',
        name: 'billing',
        url: receiver.url,
      })

      const dry = await reconciled(endpoint, senders.stripeOrder({ dryRun: true }))
      expect(dry).toMatchObject({
        state: 'done',
        complete: true,
        counts: {
          listed: LISTED,
          found: LISTED - DROPPED,
          missing: DROPPED,
          captured: 0,
          outstanding: DROPPED,
        },
        missingTypes: [{ type: 'invoice.paid', count: DROPPED }],
      })
      expect((await capturesOf(service, endpoint)).size).toBe(LISTED - DROPPED)

      const run = await reconciled(endpoint, senders.stripeOrder())
      expect(run).toMatchObject({
        state: 'done',
        counts: { missing: DROPPED, captured: DROPPED, refused: 0, outstanding: 0 },
      })
      const captures = await capturesOf(service, endpoint)
      expect(stripe.events.filter(({ id }) => captures.get(id) !== 1)).toEqual([])
      expect(captures.size).toBe(LISTED)

      const forwarded = await receiver.take(DROPPED)
      // Oldest first, as they are captured.
      expect((await endpoint.requests(`pageSize=${DROPPED}`)).map((row) => row.eventId)).toEqual(
        dropped.map(({ id }) => id).reverse(),
      )
      expect(new Set(forwarded.map(({ body }) => JSON.parse(body.toString()).id))).toEqual(
        new Set(dropped.map(({ id }) => id)),
      )
      const [newest] = await endpoint.requests('pageSize=1')
      expect(newest).toMatchObject({
        reconciled: true,
        imported: false,
        label: 'invoice.paid',
        verification: { verdict: 'unverifiable', note: expect.stringContaining('Stripe') },
      })
      const again = await reconciled(endpoint, senders.stripeOrder())
      expect(again.counts).toMatchObject({ found: LISTED, missing: 0, captured: 0 })
      expect(receiver.received.length).toBe(DROPPED)
    },
    { timeout: 300_000 },
  )

  test('an endpoint that takes events once takes a late copy of what was captured as a duplicate', async () => {
    const events = [1, 2].map((index) => stripeEvent(index, hoursAgo(1)))
    stripe.events.splice(0, stripe.events.length, ...events)
    await using receiver = await startReceiver()
    const dedupe = { by: 'event', windowSeconds: 3_600, then: 'skip' }
    const endpoint = await service.alice.endpoint({ provider: 'stripe', dedupe })
    await service.alice.post(endpoint.at('/actions'), { kind: 'forward', url: receiver.url })
    const first = await endpoint.capture({ body: JSON.stringify(events[0]) })
    expect((await reconciled(endpoint, senders.stripeOrder())).counts).toMatchObject({
      missing: 1,
      captured: 1,
    })
    const [fetched] = await endpoint.requests()
    for (const event of events) await endpoint.send({ body: JSON.stringify(event) })
    expect((await endpoint.requests()).map(({ duplicateOf }) => duplicateOf)).toEqual([
      fetched?.id,
      first.id,
      null,
      null,
    ])
    await receiver.take(2)
    expect(receiver.received.length).toBe(2)
  })

  test('an event that is discarded after its request was erased stays outstanding', async () => {
    const event = stripeEvent(1, hoursAgo(1))
    stripe.events.splice(0, stripe.events.length, event)
    const dedupe = { by: 'event', windowSeconds: 3_600, then: 'discard' }
    const endpoint = await service.alice.endpoint({ provider: 'stripe', dedupe })
    await endpoint.capture({ body: JSON.stringify(event) })
    const { body } = await service.alice.post('/api/v1/erasures', { value: event.id })
    const erasure = `/api/v1/erasures/${Object(body).id}`
    await eventually(
      'the erasure',
      async () => Object((await service.alice.get(erasure)).body).state === 'done',
    )
    expect(await endpoint.requests()).toEqual([])
    expect((await reconciled(endpoint, senders.stripeOrder())).counts).toMatchObject({
      ...{ found: 0, missing: 1, captured: 0, refused: 0, outstanding: 1 },
    })
  })

  test('what is captured has the numbers and members of the list, letter by letter', async () => {
    const event = stripeEvent(1, hoursAgo(1))
    stripe.events.splice(0, stripe.events.length, event)
    const exact = '{"amount": 12345678901234567890,"rate":1.50,"2":"b","1":"\\u00e9\\/","1":"a"}'
    stripe.interfere = (_call, response) => {
      const text = JSON.stringify(event).replace(/"object":\{.*"data":\[\]\}\}/, `"object":${exact}`)
      response.writeHead(200, { 'Content-Type': 'application/json' })
      response.end(`{"object":"list","has_more":false,"data":[${text}]}`)
      return true
    }
    const endpoint = await service.alice.endpoint({ provider: 'stripe' })
    await reconciled(endpoint, senders.stripeOrder())
    stripe.interfere = undefined
    const [row] = await endpoint.requests()
    const whole = await service.alice.get(endpoint.at(`/requests/${row?.id}`))
    expect(whole.text).toContain(JSON.stringify(exact).slice(1, -1))
  })

  test('an event that nests deeper than JSON is read is captured, and the others of its page', async () => {
    const events = [1, 2].map((index) => stripeEvent(index, hoursAgo(1)))
    const deep = `${'['.repeat(300)}"],{\\"\\\\"${']'.repeat(300)}`
    const texts = events.map((event, index) =>
      index === 0
        ? JSON.stringify(event).replace('"object":{', `"object":{"deep": ${deep},`)
        : JSON.stringify(event),
    )
    stripe.interfere = (_call, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' })
      response.end(`{ "data": [\n${texts.join(',\n')}\n], "has_more": false }`)
      return true
    }
    const endpoint = await service.alice.endpoint({ provider: 'stripe' })
    const run = await reconciled(endpoint, senders.stripeOrder())
    const again = await reconciled(endpoint, senders.stripeOrder())
    stripe.interfere = undefined
    expect(run).toMatchObject({ state: 'done', counts: { missing: 2, captured: 2 } })
    expect(again).toMatchObject({ state: 'done', counts: { found: 2, missing: 0 } })
    const bodies = await Promise.all(
      (await endpoint.requests()).map(({ id }) => service.alice.get(endpoint.at(`/requests/${id}/body`))),
    )
    expect(bodies.map(({ text }) => text).sort()).toEqual(texts.sort())
  })

  test('only the types and the time that are asked for are looked at, and nothing that may be on its way', async () => {
    stripe.events.splice(
      0,
      stripe.events.length,
      stripeEvent(1, hoursAgo(90), 'invoice.paid'),
      stripeEvent(2, hoursAgo(2), 'invoice.paid'),
      stripeEvent(3, hoursAgo(2), 'customer.created'),
      stripeEvent(4, new Date(), 'invoice.paid'),
    )
    const endpoint = await service.alice.endpoint({ provider: 'stripe' })
    const run = await reconciled(endpoint, senders.stripeOrder({ types: ['invoice.paid'] }))
    expect(run.counts).toMatchObject({ listed: 1, missing: 1, captured: 1 })
    expect([...(await capturesOf(service, endpoint)).keys()]).toEqual([stripeEvent(2, new Date()).id])
    const until = await reconciled(endpoint, senders.stripeOrder({ until: hoursAgo(4).toISOString() }))
    expect(until.counts).toMatchObject({ listed: 0 })
  })

  test('a spent rate limit is waited for, and an error of the sender is passed over', async () => {
    stripe.events.splice(
      0,
      stripe.events.length,
      ...Array.from({ length: 150 }, (_, index) => stripeEvent(index, hoursAgo(3))),
    )
    const first = stripe.calls.length
    stripe.interfere = (call, response) => {
      const number = call - first
      if (number === 1) response.writeHead(429, { 'Retry-After': '1' })
      if (number === 2) response.writeHead(500)
      if (number > 2) return false
      response.end()
      return true
    }
    const endpoint = await service.alice.endpoint({ provider: 'stripe' })
    const run = await reconciled(endpoint, senders.stripeOrder())
    stripe.interfere = undefined
    expect(run).toMatchObject({ state: 'done', counts: { listed: 150, captured: 150, outstanding: 0 } })
  })

  test('long events are read in smaller pages, and captured', async () => {
    const long = (number: number) => {
      const event = stripeEvent(number, hoursAgo(3))
      return { ...event, data: { object: { ...event.data.object, memo: 'x'.repeat(200_000) } } }
    }
    stripe.events.splice(0, stripe.events.length, ...Array.from({ length: 60 }, (_, index) => long(index)))
    const first = stripe.calls.length
    const endpoint = await service.alice.endpoint({ provider: 'stripe' })
    const run = await reconciled(endpoint, senders.stripeOrder())
    expect(run).toMatchObject({ state: 'done', counts: { listed: 60, captured: 60, outstanding: 0 } })
    expect(new Set(stripe.calls.slice(first).map((query) => query.get('limit')))).toEqual(
      new Set(['100', '25', '7']),
    )
  })

  test('half of the capture rate is left to the senders of the endpoint', async () => {
    const client = await service.newClient('pro')
    const endpoint = await client.endpoint({ provider: 'stripe' })
    const events = Array.from({ length: 50 }, (_, index) => stripeEvent(index, hoursAgo(3)))
    stripe.events.splice(0, stripe.events.length, ...events)
    const { id } = await startRun(endpoint, senders.stripeOrder())
    await eventually('the first half', async () => (await capturesOf(service, endpoint)).size === 20)
    // There is room for a sender, though the run waits.
    await endpoint.capture({ body: JSON.stringify(stripeEvent(1000, new Date())) })
    const isOver = async () => (await capturesOf(service, endpoint)).size === 51
    await eventually(
      'the others',
      async () => (await isOver()) || service.clock.advance(20_000).then(() => false),
    )
    expect((await ended(endpoint, id)).counts).toMatchObject({ captured: 50, outstanding: 0 })
    const stats = await client.get(endpoint.at('/stats'))
    expect(stats.body).toMatchObject({ traffic: { rejectedCount: 0 } })
  })

  test('an endpoint that takes verified captures only takes what was fetched, and none that is off', async () => {
    stripe.events.splice(0, stripe.events.length, stripeEvent(1, hoursAgo(1)))
    const strict = { provider: 'stripe', signingSecret: 'whsec_x', rejectUnverified: true }
    const endpoint = await service.alice.endpoint(strict)
    expect((await reconciled(endpoint, senders.stripeOrder())).counts).toMatchObject({ captured: 1 })
    const off = await service.alice.endpoint({ provider: 'stripe', isActive: false })
    const run = await reconciled(off, senders.stripeOrder())
    expect(run).toMatchObject({ state: 'failed', error: { code: 'endpoint_closed' } })
  })

  test('an endpoint that evicted captures is not given what it had', async () => {
    const small = await service.alice.endpoint({ provider: 'stripe' })
    const at = hoursAgo(1)
    stripe.events.splice(0, stripe.events.length, stripeEvent(1, at))
    await small.send({ body: JSON.stringify(stripeEvent(1, at)) })
    // As if the cap had been reached since.
    await service.db
      .updateTable('endpointCounters')
      .set({ evictedCount: 1 })
      .where('endpointId', '=', small.id)
      .execute()
    await service.db.deleteFrom('requests').where('endpointId', '=', small.id).execute()
    const run = await reconciled(small, senders.stripeOrder({ since: hoursAgo(2).toISOString() }))
    expect(run.counts).toMatchObject({ listed: 1, missing: 0, tooOld: 1, captured: 0 })
  })

  test('nor what it had after a capture that is in the recycle bin', async () => {
    const small = await service.alice.endpoint({ provider: 'stripe' })
    stripe.events.splice(0, stripe.events.length, stripeEvent(2, hoursAgo(1)))
    const [{ id: binned }, { id: evicted }] = [await small.capture(), await small.capture()]
    await small.capture()
    await service.alice.delete(small.at(`/requests/${binned}`))
    const rows = service.db.updateTable('requests').where('endpointId', '=', small.id)
    await rows
      .where('id', '=', binned)
      .set({ receivedAt: hoursAgo(3) })
      .execute()
    // As if the cap had been reached since.
    await service.db.deleteFrom('requests').where('id', '=', evicted).execute()
    await service.db
      .updateTable('endpointCounters')
      .set({ evictedCount: 1, removedUpTo: evicted })
      .where('endpointId', '=', small.id)
      .execute()
    const run = await reconciled(small, senders.stripeOrder({ since: hoursAgo(2).toISOString() }))
    expect(run.counts).toMatchObject({ listed: 1, missing: 0, tooOld: 1, captured: 0 })
  })
})
