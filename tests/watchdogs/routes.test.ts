import { beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { storedCondition } from '@creel/core/engine/conditions'
import { searchHistory } from '@creel/core/requests'
import { sql } from 'kysely'
import { z } from 'zod'
import { suggestFrom } from '../../core/src/watchdogs/suggestion.ts'
import type { Client, TestEndpoint } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { holdOpen } from '../support/heldWrites.ts'
import { countLockWaits } from '../support/lockWaits.ts'
import { wrongParts } from '../support/problems.ts'
import { startService, type TestService } from '../support/service.ts'
import {
  check,
  makeWatchdog,
  pass,
  putWatchdog,
  raised,
  readWatchdog,
  WATCHDOGS,
  Watchdog,
} from './support.ts'

/** Time limit of a search that must reach its end on any machine. */
const UNHURRIED_MS = 60_000

let service: TestService
let alice: Client
let endpoint: TestEndpoint

beforeAll(async () => {
  service = await startService()
  alice = service.alice
  endpoint = await alice.endpoint({ name: 'payments' })
})

const _Problem = z.looseObject({
  code: z.string(),
  errors: z.array(
    z.looseObject({ pointer: z.string().nullable(), parameter: z.string().nullable(), code: z.string() }),
  ),
})
const WatchdogPage = z.looseObject({ items: z.array(Watchdog), totalCount: z.int() })

const leaf = (op: string, value: string) => `{"path":"body.x","op":"${op}","value":${value}}`
const longNumbers = leaf('in', `[${Array(100).fill('1e20').join(',')}]`)

/** A leaf of so many bytes. */
function leafOf(bytes: number): string {
  const texts = Array<string>(16).fill('a'.repeat(990))
  const rest = bytes - leaf('in', JSON.stringify([...texts, ''])).length
  return leaf('in', JSON.stringify([...texts, 'b'.repeat(rest)]))
}

describe('POST /api/v1/watchdogs', () => {
  test('answers 201 with its defaults', async () => {
    const answer = await alice.post(WATCHDOGS, { endpointId: endpoint.id, expectedIntervalSeconds: 3600 })
    expect(answer.status).toBe(201)
    expect(Watchdog.parse(answer.body)).toMatchObject({
      name: 'payments',
      match: {},
      graceSeconds: 720,
      active: true,
      alertContactIds: [],
    })
  })

  test('keeps the match as it was written, numbers and order', async () => {
    const rawBody = `{"endpointId":"${endpoint.id}","expectedIntervalSeconds":60,"match":{"all":[{"value":1.50,"op":"gte","path":"body.amount"}]}}`
    const answer = await alice.call('POST', WATCHDOGS, undefined, {
      rawBody,
      headers: { 'Content-Type': 'application/json' },
    })
    expect(answer.text).toContain('"match":{"all":[{"value":1.50,"op":"gte","path":"body.amount"}]}')
    const { id } = Watchdog.parse(answer.body)
    expect((await alice.get(`${WATCHDOGS}/${id}`)).text).toContain('"value":1.50,"op":"gte"')
  })

  test.each([
    ['a bare leaf of 16 KiB', leafOf(16_384)],
    ['numbers whose canonical text is long', `{"all":[${Array(8).fill(longNumbers).join(',')}]}`],
    ['a value that nests 255 deep', leaf('eq', `${'['.repeat(255)}${']'.repeat(255)}`)],
  ])('reads back every match that it takes: %s', async (_, match) => {
    const target = await alice.endpoint()
    const post = (path: string, members: string) =>
      alice.post(path, undefined, {
        rawBody: `{${members}}`,
        headers: { 'Content-Type': 'application/json' },
      })
    const made = await post(
      WATCHDOGS,
      `"endpointId":"${target.id}","expectedIntervalSeconds":60,"match":${match}`,
    )
    expect(made.status).toBe(201)
    const { id } = Watchdog.parse(made.body)
    const action = `"kind":"forward","url":"https://example.com/","condition":${match}`
    expect((await post(target.at('/actions'), action)).status).toBe(201)
    expect((await target.send({ body: '{}' })).status).toBe(200)
    expect((await alice.put(`${WATCHDOGS}/${id}`, { name: 'renamed' })).status).toBe(200)
    expect((await alice.get(`${WATCHDOGS}/${id}/timeline`)).status).toBe(200)
    expect((await alice.get(target.at('/actions'))).status).toBe(200)
    const storeRules = [{ op: 'remove', paths: ['body.x'] }]
    expect((await alice.patch(target.at(''), { storeRules })).status).toBe(200)
    await service.clock.advance(11_000)
    await check(service)
  })

  test('names every wrong part, in document order', async () => {
    const answer = await alice.post(WATCHDOGS, {
      endpointId: endpoint.id,
      name: '',
      match: { all: [{ path: 'body.a', op: 'equals', value: 1 }] },
      expectedIntervalSeconds: 0,
      graceSeconds: -1,
      active: 'yes',
      alertContactIds: [randomUUID(), 5, 'zz'],
    })
    expect(wrongParts(answer)).toEqual([
      '#/name too_short',
      '#/match/all/0/op unknown_op',
      '#/expectedIntervalSeconds out_of_range',
      '#/graceSeconds out_of_range',
      '#/active type',
      '#/alertContactIds/0 unknown_value',
      '#/alertContactIds/1 type',
      '#/alertContactIds/2 unknown_value',
    ])
  })

  test.each([
    [{ expectedIntervalSeconds: 2_678_401 }, '#/expectedIntervalSeconds out_of_range'],
    [{ graceSeconds: 2_678_401 }, '#/graceSeconds out_of_range'],
    [{ expectedIntervalSeconds: undefined }, '#/expectedIntervalSeconds required'],
    [{ name: 'x'.repeat(101) }, '#/name too_long'],
    [{ match: [] }, '#/match type'],
    [{ alertContactIds: Array.from({ length: 21 }, () => randomUUID()) }, '#/alertContactIds too_many'],
    [{ endpointId: 'nope' }, '#/endpointId bad_format'],
  ])('refuses %j', async (members, expected) => {
    const body = { endpointId: endpoint.id, expectedIntervalSeconds: 60, ...members }
    expect(wrongParts(await alice.post(WATCHDOGS, body))).toEqual([expected])
  })

  test('an endpoint that is unknown, foreign, deleted or expired answers 404 before any 400', async () => {
    const foreign = await service.charlie.endpoint()
    const deleted = await alice.endpoint()
    await alice.delete(deleted.at(''))
    for (const endpointId of [randomUUID(), foreign.id, deleted.id]) {
      const answer = await alice.post(WATCHDOGS, { endpointId, expectedIntervalSeconds: 1 })
      expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } })
    }
  })

  test('over the plan limit answers 409; on a plan without watchdogs 403', async () => {
    const one = await startService({ limits: { watchdogsMax: 1 } })
    const target = await one.alice.endpoint()
    await makeWatchdog(target)
    const body = { endpointId: target.id, expectedIntervalSeconds: 60 }
    expect(await one.alice.post(WATCHDOGS, body)).toMatchObject({
      status: 409,
      body: { code: 'limit_reached' },
    })
    await one.stop()
    const none = await startService({ limits: { watchdogsMax: 0 } })
    const other = await none.alice.endpoint()
    expect(await none.alice.post(WATCHDOGS, { ...body, endpointId: other.id })).toMatchObject({
      status: 403,
      body: { code: 'feature_not_in_plan' },
    })
    await none.stop()
  })
})

