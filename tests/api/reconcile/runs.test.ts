import { beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { z } from 'zod'
import { eventually } from '../../support/eventually.ts'
import { githubDelivery } from '../../support/githubApi.ts'
import { wrongParts } from '../../support/problems.ts'
import { startReceiver } from '../../support/receiver.ts'
import type { TestService } from '../../support/service.ts'
import { type StripeApi, stripeEvent } from '../../support/stripeApi.ts'
import {
  capturesOf,
  ended,
  hoursAgo,
  Run,
  reconciled,
  type Senders,
  startRun,
  startSenders,
} from './support.ts'

/** The life of a reconciliation: its turn, its credentials, its end. */

let senders: Senders
let service: TestService
let stripe: StripeApi

beforeAll(async () => {
  senders = await startSenders()
  ;({ service, stripe } = senders)
})

describe('a run', () => {
  test('asks for no event while its workspace is sealed, and goes on afterwards', async () => {
    const client = await service.newClient()
    const endpoint = await client.endpoint({ provider: 'stripe' })
    const event = stripeEvent(1, hoursAgo(1))
    stripe.events.splice(0, stripe.events.length, event)
    const seal = (until: string | null) =>
      sql`update workspaces set sealed_until = ${until}::timestamptz where id = ${client.workspaceId}`.execute(
        service.db,
      )
    const asked = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    stripe.interfere = (_call, response) => {
      asked.resolve()
      const list = JSON.stringify({ object: 'list', has_more: false, data: [event] })
      void release.promise.then(() =>
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(list),
      )
      return true
    }
    const { id } = await startRun(endpoint, senders.stripeOrder())
    await asked.promise
    stripe.interfere = undefined
    await seal('infinity')
    const calls = stripe.calls.length
    release.resolve()
    await eventually('the run is released', async () => {
      const row = service.db.selectFrom('reconciliations').where('id', '=', id).select(['phase', 'leaseId'])
      const { phase, leaseId } = await row.executeTakeFirstOrThrow()
      return phase === 'bringing' && leaseId === null
    })
    expect(stripe.calls.length).toBe(calls)
    await seal(null)
    expect(await ended(endpoint, id)).toMatchObject({ state: 'done', counts: { missing: 1, captured: 1 } })
  })

  test('keeps its credentials sealed, erases them at the end, and shows them nowhere', async () => {
    const apiKey = `rk_live_${randomBytes(12).toString('hex')}`
    stripe.events.splice(0, stripe.events.length, stripeEvent(1, hoursAgo(1)))
    const endpoint = await service.alice.endpoint({ provider: 'stripe' })
    const answered = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    stripe.interfere = (_call, response) => {
      answered.resolve()
      void release.promise.then(() => response.writeHead(401).end())
      return true
    }
    const { id } = await startRun(endpoint, senders.stripeOrder({ credentials: { apiKey } }))
    await answered.promise
    const stored = () =>
      service.db
        .selectFrom('reconciliations')
        .where('id', '=', id)
        .select('credentials')
        .executeTakeFirstOrThrow()
    const { credentials } = await stored()
    expect(credentials?.length).toBeGreaterThan(0)
    expect(credentials?.includes(apiKey)).toBe(false)
    release.resolve()
    const run = await ended(endpoint, id)
    stripe.interfere = undefined
    expect(run).toMatchObject({ state: 'failed', error: { code: 'unauthorized' } })
    expect((await stored()).credentials).toBeNull()
    const audit = await service.db
      .selectFrom('auditEntries')
      .where('endpointId', '=', endpoint.id)
      .selectAll()
      .execute()
    expect(audit.some(({ action }) => action === 'reconcile.start')).toBe(true)
    const jobs = await sql`select data from pgboss.job where name = 'reconcile.run'`.execute(service.db)
    expect(JSON.stringify([audit, jobs.rows, run])).not.toContain(apiKey)
  })

  test('goes on after its process died, and brings nothing twice', async () => {
    stripe.events.splice(
      0,
      stripe.events.length,
      ...Array.from({ length: 250 }, (_, index) => stripeEvent(index, hoursAgo(3))),
    )
    const endpoint = await service.alice.endpoint({ provider: 'stripe' })
    const first = stripe.calls.length
    const stuck = Promise.withResolvers<void>()
    const held: (() => void)[] = []
    stripe.interfere = (call, response) => {
      // The second page of what is missing: by then one was captured.
      if (call - first !== 5) return false
      stuck.resolve()
      held.push(() => response.destroy())
      return true
    }
    const { id } = await startRun(endpoint, senders.stripeOrder())
    await stuck.promise
    stripe.interfere = undefined
    expect((await capturesOf(service, endpoint)).size).toBe(50)
    // The job does not answer: another claims the run when the lease has ended.
    await service.clock.advance(61_000)
    await service.runJob('reconcile.run', { reconciliationId: id })
    const run = await ended(endpoint, id)
    // The calls that the first job still waits for return, and must have no effect.
    for (const free of held) free()
    expect(run).toMatchObject({ state: 'done', counts: { captured: 250, outstanding: 0 } })
    expect([...(await capturesOf(service, endpoint)).values()].filter((times) => times !== 1)).toEqual([])
  })

  test('asks for no event twice, even where the answer was lost', async () => {
    const { github } = senders
    github.deliveries.splice(0, github.deliveries.length, githubDelivery(1, hoursAgo(1)))
    const endpoint = await service.alice.endpoint({ provider: 'github' })
    let posts = 0
    github.interfere = ({ method }, response) => {
      if (method !== 'POST') return false
      posts += 1
      response.destroy()
      return true
    }
    const { id } = await startRun(endpoint, senders.githubOrder())
    const phase = () =>
      service.db.selectFrom('reconciliations').where('id', '=', id).select('phase').executeTakeFirst()
    await eventually('the wait for arrivals', async () => (await phase())?.phase === 'arriving')
    await service.clock.advance(61_000)
    const run = await ended(endpoint, id)
    github.interfere = undefined
    expect(posts).toBe(1)
    expect(run).toMatchObject({ state: 'done', counts: { missing: 1, redelivered: 0, outstanding: 1 } })
  })

  test('is left alone by a job that lost it, and asks for each event once', async () => {
    const { github } = senders
    const listed = [1, 2, 3].map((number) => githubDelivery(number, hoursAgo(1)))
    github.deliveries.splice(0, github.deliveries.length, ...listed)
    github.asked.clear()
    const endpoint = await service.alice.endpoint({ provider: 'github' })
    github.target = endpoint.url
    const held: (() => void)[] = []
    github.interfere = ({ method }, response) => {
      if (method !== 'POST' || held.length === 2) return false
      // Asked for and never sent: the answer is held back.
      held.push(() => response.writeHead(202).end('{}'))
      return true
    }
    const { id } = await startRun(endpoint, senders.githubOrder())
    const posts = () => github.calls.filter(({ method }) => method === 'POST').length
    const before = posts()
    await eventually('the first call', () => held.length === 1)
    await service.clock.advance(61_000)
    const second = service.runJob('reconcile.run', { reconciliationId: id })
    await eventually('the call of the job that took over', () => held.length === 2)
    held[0]?.()
    // A third job finds the run held; the first one has ended by then.
    await service.runJob('reconcile.run', { reconciliationId: id })
    expect(posts() - before).toBe(2)
    held[1]?.()
    await second
    await eventually('the third event', () => github.asked.size === 1)
    await service.clock.advance(61_000)
    const run = await ended(endpoint, id)
    github.interfere = undefined
    expect(run).toMatchObject({ state: 'done', counts: { missing: 3, redelivered: 2, outstanding: 2 } })
  })

  test('of an endpoint waits for the one before it', async () => {
    stripe.events.splice(
      0,
      stripe.events.length,
      ...Array.from({ length: 30 }, (_, index) => stripeEvent(index, hoursAgo(3))),
    )
    const endpoint = await service.alice.endpoint({ provider: 'stripe' })
    const runs = await Promise.all([1, 2, 3].map(() => startRun(endpoint, senders.stripeOrder())))
    const results = await Promise.all(runs.map(({ id }) => ended(endpoint, id)))
    expect(results.map(({ state }) => state)).toEqual(['done', 'done', 'done'])
    expect(results.reduce((sum, { counts }) => sum + counts.captured, 0)).toBe(30)
    expect([...(await capturesOf(service, endpoint)).values()].filter((times) => times !== 1)).toEqual([])
    const page = z.looseObject({ totalCount: z.int(), items: z.array(Run) })
    const listed = await service.alice.expect(service.alice.get(endpoint.at('/reconcile')), page)
    expect(listed.totalCount).toBe(3)
  })

  test('does not capture what arrives meanwhile', async () => {
    const event = stripeEvent(7, hoursAgo(1))
    stripe.events.splice(0, stripe.events.length, event)
    const endpoint = await service.alice.endpoint({ provider: 'stripe' })
    const first = stripe.calls.length
    stripe.interfere = (call, response) => {
      if (call - first !== 2) return false
      // The page of what is missing waits until the sender's own attempt has come.
      void endpoint.capture({ body: JSON.stringify(event) }).then(() => {
        response.writeHead(200, { 'Content-Type': 'application/json' })
        response.end(JSON.stringify({ object: 'list', has_more: false, data: [event] }))
      })
      return true
    }
    const run = await reconciled(endpoint, senders.stripeOrder())
    stripe.interfere = undefined
    expect(run.counts).toMatchObject({ missing: 1, captured: 0, outstanding: 0 })
    expect([...(await capturesOf(service, endpoint)).values()]).toEqual([1])
  })

  test('tells subscribed channels what was missing', async () => {
    await using receiver = await startReceiver()
    const client = await service.newClient()
    const made = await client.post('/api/v1/alert-channels', {
      kind: 'webhook',
      settings: { url: receiver.url },
      events: [{ kind: 'reconcile.gap', minSeverity: 'info' }],
    })
    expect(made.status).toBe(201)
    stripe.events.splice(0, stripe.events.length, stripeEvent(1, hoursAgo(1)))
    const endpoint = await client.endpoint({ name: 'payments', provider: 'stripe' })
    await reconciled(endpoint, senders.stripeOrder({ dryRun: true }))
    const [alert] = await receiver.take(1)
    expect(JSON.parse(alert?.body.toString() ?? '')).toMatchObject({
      event_kind: 'reconcile.gap',
      count: 1,
    })
  })

  test('is refused where it cannot be told what is missing', async () => {
    const wrong = async (members: Readonly<Record<string, unknown>>, order: object) => {
      const endpoint = await service.alice.endpoint(members)
      return wrongParts(await service.alice.post(endpoint.at('/reconcile'), order))
    }
    expect(await wrong({}, senders.stripeOrder())).toEqual(['#/credentials not_allowed'])
    expect(await wrong({ provider: 'slack' }, senders.stripeOrder())).toEqual(['#/credentials not_allowed'])
    expect(await wrong({ provider: 'stripe', eventIdPath: 'body.data.id' }, senders.stripeOrder())).toEqual([
      '#/credentials not_allowed',
    ])
    expect(await wrong({ provider: 'stripe' }, senders.githubOrder())).toContain(
      '#/credentials/apiKey required',
    )
    expect(await wrong({ provider: 'stripe' }, senders.stripeOrder({ since: '2020-01-01' }))).toEqual([
      '#/since out_of_range',
    ])
    expect(await wrong({ provider: 'stripe' }, senders.stripeOrder({ until: '2021-01-01' }))).toEqual([
      '#/until out_of_range',
    ])
    expect(await wrong({ provider: 'stripe' }, senders.stripeOrder({ since: '2090-01-01' }))).toEqual([
      '#/since out_of_range',
    ])
  })
})
