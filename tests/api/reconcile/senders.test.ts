import { beforeAll, describe, expect, test } from 'bun:test'
import { type GithubApi, githubBody, githubDelivery, githubHeaders } from '../../support/githubApi.ts'
import { wrongParts } from '../../support/problems.ts'
import { startReceiver } from '../../support/receiver.ts'
import type { TestService } from '../../support/service.ts'
import { type StripeApi, stripeEvent } from '../../support/stripeApi.ts'
import { capturesOf, hoursAgo, reconciled, type Senders, startSenders } from './support.ts'

/** Captures compared with what their sender lists, on stand-ins of both senders' APIs. */

const LISTED = 10_000
const DROPPED = 100
const SENDERS = 32

let senders: Senders
let service: TestService
let stripe: StripeApi
let github: GithubApi

beforeAll(async () => {
  senders = await startSenders()
  ;({ service, stripe, github } = senders)
})

/** Sends each, several at a time. */
async function sendAll<Item>(items: readonly Item[], send: (item: Item) => Promise<Response>): Promise<void> {
  let next = 0
  const sender = async () => {
    for (;;) {
      const item = items[next]
      next += 1
      if (item === undefined) return
      const response = await send(item)
      await response.body?.cancel()
    }
  }
  await Promise.all(Array.from({ length: SENDERS }, sender))
}

/** Every hundredth of the list is dropped, all over the list. */
const isDropped = (_item: unknown, index: number) => index % (LISTED / DROPPED) === 41

describe('Stripe', () => {
  test(
    'of 10,000 events the 100 that never came are captured, each once, and acted upon',
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
      expect((await endpoint.requests()).map((row) => row.eventId)).toEqual(
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
    { timeout: 120_000 },
  )

  test('what is captured has the numbers and members of the list, letter by letter', async () => {
    const event = stripeEvent(1, hoursAgo(1))
    stripe.events.splice(0, stripe.events.length, event)
    const exact = '{"amount":12345678901234567890,"rate":1.50,"2":"b","1":"a"}'
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
})

describe('GitHub', () => {
  test(
    'of 10,000 deliveries the 100 that never came are sent again, each once',
    async () => {
      const from = hoursAgo(60).getTime()
      const all = Array.from({ length: LISTED }, (_, index) =>
        githubDelivery(
          index,
          new Date(from + index * 1000),
          isDropped(null, index) ? { status: 'failed to connect', status_code: 502 } : {},
        ),
      )
      github.deliveries.splice(0, github.deliveries.length, ...all)
      // Attempts that failed again, with ids of their own: the event is the same.
      for (const [index, delivery] of all.filter(isDropped).entries())
        if (index % 10 === 0)
          github.deliveries.push({
            ...githubDelivery(LISTED + index, hoursAgo(1)),
            guid: delivery.guid,
            redelivery: true,
            status_code: 502,
          })
      const endpoint = await service.alice.endpoint({ name: 'ci', provider: 'github' })
      github.target = endpoint.url
      await sendAll(
        all.filter((_delivery, index) => !isDropped(_delivery, index)),
        ({ guid }) => endpoint.send({ headers: githubHeaders(guid), body: githubBody(guid) }),
      )
      const run = await reconciled(endpoint, senders.githubOrder())
      expect(run).toMatchObject({
        state: 'done',
        complete: true,
        counts: {
          listed: LISTED,
          found: LISTED - DROPPED,
          missing: DROPPED,
          redelivered: DROPPED,
          captured: 0,
          refused: 0,
          outstanding: 0,
        },
      })
      const captures = await capturesOf(service, endpoint)
      expect(all.filter(({ guid }) => captures.get(guid) !== 1)).toEqual([])
      expect(captures.size).toBe(LISTED)
      expect([...github.asked.values()].filter((times) => times !== 1)).toEqual([])
      expect(github.asked.size).toBe(DROPPED)
    },
    { timeout: 120_000 },
  )

  test('a secondary rate limit is waited for, and a delivery that is gone is counted', async () => {
    const old = githubDelivery(1, hoursAgo(2))
    const gone = githubDelivery(2, hoursAgo(2))
    github.deliveries.splice(0, github.deliveries.length, old, gone)
    github.asked.clear()
    const endpoint = await service.alice.endpoint({ provider: 'github' })
    github.target = endpoint.url
    let posts = 0
    github.interfere = ({ method }, response) => {
      if (method !== 'POST') return false
      posts += 1
      if (posts === 1) {
        const reset = Math.ceil(Date.now() / 1000) + 1
        response.writeHead(403, { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': String(reset) })
        response.end('{"message":"You have exceeded a secondary rate limit."}')
        return true
      }
      if (posts === 3) {
        response.writeHead(404).end('{"message":"Not Found"}')
        return true
      }
      return false
    }
    const run = await reconciled(endpoint, senders.githubOrder())
    github.interfere = undefined
    expect(run).toMatchObject({
      state: 'done',
      counts: { listed: 2, missing: 2, redelivered: 1, refused: 1, outstanding: 1 },
    })
    expect([...github.asked.values()]).toEqual([1])
  })

  test('no link of an answer leads to another host, and no address outside of the hooks is taken', async () => {
    const endpoint = await service.alice.endpoint({ provider: 'github' })
    const refused = async (hookUrl: string) =>
      wrongParts(
        await service.alice.post(
          endpoint.at('/reconcile'),
          senders.githubOrder({ credentials: { token: 't', hookUrl } }),
        ),
      )
    for (const hookUrl of [
      'https://api.github.com/repos/octo/app/hooks/7',
      `${github.url}.evil.test/repos/octo/app/hooks/7`,
      `${github.url}/user`,
      `${github.url}/repos/octo/../hooks/7`,
      `${github.url}/repos/octo/app/hooks/7?x=1`,
      `${github.url}/repos/octo/app/hooks/7/deliveries`,
    ])
      expect(await refused(hookUrl)).toEqual(['#/credentials/hookUrl bad_url'])
  })
})