describe('GET /api/v1/watchdogs', () => {
  test('lists newest first in the envelope, of this workspace only', async () => {
    const client = await service.newClient()
    const target = await client.endpoint()
    const made = []
    for (const name of ['first', 'second', 'third']) made.push(await makeWatchdog(target, { name }))
    const page = await client.expect(client.get(`${WATCHDOGS}?pageSize=2`), WatchdogPage)
    expect(page).toMatchObject({ totalCount: 3, page: 1, pageSize: 2, totalPages: 2 })
    expect(page.items.map(({ name }) => name)).toEqual(['third', 'second'])
    expect((await client.expect(client.get(`${WATCHDOGS}?page=3`), WatchdogPage)).items).toEqual([])
  })
})

describe('PUT /api/v1/watchdogs/{id}', () => {
  test('what GET answered can be sent back and changes nothing', async () => {
    const made = await makeWatchdog(endpoint, { match: { path: 'method', op: 'eq', value: 'POST' } })
    expect(await putWatchdog(alice, made, made)).toEqual(made)
  })

  test('changes only what it names; null is unchanged', async () => {
    const made = await makeWatchdog(endpoint)
    const edited = await putWatchdog(alice, made, { name: 'renamed', graceSeconds: null, match: null })
    expect(edited).toEqual({ ...made, name: 'renamed' })
  })

  test('a match that is put back while another one is put watches what it says', async () => {
    const [first, second] = [
      { path: 'body.x', op: 'eq', value: 1 },
      { path: 'body.x', op: 'eq', value: 2 },
    ]
    const watchdog = await makeWatchdog(endpoint, { match: first })
    const watched = async () =>
      (
        await sql<{
          match: string
        }>`select c.match from watchdogs w join watchdog_criteria c on c.id = w.criteria_id
          where w.id = ${watchdog.id}`.execute(service.db)
      ).rows
    const before = await watched()
    await using lock = holdOpen(service.db, (trx) =>
      sql`select from workspaces where id = ${alice.workspaceId} for no key update`.execute(trx),
    )
    await lock.isOpen
    const puts = []
    for (const match of [second, first]) {
      puts.push(putWatchdog(alice, watchdog, { match }))
      await eventually('the change waits', async () => (await countLockWaits(service.db)) >= puts.length)
    }
    await lock.release()
    await Promise.all(puts)
    expect(await readWatchdog(alice, watchdog)).toMatchObject({ match: { all: [first] } })
    expect(await watched()).toEqual(before)
  })

  test('refuses another endpointId', async () => {
    const made = await makeWatchdog(endpoint)
    const other = await alice.endpoint()
    expect(wrongParts(await alice.put(`${WATCHDOGS}/${made.id}`, { endpointId: other.id }))).toEqual([
      '#/endpointId not_allowed',
    ])
  })

  test('pauses with active false', async () => {
    const made = await makeWatchdog(endpoint)
    expect((await putWatchdog(alice, made, { active: false })).state).toBe('paused')
  })

  test('a contact that was removed since stays until the list is changed', async () => {
    const contact = await service.operator.contacts.add({
      workspace: alice.workspaceId,
      email: 'ops@example.test',
    })
    const made = await makeWatchdog(endpoint, { alertContactIds: [contact.id] })
    expect(made.alertContactIds).toEqual([contact.id])
    await service.operator.contacts.remove({ workspace: alice.workspaceId, contact: contact.id })
    expect((await putWatchdog(alice, made, made)).alertContactIds).toEqual([contact.id])
    const other = { alertContactIds: [contact.id, contact.id] }
    expect((await alice.put(`${WATCHDOGS}/${made.id}`, other)).status).toBe(400)
    expect((await putWatchdog(alice, made, { alertContactIds: [] })).alertContactIds).toEqual([])
  })
})

