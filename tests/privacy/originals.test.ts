import { beforeAll, expect, test } from 'bun:test'
import { sweepOriginals } from '@creel/core/requests'
import { sql } from 'kysely'
import { z } from 'zod'
import { expectCountersEqualRows, whileBroken } from '../retention/support.ts'
import type { Client, TestEndpoint } from '../support/client.ts'
import { boundRows } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { wrongParts } from '../support/problems.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'

/** `forwardOriginal`: deliveries have the whole request, although less is stored, until they have ended. */

let service: TestService
let alice: Client

beforeAll(async () => {
  service = await startService({
    limits: { apiRatePerMinute: 100_000, endpointsMax: 1_000 },
    retryDelaysSeconds: [],
  })
  alice = service.alice
  // Only the tests sweep: the schedule would do so at the beginning of any minute.
  await sql`delete from pgboss.schedule where name = 'endpoints.sweep'`.execute(service.db)
  await sweep()
})

const SETTINGS = {
  storeRules: [{ op: 'redact', paths: ['body.email', 'query.token'] }],
  dropHeaders: ['X-Secret'],
  forwardOriginal: true,
}
const MAIL = 'ada@original.example'
const SENT = {
  body: JSON.stringify({ email: MAIL, n: 1.5 }),
  headers: { 'Content-Type': 'application/json', 'X-Secret': `key of ${MAIL}` },
  suffix: `/in?token=${MAIL}`,
}

async function forwarding(
  receiver: Receiver,
  settings: Readonly<Record<string, unknown>> = SETTINGS,
): Promise<TestEndpoint> {
  const endpoint = await alice.endpoint(settings)
  const action = { kind: 'forward', name: 'App', url: receiver.url, appendPath: true, appendQuery: true }
  expect((await alice.post(endpoint.at('/actions'), action)).status).toBe(201)
  return endpoint
}

const Actions = z.object({ actions: z.array(z.looseObject({ id: z.string() })) })
const Detail = z.looseObject({ originalUntil: z.string().nullable(), state: z.string() })
const detailOf = (endpoint: TestEndpoint, id: number) =>
  alice.expect(alice.get(endpoint.at(`/requests/${id}`)), Detail)
const stateOf = (endpoint: TestEndpoint, id: number, state: string) =>
  eventually(`request ${id} is ${state}`, async () => (await detailOf(endpoint, id)).state === state)
const sweep = () => service.runJob('endpoints.sweep', {})

