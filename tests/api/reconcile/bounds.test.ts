import { beforeAll, expect, test } from 'bun:test'
import type { ServerResponse } from 'node:http'
import { sql } from 'kysely'
import {
  PAGE_BYTES_MAX,
  PAGES_MAX,
  RUNNING_MAX,
  UNFINISHED_MAX,
} from '../../../core/src/reconcile/declarations.ts'
import { eventually } from '../../support/eventually.ts'
import { githubDelivery } from '../../support/githubApi.ts'
import type { TestService } from '../../support/service.ts'
import { type StripeApi, stripeEvent } from '../../support/stripeApi.ts'
import { ended, hoursAgo, reconciled, type Senders, startRun, startSenders } from './support.ts'

/** Bounds of a reconciliation. */

let senders: Senders
let service: TestService
let stripe: StripeApi

beforeAll(async () => {
  senders = await startSenders()
  ;({ service, stripe } = senders)
})

test('two runs of a workspace run at once, and beyond 20 another is refused for a while', async () => {
  const client = await service.newClient()
  const endpoints = await Promise.all(
    Array.from({ length: UNFINISHED_MAX }, () => client.endpoint({ provider: 'stripe' })),
  )
  const held: (() => void)[] = []
  let isOpen = false
  stripe.interfere = (_call, response) => {
    if (isOpen) return false
    held.push(() => response.writeHead(401).end())
    return true
  }
  const runs = await Promise.all(
    endpoints.map(async (endpoint) => ({ endpoint, ...(await startRun(endpoint, senders.stripeOrder())) })),
  )
  await eventually('the runs that may run', () => held.length === RUNNING_MAX)
  // Every job has been looked at by then: the others found no room.
  const states = async () =>
    await service.db
      .selectFrom('reconciliations')
      .where('workspaceId', '=', client.workspaceId)
      .select('state')
      .execute()
  expect((await states()).filter(({ state }) => state === 'running').length).toBe(RUNNING_MAX)
  const [first] = endpoints
  const refused = await client.post(first?.at('/reconcile') ?? '', senders.stripeOrder())
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  // Another workspace has room of its own.
  const other = await (await service.newClient()).endpoint({ provider: 'stripe' })
  const run = await startRun(other, senders.stripeOrder())
  await eventually('the run of the other workspace', () => held.length === RUNNING_MAX + 1)
  expect(held.length).toBe(RUNNING_MAX + 1)
  isOpen = true
  for (const free of held) free()
  expect((await ended(other, run.id)).state).toBe('failed')
  for (const { endpoint, id } of runs) await ended(endpoint, id)
  stripe.interfere = undefined
})

test('a list without end is read to the bound, and the run says so', async () => {
  const first = stripe.calls.length
  const started = hoursAgo(2)
  stripe.interfere = (call, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' })
    const data = [stripeEvent(call - first, started)]
    response.end(JSON.stringify({ object: 'list', has_more: true, data }))
    return true
  }
  const endpoint = await service.alice.endpoint({ provider: 'stripe' })
  const run = await reconciled(endpoint, senders.stripeOrder({ dryRun: true }))
  stripe.interfere = undefined
  expect(run).toMatchObject({ state: 'done', complete: false, counts: { listed: PAGES_MAX } })
  expect(stripe.calls.length - first).toBe(PAGES_MAX)
})

test('a page that is too long, or no list, ends the run', async () => {
  const answers = [
    `{"object":"list","has_more":false,"data":[],"pad":"${'x'.repeat(PAGE_BYTES_MAX)}"}`,
    '<html></html>',
    '{"object":"list","has_more":false,"data":[{"id":7}]}',
    '{"object":"list","has_more":false}',
    `${'['.repeat(10_000)}${']'.repeat(10_000)}`,
  ]
  for (const body of answers) {
    stripe.interfere = (_call, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' })
      response.end(body)
      return true
    }
    const endpoint = await service.alice.endpoint({ provider: 'stripe' })
    const run = await reconciled(endpoint, senders.stripeOrder())
    expect(run).toMatchObject({ state: 'failed', error: { code: 'bad_answer' } })
  }
  stripe.interfere = undefined
})

test('types and cursors that PostgreSQL cannot hold as they are end no run', async () => {
  const type = 'a\0b\ud800'
  stripe.events.splice(0, stripe.events.length, stripeEvent(1, hoursAgo(1), type))
  const ofStripe = await service.alice.endpoint({ provider: 'stripe' })
  expect(await reconciled(ofStripe, senders.stripeOrder())).toMatchObject({
    state: 'done',
    counts: { missing: 1, captured: 1, outstanding: 0 },
    missingTypes: [{ type: 'a\ufffdb\ufffd', count: 1 }],
  })

  const { github } = senders
  github.interfere = ({ number }, response) => {
    response.writeHead(200, {
      'Content-Type': 'application/json',
      ...(number === 1 ? { Link: `<${github.url}/?cursor=%00>; rel="next"` } : {}),
    })
    const at = hoursAgo(number)
    response.end(JSON.stringify([githubDelivery(number, at, { event: type })]))
    return true
  }
  const ofGithub = await service.alice.endpoint({ provider: 'github' })
  const run = await reconciled(ofGithub, senders.githubOrder({ dryRun: true }))
  github.interfere = undefined
  expect(run).toMatchObject({ state: 'done', missingTypes: [{ type: 'a\ufffdb\ufffd', count: 2 }] })
})