describe('POST /api/v1/watchdogs/{id}/active', () => {
  test('needs active', async () => {
    const made = await makeWatchdog(endpoint)
    expect(wrongParts(await alice.post(`${WATCHDOGS}/${made.id}/active`, {}))).toEqual(['#/active required'])
  })
})

describe('DELETE /api/v1/watchdogs/{id}', () => {
  test('answers 204, then 404, and no alert follows', async () => {
    const made = await makeWatchdog(endpoint)
    expect((await alice.delete(`${WATCHDOGS}/${made.id}`)).status).toBe(204)
    expect((await alice.delete(`${WATCHDOGS}/${made.id}`)).status).toBe(404)
    expect((await alice.get(`${WATCHDOGS}/${made.id}`)).status).toBe(404)
    await service.clock.advance(100_000_000)
    await check(service)
    expect(await raised(service, made)).toEqual([])
  })
})

test('with its endpoint, a watchdog is gone at once: deleted or expired', async () => {
  const client = await service.newClient()
  const deleted = await client.endpoint()
  const expiring = await client.endpoint({ ttlSeconds: 60 })
  const [one, other] = [await makeWatchdog(deleted), await makeWatchdog(expiring)]
  await client.delete(deleted.at(''))
  expect((await client.get(`${WATCHDOGS}/${one.id}`)).status).toBe(404)
  expect((await readWatchdog(client, other)).state).toBe('waiting')
  await service.clock.advance(61_000)
  expect((await client.get(`${WATCHDOGS}/${other.id}`)).status).toBe(404)
  expect((await client.expect(client.get(WATCHDOGS), WatchdogPage)).totalCount).toBe(0)
  await service.clock.advance(100_000)
  await check(service)
  expect(await raised(service, other)).toEqual([])
})