/** Whether any table has the text in some column. */
async function isStored(text: string): Promise<boolean> {
  const { rows: tables } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public'`.execute(service.db)
  for (const { name } of tables) {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from ${sql.table(name)} t
      where t::text like ${`%${text}%`} or t::text like ${`%${Buffer.from(text).toString('hex')}%`}`.execute(
      service.db,
    )
    if ((rows[0]?.count ?? 0) > 0) return true
  }
  return false
}

test('a forward has the original, no row has it, and its key is gone once the delivery has ended', async () => {
  await using receiver = await startReceiver((request, response) => response.end(request.body))
  const endpoint = await forwarding(receiver)
  const { id } = await endpoint.capture(SENT)
  const [forwarded] = await receiver.take(1)
  expect(String(forwarded?.body)).toBe(SENT.body)
  expect(forwarded?.header('X-Secret')).toBe(`key of ${MAIL}`)
  expect(forwarded?.url).toBe(`/hooks/in?token=${MAIL}`)
  await stateOf(endpoint, id, 'Succeeded')
  expect(await detailOf(endpoint, id)).toMatchObject({
    body: '{"email":"***","n":1.5}',
    redacted: true,
    originalUntil: expect.any(String),
  })
  expect(await isStored(MAIL)).toBe(false)
  const again = await alice.post(endpoint.at(`/requests/${id}/replay`))
  expect(again.body).toMatchObject({ state: 'Succeeded' })
  expect(String(receiver.received.at(-1)?.body)).toBe(SENT.body)
  expect(await isStored(MAIL)).toBe(false)
  await sweep()
  expect((await detailOf(endpoint, id)).originalUntil).toBeNull()
  const gone = await alice.post(endpoint.at(`/requests/${id}/replay`))
  expect({ status: gone.status, body: gone.body }).toMatchObject({
    status: 409,
    body: { code: 'original_gone' },
  })
  const { rows } = await sql`
    select 1 from creel_keys.original_keys where endpoint_id = ${endpoint.id}
    union all select 1 from request_originals where endpoint_id = ${endpoint.id}`.execute(service.db)
  expect(rows).toEqual([])
})

test('an original with an answer stays until its sender has it', async () => {
  await using receiver = await startReceiver({
    status: 200,
    headers: { 'Content-Type': 'text/plain' },
    body: 'an answer',
  })
  const endpoint = await forwarding(receiver)
  const [action] = (await alice.expect(alice.get(endpoint.at('/actions')), Actions)).actions
  expect((await alice.patch(endpoint.at(''), { answerFrom: { actionId: action?.id } })).status).toBe(200)
  const { id } = await endpoint.capture(SENT)
  await stateOf(endpoint, id, 'Succeeded')
  // Another process may have stored the answer, and the gateway be about to read it.
  await sweep()
  expect((await detailOf(endpoint, id)).originalUntil).not.toBeNull()
  await service.clock.advance(20_000)
  await sweep()
  expect((await detailOf(endpoint, id)).originalUntil).toBeNull()
})

test('a dead letter can be replayed until its time is over, and is not sent in part after that', async () => {
  await using receiver = await startReceiver({ status: 503 })
  const endpoint = await forwarding(receiver, { ...SETTINGS, originalHours: 2 })
  const { id } = await endpoint.capture(SENT)
  await stateOf(endpoint, id, 'DeadLetter')
  await sweep()
  const until = (await detailOf(endpoint, id)).originalUntil
  expect(until).not.toBeNull()
  receiver.answer = { status: 200 }
  const replay = await alice.post(endpoint.at('/requests/bulk-replay'), { requestIds: [id] })
  expect(replay.status).toBe(202)
  await receiver.take(2)
  expect(String(receiver.received.at(-1)?.body)).toBe(SENT.body)
  await stateOf(endpoint, id, 'Succeeded')

  const [action] = (await alice.expect(alice.get(endpoint.at('/actions')), Actions)).actions
  const switchTo = (change: 'pause' | 'resume') => alice.post(endpoint.at(`/actions/${action?.id}/${change}`))
  expect((await switchTo('pause')).status).toBe(200)
  const waiting = await endpoint.capture(SENT)
  await service.clock.advance(3 * 3_600_000)
  const sentCount = receiver.received.length
  expect((await alice.post(endpoint.at(`/requests/${id}/replay`))).status).toBe(409)
  const late = await alice.post(endpoint.at('/requests/bulk-replay'), { requestIds: [id] })
  expect(late.body).toMatchObject({ queuedCount: 0, skippedCount: 1 })
  expect((await switchTo('resume')).status).toBe(200)
  await stateOf(endpoint, waiting.id, 'Errored')
  expect(receiver.received).toHaveLength(sentCount)
  await sweep()
  expect(await isStored(MAIL)).toBe(false)
})

test('a replay of many chooses actions by the original, as that of one and the capture do', async () => {
  await using receiver = await startReceiver({ status: 503 })
  const endpoint = await alice.endpoint(SETTINGS)
  const action = {
    kind: 'forward',
    name: 'Hers',
    url: receiver.url,
    condition: { all: [{ path: 'body.email', op: 'eq', value: 'hers' }] },
  }
  expect((await alice.post(endpoint.at('/actions'), action)).status).toBe(201)
  const body = '{"email":"hers"}'
  const { id } = await endpoint.capture({ ...SENT, body })
  const other = await endpoint.capture({ ...SENT, body: '{"email":"other"}' })
  await stateOf(endpoint, id, 'DeadLetter')
  receiver.answer = { status: 200 }
  const queued = await alice.post(endpoint.at('/requests/bulk-replay'), { requestIds: [id, other.id] })
  expect(queued.body).toMatchObject({ queuedCount: 1, deliveryCount: 1, skippedCount: 1 })
  await stateOf(endpoint, id, 'Succeeded')
  expect(receiver.received.map(({ body }) => String(body))).toEqual([body, body])
})

test('a duplicate that is stored without deliveries has no original, and is replayed as it is stored', async () => {
  await using receiver = await startReceiver()
  const endpoint = await forwarding(receiver, {
    ...SETTINGS,
    dedupe: { by: 'body.n', windowSeconds: 600, then: 'skip' },
  })
  const first = await endpoint.capture(SENT)
  const { id } = await endpoint.capture(SENT)
  await stateOf(endpoint, first.id, 'Succeeded')
  expect(await detailOf(endpoint, id)).toMatchObject({
    duplicateOf: first.id,
    redacted: true,
    redactedPaths: ['body.email', 'query.token', 'headers.x-secret'],
    originalUntil: null,
  })
  const replay = await alice.post(endpoint.at(`/requests/${id}/replay`))
  expect(replay.body).toMatchObject({ state: 'Succeeded' })
  expect(receiver.received.map(({ body }) => String(body))).toEqual([SENT.body, '{"email":"***","n":1.5}'])
})

test('a path that PostgreSQL cannot read as JSON stops no duplicate and no replay of many', async () => {
  await using receiver = await startReceiver()
  const endpoint = await forwarding(receiver, {
    ...SETTINGS,
    storeRules: [{ op: 'redact', paths: ['body["\ud800"]'] }],
    dedupe: { by: 'body.n', windowSeconds: 600, then: 'skip' },
  })
  const sent = { body: JSON.stringify({ n: 1, '\ud800': 'x' }) }
  const first = await endpoint.capture(sent)
  const again = await endpoint.capture(sent)
  expect(await detailOf(endpoint, again.id)).toMatchObject({
    duplicateOf: first.id,
    redactedPaths: ['body["\ufffd"]'],
  })
  await stateOf(endpoint, first.id, 'Succeeded')
  // As earlier versions wrote it.
  const redaction = JSON.stringify({ paths: ['body["\ud800"]', 'query.\0'], fault: null, original: true })
  await service.db
    .updateTable('requests')
    .set({ redaction })
    .where('endpointId', '=', endpoint.id)
    .where('id', '=', first.id)
    .execute()
  const requestIds = [first.id, again.id]
  const queued = await alice.post(endpoint.at('/requests/bulk-replay'), { requestIds })
  expect(queued.body).toMatchObject({ queuedCount: 2, skippedCount: 0 })
  await receiver.take(3)
})

test('an original that was altered ends its delivery, and none beside it', async () => {
  await using receiver = await startReceiver()
  const endpoint = await forwarding(receiver)
  const [action] = (await alice.expect(alice.get(endpoint.at('/actions')), Actions)).actions
  await alice.post(endpoint.at(`/actions/${action?.id}/pause`))
  const altered = await endpoint.capture(SENT)
  const whole = await endpoint.capture(SENT)
  await sql`
    update request_originals set original = set_byte(original, 40, get_byte(original, 40) # 1)
    where request_id = ${altered.id}`.execute(service.db)
  await alice.post(endpoint.at(`/actions/${action?.id}/resume`))
  await stateOf(endpoint, whole.id, 'Succeeded')
  await stateOf(endpoint, altered.id, 'Errored')
  expect(receiver.received).toHaveLength(1)
})

test('a challenge that is stored without deliveries has no original, and is replayed as it is stored', async () => {
  await using receiver = await startReceiver()
  const endpoint = await forwarding(receiver, {
    ...SETTINGS,
    provider: 'slack',
    signingSecret: 'a secret that nobody guesses',
    rejectUnverified: true,
  })
  const body = JSON.stringify({ type: 'url_verification', challenge: 'c-123', email: MAIL })
  const { id } = await endpoint.capture({ body })
  const stored = JSON.stringify({ type: 'url_verification', challenge: 'c-123', email: '***' })
  expect(await detailOf(endpoint, id)).toMatchObject({
    body: stored,
    state: 'NotAttempted',
    originalUntil: null,
  })
  expect(await isStored(MAIL)).toBe(false)
  await expectCountersEqualRows(service, endpoint.id)
  const replay = await alice.post(endpoint.at(`/requests/${id}/replay`))
  expect(replay.body).toMatchObject({ state: 'Succeeded' })
  expect(String(receiver.received[0]?.body)).toBe(stored)
})

test('the message of a notify action has what is stored, at the capture and in a replay', async () => {
  await using receiver = await startReceiver({ status: 503 })
  await using team = await startReceiver()
  const endpoint = await forwarding(receiver)
  const channel = await alice.expect(
    alice.post('/api/v1/alert-channels', {
      kind: 'webhook',
      name: 'Team of originals',
      settings: { url: team.url },
    }),
    z.looseObject({ id: z.string() }),
  )
  const tell = { kind: 'notify', name: 'Tell', alertChannelId: channel.id }
  await alice.post(endpoint.at('/actions'), { ...tell, messageTemplate: 'From <{{body.email}}>' })
  const { id } = await endpoint.capture(SENT)
  const messages = () => team.received.map(({ body }) => String(body))
  const counting = () => messages().filter((body) => body.includes('From <***>')).length
  await eventually('the message was sent', () => counting() === 1)
  expect((await alice.post(endpoint.at(`/requests/${id}/replay`))).status).toBe(200)
  expect(messages().filter((body) => body.includes(MAIL))).toEqual([])
  expect(counting()).toBe(2)
  expect(await isStored(MAIL)).toBe(false)
})

test('the record of an attempt has no value of the original, whichever field repeats it', async () => {
  await using receiver = await startReceiver({ status: 200 })
  const id = 'evt-of-ada-original'
  const endpoint = await forwarding(receiver, {
    eventIdPath: 'body.id',
    storeRules: [
      { op: 'remove', paths: ['body.id', 'headers.Webhook-Id', 'headers.Webhook-Timestamp'] },
      { op: 'redact', paths: ['headers.Webhook-Signature'] },
    ],
    forwardOriginal: true,
  })
  const fields = ['Webhook-Id', 'Webhook-Timestamp', 'Webhook-Signature']
  const { id: requestId } = await endpoint.capture({
    body: JSON.stringify({ id }),
    headers: Object.fromEntries(fields.map((name) => [name, `${name} of ${id}`])),
  })
  const [forwarded] = await receiver.take(1)
  expect(forwarded?.header('Creel-Event-Id')).toBe(id)
  for (const name of fields) expect(forwarded?.header(name)).toBe(`${name} of ${id}`)
  await stateOf(endpoint, requestId, 'Succeeded')
  const Row = z.looseObject({ id: z.int(), eventId: z.string().nullable() })
  const { eventId } = await alice.expect(alice.get(endpoint.at(`/requests/${requestId}`)), Row)
  expect(eventId).toMatch(/^[0-9a-f]{64}$/)
  const { items } = await alice.expect(
    alice.get(endpoint.at('/deliveries')),
    z.object({ items: z.array(z.looseObject({ id: z.int() })) }),
  )
  const attempt = await alice.get(endpoint.at(`/deliveries/${items[0]?.id}`))
  expect(attempt.body).toMatchObject({
    sent: {
      headers: { 'creel-event-id': eventId, 'creel-request-id': String(requestId), 'creel-hops': '1' },
    },
  })
  expect(await isStored(id)).toBe(false)
})

test('a deleted endpoint loses the keys of its originals at once', async () => {
  await using receiver = await startReceiver({ status: 503 })
  const endpoint = await forwarding(receiver)
  const { id } = await endpoint.capture(SENT)
  await stateOf(endpoint, id, 'DeadLetter')
  expect((await alice.delete(endpoint.at(''))).status).toBe(204)
  const { rows } = await sql`
    select from creel_keys.original_keys where endpoint_id = ${endpoint.id}`.execute(service.db)
  expect(rows).toEqual([])
})

test.each<[string, (endpoint: TestEndpoint) => Promise<unknown>]>([
  ['a shred', (endpoint) => alice.post(endpoint.at('/shred'))],
  ['the deletion of their endpoint', (endpoint) => alice.delete(endpoint.at(''))],
  [
    'a deletion that did not come to its end',
    async ({ id }) => {
      await sql`update endpoints set deleted_at = now() where id = ${id}`.execute(service.db)
      await service.runJob('endpoints.sweep', {})
    },
  ],
])('%s destroys originals in short statements, however many wait', async (_, destroy) => {
  const { db } = service
  const endpoint = await alice.endpoint(SETTINGS)
  const ofEndpoint = async (table: string) => {
    const { rows } = await sql`select from ${sql.table(table)} where endpoint_id = ${endpoint.id}`.execute(db)
    return rows.length
  }
  await sql`
    with kept as (
      insert into request_originals (endpoint_id, request_id, original, expires_at)
      select ${endpoint.id}, n, 'x', now() + interval '1 day' from generate_series(1, 1200) n
      returning endpoint_id, request_id
    )
    insert into creel_keys.original_keys (id, workspace_id, endpoint_id, request_id, original_key)
    select gen_random_uuid(), ${alice.workspaceId}, endpoint_id, request_id, 'x' from kept`.execute(db)
  {
    await using _ = await boundRows(db, { table: 'creel_keys.original_keys', change: 'delete', most: 500 })
    await destroy(endpoint)
  }
  expect([await ofEndpoint('request_originals'), await ofEndpoint('creel_keys.original_keys')]).toEqual([
    0, 0,
  ])
})

test('originals that cannot be destroyed keep no others', async () => {
  const { db, running } = service
  const [broken = '', whole] = [await alice.endpoint(), await alice.endpoint()].map(({ id }) => id).toSorted()
  for (const id of [broken, whole])
    await sql`
      insert into request_originals (endpoint_id, request_id, original, expires_at)
      select ${id}, n, 'x', now() - interval '1 day' from generate_series(1, 600) n`.execute(db)
  const sweepNow = () => sweepOriginals(running.services, new AbortController().signal)
  const left = async () => {
    const { rows } =
      await sql`select from request_originals where endpoint_id = any(${[broken, whole]})`.execute(db)
    return rows.length
  }
  const work = async () => {
    expect(await sweepNow().catch(({ errors }: AggregateError) => String(errors))).toContain('missing chunk')
    // A page that begins in one of them may end in the other.
    expect(await left()).toBeLessThan(600 + 500)
  }
  await whileBroken(service, [broken], `raise 'missing chunk'`, work, 'request_originals')
  await sweepNow()
  expect(await left()).toBe(0)
})

test('settings that contradict each other are refused, each with its pointer', async () => {
  const made = await alice.post('/api/v1/endpoints', { forwardOriginal: true })
  expect(wrongParts(made)).toEqual(['#/forwardOriginal not_allowed'])
  expect(wrongParts(await alice.post('/api/v1/endpoints', { originalHours: 5 }))).toEqual([
    '#/originalHours not_allowed',
  ])
  expect(
    wrongParts(
      await alice.post('/api/v1/endpoints', { forwardOriginal: true, originalHours: 0, storeRules: [] }),
    ),
  ).toEqual(['#/forwardOriginal not_allowed', '#/originalHours out_of_range'])
  // A wrong member contradicts none: it might have been given right.
  const refused = async (members: object) =>
    wrongParts(await alice.post('/api/v1/endpoints', { forwardOriginal: true, ...members }))
  expect(await refused({ storeRules: 'x' })).toEqual([expect.stringMatching(/^#\/storeRules /)])
  expect(await refused({ dropHeaders: ['a b'] })).toEqual([expect.stringMatching(/^#\/dropHeaders\/0 /)])
  expect(await refused({ encryptBodies: 'x' })).toEqual(['#/encryptBodies type'])
  expect(await refused({ forwardOriginal: 'x', originalHours: 5 })).toEqual(['#/forwardOriginal type'])
  const endpoint = await alice.endpoint({ dropHeaders: ['Cookie'], forwardOriginal: true, originalHours: 5 })
  expect(wrongParts(await alice.patch(endpoint.at(''), { dropHeaders: [] }))).toEqual([
    '#/forwardOriginal not_allowed',
  ])
  const off = await alice.patch(endpoint.at(''), { dropHeaders: [], forwardOriginal: false })
  expect(off.body).toMatchObject({ forwardOriginal: false, originalHours: null })
})