test('deadlocks while a page is stored and while its events are captured end no run', async () => {
  stripe.events.splice(0, stripe.events.length, stripeEvent(1, hoursAgo(1)))
  const endpoint = await service.alice.endpoint({ provider: 'stripe' })
  await sql`create sequence deadlocks`.execute(service.db)
  await sql`create function meet_deadlock() returns trigger language plpgsql as $$
    begin
      if nextval('deadlocks') in (1, 3) then raise exception 'deadlock' using errcode = 'deadlock_detected'; end if;
      return new;
    end $$`.execute(service.db)
  await sql`create trigger meet_deadlock before insert on reconciliation_events for each row
    execute function meet_deadlock()`.execute(service.db)
  await sql`create trigger meet_deadlock before insert on requests for each row
    when (new.endpoint_id = ${sql.lit(endpoint.id)}) execute function meet_deadlock()`.execute(service.db)
  const run = await reconciled(endpoint, senders.stripeOrder())
  expect(run).toMatchObject({
    state: 'done',
    error: null,
    counts: { missing: 1, captured: 1, outstanding: 0 },
  })
  const { rows } = await sql<{ met: number }>`select last_value as met from deadlocks`.execute(service.db)
  expect(rows).toEqual([{ met: 4 }])
  await sql`drop function meet_deadlock cascade`.execute(service.db)
})

test('a lock that is not free in time ends no run: it goes on when its lease has ended', async () => {
  stripe.events.splice(0, stripe.events.length, stripeEvent(1, hoursAgo(1)))
  const endpoint = await service.alice.endpoint({ provider: 'stripe' })
  await sql`create sequence locks`.execute(service.db)
  await sql`create function meet_lock() returns trigger language plpgsql as $$
    begin
      if nextval('locks') = 1 then raise exception 'locked' using errcode = 'lock_not_available'; end if;
      return new;
    end $$`.execute(service.db)
  await sql`create trigger meet_lock before insert on reconciliation_events for each row
    execute function meet_lock()`.execute(service.db)
  const { id } = await startRun(endpoint, senders.stripeOrder())
  await eventually('the lock', async () => {
    const { rows } = await sql<{ isMet: boolean }>`select is_called as is_met from locks`.execute(service.db)
    return rows[0]?.isMet
  })
  await service.clock.advance(121_000)
  await service.runJob('reconcile.sweep', {})
  expect(await ended(endpoint, id)).toMatchObject({ state: 'done', error: null, counts: { captured: 1 } })
  await sql`drop function meet_lock cascade`.execute(service.db)
})

const findRun = (id: string) =>
  service.db
    .selectFrom('reconciliations')
    .where('id', '=', id)
    .select(['finishedAt', 'leaseId'])
    .executeTakeFirst()

test('a sender that always fails ends the run after five calls, and one that asks for too long a wait at once', async () => {
  const fails = async (status: number, headers: Record<string, string>) => {
    const first = stripe.calls.length
    stripe.interfere = (_call, response) => {
      response.writeHead(status, headers)
      response.end()
      return true
    }
    const endpoint = await service.alice.endpoint({ provider: 'stripe' })
    const { id } = await startRun(endpoint, senders.stripeOrder())
    await eventually('the end of the run', async () => {
      const { finishedAt, leaseId } = (await findRun(id)) ?? {}
      if (finishedAt !== null) return true
      // Only the waits are cut short: during a call the lease would be over, and another job would call as well.
      if (leaseId === null) await service.clock.advance(10_000)
      return false
    })
    const run = await ended(endpoint, id)
    stripe.interfere = undefined
    return { code: run.error?.code, calls: stripe.calls.length - first }
  }
  expect(await fails(503, {})).toEqual({ code: 'sender_failed', calls: 5 })
  expect(await fails(429, { 'Retry-After': '86400' })).toEqual({ code: 'rate_limited', calls: 1 })
  const tomorrow = new Date(service.clock.now().getTime() + 86_400_000).toUTCString()
  expect(await fails(429, { 'Retry-After': tomorrow })).toEqual({ code: 'rate_limited', calls: 1 })
})

test('a page of more events than were asked for ends the run, and says so', async () => {
  const at = hoursAgo(2)
  const { github } = senders
  const listed = Array.from({ length: 101 }, (_, number) => ({
    ofStripe: stripeEvent(number, at),
    ofGithub: githubDelivery(number, at),
  }))
  const answer = (response: ServerResponse, body: object) => {
    response.writeHead(200, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify(body))
    return true
  }
  stripe.interfere = (_call, response) =>
    answer(response, { object: 'list', has_more: false, data: listed.map(({ ofStripe }) => ofStripe) })
  github.interfere = (_call, response) =>
    answer(
      response,
      listed.map(({ ofGithub }) => ofGithub),
    )
  const runs = [
    await reconciled(await service.alice.endpoint({ provider: 'stripe' }), senders.stripeOrder()),
    await reconciled(await service.alice.endpoint({ provider: 'github' }), senders.githubOrder()),
  ]
  stripe.interfere = undefined
  github.interfere = undefined
  for (const run of runs)
    expect(run).toMatchObject({
      state: 'failed',
      error: { code: 'bad_answer', detail: expect.stringContaining('100 that were asked for') },
      counts: { listed: 0 },
    })
})