test('with its endpoint, an alarmed watchdog no longer counts: no incident is open', async () => {
  const client = await service.newClient()
  const deleted = await client.endpoint()
  const expiring = await client.endpoint({ ttlSeconds: 3600 })
  for (const of of [deleted, expiring]) await makeWatchdog(of)
  await pass(service, 800)
  const Incidents = z.looseObject({ items: z.array(z.looseObject({ endpointId: z.string() })) })
  const open = async () => {
    const { items } = await client.expect(client.get('/api/v1/incidents?state=open'), Incidents)
    return items.map(({ endpointId }) => endpointId)
  }
  const Usage = z.looseObject({ watchdogs: z.looseObject({ count: z.int() }) })
  const counted = async () => (await client.expect(client.get('/api/v1/usage'), Usage)).watchdogs.count
  expect((await open()).toSorted()).toEqual([deleted.id, expiring.id].toSorted())
  expect(await counted()).toBe(2)
  await client.delete(deleted.at(''))
  expect(await open()).toEqual([expiring.id])
  expect(await counted()).toBe(1)
  await service.clock.advance(3600_000)
  expect(await counted()).toBe(0)
  await service.clock.advance(15 * 60_000)
  await service.runJob('endpoints.sweep', {})
  expect(await open()).toEqual([])
})

describe('GET /api/v1/watchdogs/labels', () => {
  test('counts labels of stored requests, the most frequent first', async () => {
    const client = await service.newClient()
    const target = await client.endpoint()
    for (const type of ['b', 'a', 'c', 'c']) await target.capture({ body: JSON.stringify({ type }) })
    await target.capture({ body: '[]' })
    expect((await client.get(`${WATCHDOGS}/labels?endpointId=${target.id}`)).body).toEqual({
      items: [
        { label: 'c', count: 2 },
        { label: 'a', count: 1 },
        { label: 'b', count: 1 },
      ],
    })
  })

  test('needs a known endpoint', async () => {
    expect(wrongParts(await alice.get(`${WATCHDOGS}/labels`))).toEqual(['?endpointId required'])
    expect(wrongParts(await alice.get(`${WATCHDOGS}/labels?endpointId=1`))).toEqual([
      '?endpointId bad_format',
    ])
    expect((await service.charlie.get(`${WATCHDOGS}/labels?endpointId=${endpoint.id}`)).status).toBe(404)
  })
})

describe('GET /api/v1/watchdogs/suggest', () => {
  const suggest = (client: Client, { id }: { id: string }, match?: unknown) =>
    client.get(
      `${WATCHDOGS}/suggest?endpointId=${id}${match === undefined ? '' : `&match=${encodeURIComponent(JSON.stringify(match))}`}`,
    )

  test('measures the rhythm of stored captures, with its evidence', async () => {
    const own = await startService({ parts: ['gateway'] })
    const target = await own.alice.endpoint()
    const sent: string[] = []
    for (let index = 0; index < 12; index += 1) {
      sent.push((await target.capture({ body: '{"type":"tick"}' })).receivedAt)
      await target.capture({ body: '{"type":"noise"}' })
      await own.clock.advance(300_000)
    }
    const answer = await suggest(own.alice, target, { path: 'label', op: 'eq', value: 'tick' })
    expect(answer.body).toMatchObject({
      available: true,
      reason: null,
      samples: 12,
      expectedIntervalSeconds: 600,
      graceSeconds: 120,
      newestAt: sent.at(-1),
      oldestAt: sent[0],
    })
    await own.stop()
  })

  test('reads what the match needs, however large the captures are, up to 501 that match', async () => {
    const own = await startService({ parts: ['gateway'] })
    const target = await own.alice.endpoint()
    // PostgreSQL cannot skip the others, which contain the word, too.
    const body = (kind: string) => JSON.stringify({ kind, also: 'tick', filling: 'x'.repeat(30_000) })
    // In pieces: a busy machine refuses some of so many at once.
    for (let sent = 0; sent < 560; sent += 40) {
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          target.send({ body: body(index % 10 === 0 ? 'tick' : 'noise') }),
        ),
      )
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    }
    await own.db
      .updateTable('requests')
      .set({ receivedAt: sql`now() - (560 - rank) * interval '30 s'` })
      .from(
        own.db
          .selectFrom('requests')
          .select(['id as rankedId', sql<number>`row_number() over (order by id)`.as('rank')])
          .as('ranked'),
      )
      .whereRef('requests.id', '=', 'ranked.rankedId')
      .execute()
    const { reads } = own.running.services
    const ctx = {
      reads,
      signal: new AbortController().signal,
      workspace: { id: own.alice.workspaceId, name: 'w' },
    }
    const search = (op: 'eq' | 'neq', budgetMs: number) => {
      const condition = storedCondition(`{"path":"body.kind","op":"${op}","value":"tick"}`)
      return searchHistory(ctx, target.id, condition, { limit: 501, budgetMs })
    }
    // The time of the route is bounded, and a busy machine needs longer.
    const rare = await search('eq', UNHURRIED_MS)
    expect([rare.isComplete, rare.matches.length]).toEqual([true, 56])
    const most = await search('neq', UNHURRIED_MS)
    const times = most.matches.map(({ receivedAt }) => receivedAt)
    expect(suggestFrom(times, most.isComplete)).toMatchObject({
      available: true,
      samples: 501,
      observedP90Seconds: 60,
    })
    const cut = await search('neq', 1)
    expect(cut.isComplete).toBe(false)
    expect(cut.matches.length).toBeLessThan(501)
    await own.stop()
  })

  test('says when there is too little history', async () => {
    const target = await alice.endpoint()
    const sent = (await target.captureMany(3)).map(({ receivedAt }) => receivedAt)
    const { body } = await suggest(alice, target)
    expect(body).toEqual({
      available: false,
      reason: expect.any(String),
      samples: 3,
      expectedIntervalSeconds: null,
      graceSeconds: null,
      observedP90Seconds: null,
      newestAt: sent.at(-1),
      oldestAt: sent[0],
    })
  })

  test('refuses a match that is no JSON, or no condition', async () => {
    expect(wrongParts(await alice.get(`${WATCHDOGS}/suggest?endpointId=${endpoint.id}&match={`))).toEqual([
      '?match bad_format',
    ])
    expect(wrongParts(await suggest(alice, endpoint, { path: 'nope.x', op: 'eq', value: 1 }))).toEqual([
      '?match bad_path',
    ])
    expect((await suggest(alice, { id: randomUUID() })).status).toBe(404)
  })
})
