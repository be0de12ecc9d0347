import { beforeAll, expect, test } from 'bun:test'
import { sweepImports } from '@creel/core/exports'
import { sealStored } from '@creel/core/sealing'
import { sql } from 'kysely'
import { z } from 'zod'
import { abandonImport, acceptedImport } from '../support/acceptedImport.ts'
import type { Client, TestEndpoint } from '../support/client.ts'
import { startEcho } from '../support/echo.ts'
import { eventually } from '../support/eventually.ts'
import { wrongParts } from '../support/problems.ts'
import { processorTime } from '../support/processorTime.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'

/** `encryptBodies`: content is sealed at rest with a key of its endpoint, readers see it, and a shred ends it. */

let service: TestService
let alice: Client

beforeAll(async () => {
  service = await startService({
    limits: { apiRatePerMinute: 100_000, endpointsMax: 1_000 },
    retryDelaysSeconds: [],
  })
  alice = service.alice
})

const MAIL = 'ada@sealed.example'
const SENT = {
  body: JSON.stringify({ type: 'user.made', email: MAIL, n: 1.5 }),
  headers: {
    'Content-Type': 'application/json',
    'X-Person': `mail of ${MAIL}`,
    'User-Agent': `agent ${MAIL}`,
  },
  suffix: `/in/${MAIL}?token=${MAIL}`,
}

async function forwarding(receiver: Receiver, settings: Readonly<Record<string, unknown>> = {}) {
  const endpoint = await alice.endpoint({ encryptBodies: true, ...settings })
  const action = { kind: 'forward', name: 'App', url: receiver.url, appendPath: true, appendQuery: true }
  expect((await alice.post(endpoint.at('/actions'), action)).status).toBe(201)
  return endpoint
}

const Detail = z.looseObject({
  state: z.string(),
  sealed: z.boolean(),
  shredded: z.boolean(),
  body: z.string().nullable(),
  path: z.string(),
  queryString: z.string().nullable(),
})
const detailOf = (endpoint: TestEndpoint, id: number) =>
  alice.expect(alice.get(endpoint.at(`/requests/${id}`)), Detail)
const stateOf = (endpoint: TestEndpoint, id: number, state: string) =>
  eventually(`request ${id} is ${state}`, async () => (await detailOf(endpoint, id)).state === state)

/** The tables that have the text in some column. */
async function tablesWith(text: string): Promise<string[]> {
  const { rows: tables } = await sql<{ name: string }>`
    select schemaname || '.' || tablename as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`.execute(service.db)
  const found: string[] = []
  for (const { name } of tables) {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from ${sql.table(name)} t
      where t::text like ${`%${text}%`} or t::text like ${`%${Buffer.from(text).toString('hex')}%`}`.execute(
      service.db,
    )
    if ((rows[0]?.count ?? 0) > 0) found.push(name)
  }
  return found
}

const Attempts = z.object({ items: z.array(z.looseObject({ id: z.int() })) })
const attemptOf = async (endpoint: TestEndpoint) => {
  const { items } = await alice.expect(alice.get(endpoint.at('/deliveries')), Attempts)
  return await alice.get(endpoint.at(`/deliveries/${items[0]?.id}`))
}

test('readers see the content, no table has it, and the counters equal the rows', async () => {
  await using receiver = await startReceiver((request, response) => response.end(request.body))
  const endpoint = await forwarding(receiver)
  const { id } = await endpoint.capture(SENT)
  const [forwarded] = await receiver.take(1)
  expect(String(forwarded?.body)).toBe(SENT.body)
  expect(forwarded?.header('X-Person')).toBe(SENT.headers['X-Person'])
  expect(forwarded?.url).toBe(`/hooks/in/${MAIL}?token=${MAIL}`)
  await stateOf(endpoint, id, 'Succeeded')
  const shown = {
    sealed: true,
    shredded: false,
    path: `/in/${MAIL}`,
    contentType: 'application/json',
    userAgent: SENT.headers['User-Agent'],
    bodyPreview: SENT.body,
    bodyIsBinary: false,
  }
  expect(await detailOf(endpoint, id)).toMatchObject({
    ...shown,
    body: SENT.body,
    queryString: `token=${MAIL}`,
    headers: { 'X-Person': SENT.headers['X-Person'] },
  })
  const list = await alice.get(endpoint.at('/requests'))
  expect(list.body).toMatchObject({ items: [shown] })
  const body = await alice.get(endpoint.at(`/requests/${id}/body`))
  expect(body.text).toBe(SENT.body)
  const exported = await alice.get(endpoint.at('/requests/export?format=ndjson&includeSecrets=true'))
  expect(JSON.parse(exported.text)).toMatchObject({ body: SENT.body, queryString: `token=${MAIL}` })
  expect((await alice.get(endpoint.at('/shape'))).text).toContain(MAIL)
  const attempt = await attemptOf(endpoint)
  expect(attempt.text).toContain(`/in/${MAIL}?token=${MAIL}`)
  expect(attempt.body).toMatchObject({ sent: { body: SENT.body }, received: { body: SENT.body } })
  const replayed = await alice.post(endpoint.at(`/requests/${id}/replay`))
  expect(replayed.body).toMatchObject({ state: 'Succeeded' })
  expect(String(receiver.received.at(-1)?.body)).toBe(SENT.body)
  expect(await tablesWith(MAIL)).toEqual([])
  const { rows } = await sql<{ isEqual: boolean }>`
    select c.stored_bytes = octet_length(r.body) and c.storage_bytes = r.storage_bytes as is_equal
    from endpoint_counters c join requests r using (endpoint_id) where endpoint_id = ${endpoint.id}`.execute(
    service.db,
  )
  expect(rows).toEqual([{ isEqual: true }])
})

test('a search of text says that it does not find encrypted requests; other filters do', async () => {
  const endpoint = await alice.endpoint({ encryptBodies: true, provider: 'github' })
  await endpoint.capture({ ...SENT, headers: { ...SENT.headers, 'X-GitHub-Event': 'push' } })
  const found = await alice.get(endpoint.at('/requests?q=sealed.example'))
  expect(found.body).toMatchObject({ items: [], search: { sealed: true } })
  const labelled = await alice.get(endpoint.at('/requests?label=push'))
  expect(labelled.body).toMatchObject({ items: [{ label: 'push' }], search: { sealed: false } })
  const plain = await alice.endpoint({})
  await plain.capture({ body: 'a plain.example' })
  const other = await alice.get(plain.at('/requests?q=plain.example'))
  expect(other.body).toMatchObject({ items: [{ sealed: false }], search: { sealed: false } })
  const on = await alice.patch(plain.at(''), { encryptBodies: true })
  expect(on.body).toMatchObject({
    encryptBodies: true,
    warnings: [expect.stringContaining('Searches of text')],
  })
})

test('after a shred nothing is readable, replays are refused, and later captures have another key', async () => {
  await using receiver = await startReceiver({ status: 500 })
  const endpoint = await forwarding(receiver)
  const { id } = await endpoint.capture(SENT)
  await stateOf(endpoint, id, 'DeadLetter')
  const binned = await endpoint.capture(SENT)
  await stateOf(endpoint, binned.id, 'DeadLetter')
  expect((await alice.delete(endpoint.at(`/requests/${binned.id}`))).status).toBe(204)
  const shred = await alice.post(endpoint.at('/shred'))
  expect(shred.body).toEqual({ shredded: true })
  expect((await alice.post(`/api/v1/recycle-bin/restore`, { requestIds: [binned.id] })).status).toBeLessThan(
    300,
  )
  for (const one of [id, binned.id]) {
    expect(await detailOf(endpoint, one)).toMatchObject({
      sealed: true,
      shredded: true,
      path: '',
      body: null,
      queryString: null,
      bodyPreview: null,
      userAgent: null,
    })
    const replay = await alice.post(endpoint.at(`/requests/${one}/replay`))
    expect({ status: replay.status, body: replay.body }).toMatchObject({
      status: 409,
      body: { code: 'shredded' },
    })
    expect((await alice.get(endpoint.at(`/requests/${one}/body`))).status).toBe(409)
  }
  const answers = await Promise.all(
    ['/requests', '/deliveries', '/shape', '/requests/export?format=ndjson&includeSecrets=true'].map((path) =>
      alice.get(endpoint.at(path)),
    ),
  )
  expect(answers.map(({ text }) => text).join('\n')).not.toContain(MAIL)
  expect((await attemptOf(endpoint)).text).not.toContain(MAIL)
  const sentCount = receiver.received.length
  const bulk = await alice.post(endpoint.at('/requests/bulk-replay'), { requestIds: [id] })
  expect(bulk.body).toMatchObject({ queuedCount: 0, skippedCount: 1 })
  const next = await endpoint.capture(SENT)
  expect(await detailOf(endpoint, next.id)).toMatchObject({ shredded: false, body: SENT.body })
  await receiver.take(sentCount + 1)
  await stateOf(endpoint, next.id, 'DeadLetter')
  expect(await tablesWith(MAIL)).toEqual([])
  const audit = await alice.get(`/api/v1/audit?action=endpoints.shred&endpointId=${endpoint.id}`)
  expect(audit.body).toMatchObject({ items: [{ after: { shredded: true } }] })
  const { rows } = await sql`select from creel_keys.endpoint_keys where endpoint_id = ${endpoint.id}`.execute(
    service.db,
  )
  expect(rows).toHaveLength(1)
  expect((await alice.delete(endpoint.at(''))).status).toBe(204)
  const left = await sql`select from creel_keys.endpoint_keys where endpoint_id = ${endpoint.id}`.execute(
    service.db,
  )
  expect(left.rows).toHaveLength(0)
})

test('previews on a request whose key was destroyed are refused, and a link to it says so', async () => {
  const endpoint = await alice.endpoint({ encryptBodies: true })
  const { id } = await endpoint.capture(SENT)
  const { url } = await alice.expect(
    alice.post(endpoint.at(`/requests/${id}/share-links`), {}),
    z.looseObject({ url: z.string() }),
  )
  const previews: Readonly<Record<string, object>> = {
    [endpoint.at('/verification/preview')]: { provider: 'github', signingSecret: 'x' },
    [endpoint.at('/store-rules/preview')]: { storeRules: [{ op: 'redact', paths: ['body.email'] }] },
    [endpoint.at('/responses/preview')]: { responses: [{ status: 500 }] },
    [endpoint.at('/transformations/preview-set')]: {},
  }
  await alice.post(endpoint.at('/actions'), { kind: 'forward', name: 'App', url: 'https://app.example' })
  const tried = () =>
    Promise.all(
      Object.entries(previews).map(async ([path, body]) => {
        const { status, text } = await alice.post(path, { requestId: id, ...body })
        return { path, status, isShredded: text.includes('"code":"shredded"') }
      }),
    )
  const paths = Object.keys(previews)
  expect(await tried()).toEqual(paths.map((path) => ({ path, status: 200, isShredded: false })))
  await alice.post(endpoint.at('/shred'))
  expect(await tried()).toEqual(paths.map((path) => ({ path, status: 409, isShredded: true })))
  expect(await (await fetch(url)).text()).toContain('its key was destroyed')
})

test('an export shows a request whose key was destroyed as a trace, which no import makes a whole one', async () => {
  const endpoint = await alice.endpoint({ encryptBodies: true })
  await endpoint.capture(SENT)
  await alice.post(endpoint.at('/shred'))
  const { text } = await alice.get(endpoint.at('/requests/export?format=ndjson&includeSecrets=true'))
  expect(JSON.parse(text)).toMatchObject({ body: '', bodyTruncated: true, sizeBytes: SENT.body.length })
  const [row] = await endpoint.requests()
  const single = await alice.get(endpoint.at(`/requests/${row?.id}/export?format=curl`))
  expect(single.body).toMatchObject({ status: 409, code: 'shredded' })
  const copy = await alice.endpoint()
  const imported = await copy.importLines(text)
  expect(imported.body).toMatchObject({ importedCount: 1 })
  expect(await copy.requests()).toMatchObject([{ bodyTruncated: true }])
})

test('a shred forgets the names of fields that event types list', async () => {
  const name = 'rosalindfranklin'
  const endpoint = await alice.endpoint({ encryptBodies: true })
  await endpoint.capture({ body: JSON.stringify({ [name]: 1 }), headers: SENT.headers })
  await alice.expect(alice.get('/api/v1/events/types'), z.looseObject({}))
  expect(await tablesWith(name)).toEqual(['public.event_sources'])
  await alice.post(endpoint.at('/shred'))
  await alice.expect(alice.get('/api/v1/events/types'), z.looseObject({}))
  expect(await tablesWith(name)).toEqual([])
})

test('events for agents have the fields, and no table has them while they wait', async () => {
  await using callback = await startReceiver((request, response) => {
    const { challenge } = z
      .looseObject({ challenge: z.string().optional() })
      .parse(JSON.parse(String(request.body)))
    response.statusCode = challenge === undefined ? 503 : 200
    response.end(JSON.stringify({ challenge }))
  })
  const mail = 'grace@agents.example'
  const endpoint = await alice.endpoint({ name: 'sealedevents', encryptBodies: true })
  await alice.expect(alice.get('/api/v1/events/types'), z.looseObject({}))
  const made = await alice.post('/api/v1/subscriptions', {
    name: 'sealedevents.any',
    arguments: { fields: ['body.email'] },
    delivery: {
      mode: 'webhook',
      url: callback.url,
      secret: `whsec_${Buffer.alloc(32, 5).toString('base64')}`,
    },
  })
  expect(made.status).toBeLessThan(300)
  await endpoint.capture({
    body: JSON.stringify({ email: mail }),
    headers: { 'Content-Type': 'application/json' },
  })
  await eventually('an attempt', () => callback.received.some(({ body }) => String(body).includes(mail)))
  const { rows } = await sql<{ state: string; isSealed: boolean }>`
    select state, sealed is not null and body is null as is_sealed from event_deliveries d
    join event_subscriptions s on s.id = d.subscription_id where s.endpoint_id = ${endpoint.id}`.execute(
    service.db,
  )
  expect(rows).toEqual([{ state: 'waiting', isSealed: true }])
  expect(await tablesWith(mail)).toEqual([])
  await alice.delete(endpoint.at(''))
})

test('an event whose key was destroyed before it was sent is given up, and its callback goes on failing', async () => {
  await using callback = await startEcho(() => 503)
  const endpoint = await alice.endpoint({ name: 'shreddedevents', encryptBodies: true })
  await alice.expect(alice.get('/api/v1/events/types'), z.looseObject({}))
  const secret = `whsec_${Buffer.alloc(32, 6).toString('base64')}`
  const { id } = await alice.expect(
    alice.post('/api/v1/subscriptions', {
      name: 'shreddedevents.any',
      delivery: { mode: 'webhook', url: callback.url, secret },
    }),
    z.looseObject({ id: z.string() }),
  )
  const Shown = z.looseObject({ failedCount: z.int(), status: z.looseObject({ active: z.boolean() }) })
  const shown = () => alice.expect(alice.get(`/api/v1/subscriptions/${id}`), Shown)
  await endpoint.capture(SENT)
  const failing = await eventually('a failed attempt', async () => {
    const subscription = await shown()
    return !subscription.status.active && subscription
  })
  await alice.post(endpoint.at('/shred'))
  await service.clock.advance(40_000)
  const after = await eventually('the end of the event', async () => {
    const subscription = await shown()
    return subscription.failedCount === 1 && subscription
  })
  expect(after).toMatchObject({ sentCount: 0, status: failing.status })
  expect(failing.status).toMatchObject({ lastError: 'http_5xx', lastDeliveryAt: null })
  await alice.delete(endpoint.at(''))
})

test('switching it off keeps encrypted requests readable, and later captures are plain', async () => {
  const endpoint = await alice.endpoint({ encryptBodies: true })
  const before = await endpoint.capture(SENT)
  expect((await alice.patch(endpoint.at(''), { encryptBodies: false })).body).toMatchObject({
    encryptBodies: false,
  })
  const after = await endpoint.capture(SENT)
  expect(await detailOf(endpoint, before.id)).toMatchObject({ sealed: true, body: SENT.body })
  expect(await detailOf(endpoint, after.id)).toMatchObject({ sealed: false, body: SENT.body })
  await alice.delete(endpoint.at(''))
})

test('requests that were stored in plain are encrypted in the background, with all that repeats them', async () => {
  await using receiver = await startReceiver((request, response) => response.end(request.body))
  const mail = 'grace@earlier.example'
  const sent = {
    body: JSON.stringify({ email: mail }),
    headers: { 'Content-Type': 'application/json', 'X-Person': mail },
    suffix: `/in?token=${mail}`,
  }
  const endpoint = await forwarding(receiver, { encryptBodies: false })
  const { id } = await endpoint.capture(sent)
  await stateOf(endpoint, id, 'Succeeded')
  expect((await tablesWith(mail)).sort()).toEqual(['public.attempt_details', 'public.requests'])
  expect((await alice.patch(endpoint.at(''), { encryptBodies: true })).status).toBe(200)
  await service.runJob('endpoints.seal', {})
  expect(await tablesWith(mail)).toEqual([])
  expect(await detailOf(endpoint, id)).toMatchObject({ sealed: true, body: sent.body })
  expect((await attemptOf(endpoint)).body).toMatchObject({
    sent: { body: sent.body },
    received: { body: sent.body },
  })
  const { rows } = await sql<{ isEqual: boolean }>`
    select c.stored_bytes = octet_length(r.body) and c.storage_bytes = r.storage_bytes as is_equal
    from endpoint_counters c join requests r using (endpoint_id) where endpoint_id = ${endpoint.id}`.execute(
    service.db,
  )
  expect(rows).toEqual([{ isEqual: true }])
  // An attempt that read the request before it was sealed is recorded after.
  await sql`
    update attempt_details set sealed_with = null, sealed = null, sent_body = null, sent_url = ${`http://a/?token=${mail}`}
    where endpoint_id = ${endpoint.id}`.execute(service.db)
  // The run of each minute may have come in between, and have been the last one.
  await sql`insert into sealings (endpoint_id) values (${endpoint.id}) on conflict do nothing`.execute(
    service.db,
  )
  await service.runJob('endpoints.seal', {})
  expect(await tablesWith(mail)).toEqual([])
  expect((await attemptOf(endpoint)).body).toMatchObject({ sent: { body: sent.body } })
  const { rows: left } = await sql`select from sealings where endpoint_id = ${endpoint.id}`.execute(
    service.db,
  )
  expect(left).toEqual([])
})

test('what a channel said to a message that was stored in plain is forgotten, and the message encrypted', async () => {
  const mail = 'rosa@told.example'
  await using team = await startReceiver((request, response) => {
    response.statusCode = 400
    response.end(`refused: ${request.body}`)
  })
  const channel = await alice.expect(
    alice.post('/api/v1/alert-channels', { kind: 'webhook', name: 'Told', settings: { url: team.url } }),
    z.looseObject({ id: z.string() }),
  )
  const endpoint = await alice.endpoint({})
  const tell = { kind: 'notify', name: 'Tell', alertChannelId: channel.id, messageTemplate: '{{body.email}}' }
  await alice.post(endpoint.at('/actions'), tell)
  const { id } = await endpoint.capture({
    body: JSON.stringify({ email: mail }),
    headers: { 'Content-Type': 'application/json' },
  })
  await stateOf(endpoint, id, 'Failed')
  expect((await tablesWith(mail)).sort()).toEqual([
    ...['public.alert_channels', 'public.alert_deliveries', 'public.alerts'],
    ...['public.attempt_details', 'public.delivery_attempts', 'public.requests'],
  ])
  await alice.patch(endpoint.at(''), { encryptBodies: true })
  await service.runJob('endpoints.seal', {})
  expect(await tablesWith(mail)).toEqual([])
  const attempt = await attemptOf(endpoint)
  expect(attempt.body).toMatchObject({ error: 'http_400', received: { body: expect.stringContaining(mail) } })
})

test('order goes on while it is switched on, and no key, alert or waiting event keeps a value', async () => {
  await using receiver = await startReceiver({ status: 500 })
  await using callback = await startReceiver((request, response) => {
    const Challenge = z.looseObject({ challenge: z.string().optional() })
    const { challenge } = Challenge.parse(JSON.parse(String(request.body)))
    response.statusCode = challenge === undefined ? 503 : 200
    response.end(JSON.stringify({ challenge }))
  })
  const endpoint = await alice.endpoint({ name: 'orderedlater' })
  const action = await alice.expect(
    alice.post(endpoint.at('/actions'), {
      kind: 'forward',
      name: 'Ordered',
      url: receiver.url,
      delivery: { order: { by: 'body.email', onDeadLetter: 'hold' } },
    }),
    z.looseObject({ id: z.string() }),
  )
  await alice.expect(alice.get('/api/v1/events/types'), z.looseObject({}))
  const subscribed = await alice.post('/api/v1/subscriptions', {
    name: 'orderedlater.any',
    arguments: { fields: ['body.email'] },
    delivery: {
      mode: 'webhook',
      url: callback.url,
      secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
    },
  })
  expect(subscribed.status).toBeLessThan(300)
  const mail = 'joan@ordered.example'
  const capture = (n: number) =>
    endpoint.capture({
      body: JSON.stringify({ email: mail, n }),
      headers: { 'Content-Type': 'application/json' },
    })
  const held = await capture(0)
  await stateOf(endpoint, held.id, 'DeadLetter')
  await eventually('an event waits', () => callback.received.some(({ body }) => String(body).includes(mail)))
  const behind = await capture(1)
  await eventually('both events wait', async () => {
    const { rows } = await sql`
      select from event_deliveries where request_id in (${held.id}, ${behind.id})`.execute(service.db)
    return rows.length === 2
  })
  expect((await tablesWith(mail)).sort()).toEqual([
    'public.deliveries',
    'public.event_deliveries',
    'public.requests',
  ])
  expect((await alice.patch(endpoint.at(''), { encryptBodies: true })).status).toBe(200)
  await service.runJob('endpoints.seal', {})
  // The request that waits is sealed when its delivery has ended.
  expect(await tablesWith(mail)).toEqual(['public.requests'])
  const later = await capture(2)
  // Off again: keys stay what they are.
  expect((await alice.patch(endpoint.at(''), { encryptBodies: false })).status).toBe(200)
  const last = await capture(3)
  const { rows: keys } = await sql`
    select order_key from deliveries where action_id = ${action.id} group by order_key having count(*) = 4`.execute(
    service.db,
  )
  expect(keys).toHaveLength(1)
  expect(receiver.received).toHaveLength(1)
  receiver.answer = { status: 200 }
  const detail = await alice.expect(alice.get(endpoint.at('/deliveries')), Attempts)
  const skipped = await alice.post(endpoint.at(`/deliveries/${detail.items[0]?.id}/skip`))
  expect(skipped.body).toMatchObject({ key: expect.stringMatching(/^[0-9a-f]{64}$/) })
  for (const { id } of [behind, later, last]) await stateOf(endpoint, id, 'Succeeded')
  expect(receiver.received.slice(1).map(({ body }) => JSON.parse(String(body)).n)).toEqual([1, 2, 3])
  expect((await alice.patch(endpoint.at(''), { encryptBodies: true })).status).toBe(200)
  await service.runJob('endpoints.seal', {})
  expect(await tablesWith(mail)).toEqual([])
  await alice.delete(endpoint.at(''))
})

test('a row that was altered is read as shredded, and the rows beside it as before', async () => {
  await using receiver = await startReceiver()
  const endpoint = await forwarding(receiver)
  const ids = []
  for (const at of [0, 1, 2]) ids.push((await endpoint.capture({ ...SENT, body: `{"at":${at}}` })).id)
  await receiver.take(3)
  for (const id of ids) await stateOf(endpoint, id, 'Succeeded')
  const [members, body, whole] = ids
  await sql`update requests set sealed = set_byte(sealed, 40, get_byte(sealed, 40) # 1) where id = ${members}`.execute(
    service.db,
  )
  await sql`update requests set body = set_byte(body, 30, get_byte(body, 30) # 1) where id = ${body}`.execute(
    service.db,
  )
  const List = z.object({
    items: z.array(z.looseObject({ id: z.int(), shredded: z.boolean(), path: z.string() })),
  })
  const { items } = await alice.expect(alice.get(endpoint.at('/requests')), List)
  expect(items.map(({ id, shredded }) => [id, shredded])).toEqual([
    [whole ?? 0, false],
    // Its body is not read for a list.
    [body ?? 0, false],
    [members ?? 0, true],
  ])
  expect(await detailOf(endpoint, body ?? 0)).toMatchObject({ shredded: true, body: null, path: '' })
  expect((await alice.get(endpoint.at('/requests/export?format=ndjson&includeSecrets=true'))).status).toBe(
    200,
  )
  await alice.post(endpoint.at('/requests/bulk-replay'), { requestIds: ids })
  await receiver.take(4)
  await eventually('the other two have ended', async () => {
    const states = await Promise.all([members, body].map((id) => detailOf(endpoint, id ?? 0)))
    return states.every(({ state }) => state === 'Errored')
  })
  expect(receiver.received.slice(3).map((one) => String(one.body))).toEqual(['{"at":2}'])
})

test('a long body is read whole, in parts and in exports', async () => {
  const endpoint = await alice.endpoint({ encryptBodies: true })
  const body = Array.from({ length: 120_000 }, (_, at) => `line ${at}`).join('\n')
  const { id } = await endpoint.capture({ body, headers: { 'Content-Type': 'text/plain' } })
  expect((await detailOf(endpoint, id)).body).toBe(body)
  const path = endpoint.at(`/requests/${id}/body`)
  const part = await alice.get(path, { headers: { Range: 'bytes=700000-700009' } })
  expect(part).toMatchObject({ status: 206, text: body.slice(700_000, 700_010) })
  const last = await alice.get(path, { headers: { Range: 'bytes=-7' } })
  expect(last.text).toBe(body.slice(-7))
  const across = await alice.get(path, { headers: { Range: 'bytes=65500-1114200' } })
  expect(across.text).toBe(body.slice(65_500, 1_114_201))
  const exported = await alice.get(endpoint.at('/requests/export?format=ndjson&includeSecrets=true'))
  expect(JSON.parse(exported.text)).toMatchObject({ body })
})

test('an export reads each part of an encrypted body once, as of one in plain', async () => {
  const body = 'a line of text\n'.repeat(1_000_000)
  const exporting = async (settings: Readonly<Record<string, unknown>>) => {
    const endpoint = await alice.endpoint(settings)
    await endpoint.capture({ body, headers: { 'Content-Type': 'text/plain' } })
    const spent = processorTime()
    const { text } = await alice.get(endpoint.at('/requests/export?format=ndjson&includeSecrets=true'))
    const milliseconds = spent()
    expect(JSON.parse(text)).toMatchObject({ body })
    return milliseconds
  }
  const plain = await exporting({})
  expect((await exporting({ encryptBodies: true })) / plain).toBeLessThan(3)
})

test('a body of which parts are missing, or in another order, is not read', async () => {
  const endpoint = await alice.endpoint({ encryptBodies: true })
  const { id } = await endpoint.capture({ body: 'x'.repeat(200_000) })
  const part = 65_536 + 28
  const readAfter = async (octets: string) => {
    await sql`update requests set body = ${sql.raw(octets)} where id = ${id}`.execute(service.db)
    return await detailOf(endpoint, id)
  }
  expect(await detailOf(endpoint, id)).toMatchObject({ shredded: false })
  expect(await readAfter(`substring(body from ${part + 1}) || substring(body for ${part})`)).toMatchObject({
    shredded: true,
  })
  const back = `substring(body from octet_length(body) - ${part} + 1) || substring(body for octet_length(body) - ${part})`
  expect(await readAfter(back)).toMatchObject({ shredded: false })
  expect(await readAfter(`substring(body for ${3 * part})`)).toMatchObject({ shredded: true })
  await alice.delete(endpoint.at(''))
})

test('captures go on while earlier requests are encrypted', async () => {
  const endpoint = await alice.endpoint({})
  const count = 130
  const captureOne = (at: number) => endpoint.capture({ body: `{"n":${at}}` })
  await Promise.all(Array.from({ length: count }, (_, at) => captureOne(at)))
  expect((await alice.patch(endpoint.at(''), { encryptBodies: true })).status).toBe(200)
  const sealing = service.runJob('endpoints.seal', {})
  const meanwhile = await Promise.all(Array.from({ length: 40 }, (_, at) => captureOne(count + at)))
  await sealing
  expect(meanwhile).toHaveLength(40)
  const { rows } = await sql<{ sealed: number; isEqual: boolean }>`
    select count(r.sealed_with)::int as sealed, c.stored_bytes = sum(octet_length(r.body))
      and c.storage_bytes = sum(r.storage_bytes) as is_equal
    from endpoint_counters c join requests r using (endpoint_id)
    where endpoint_id = ${endpoint.id} group by c.endpoint_id`.execute(service.db)
  expect(rows).toEqual([{ sealed: count + 40, isEqual: true }])
})

const sealNow = () => sealStored(service.running.services, new AbortController().signal)

test('a look at many requests that are encrypted holds no lock for which captures wait', async () => {
  const endpoint = await alice.endpoint({ encryptBodies: true })
  const { id } = await endpoint.capture({ body: '{"n":1}' })
  await sql`
    insert into requests (endpoint_id, received_at, method, path, header_names, header_values, size_bytes, body,
      body_truncated, body_is_binary, dispatch_state, sealed_with, sealed)
    select endpoint_id, received_at, method, path, header_names, header_values, size_bytes, body,
      body_truncated, body_is_binary, dispatch_state, sealed_with, sealed
    from requests, generate_series(1, 4500) where endpoint_id = ${endpoint.id}`.execute(service.db)
  const begin = () =>
    sql`insert into sealings (endpoint_id) values (${endpoint.id})
      on conflict (endpoint_id) do update set sealed_to_id = 0`.execute(service.db)
  const isDone = async () => {
    await sealNow()
    const { rows } = await sql`select from sealings where endpoint_id = ${endpoint.id}`.execute(service.db)
    return rows.length === 0
  }
  await begin()
  await service.db.transaction().execute(async (trx) => {
    await sql`select from endpoint_counters where endpoint_id = ${endpoint.id} for update`.execute(trx)
    // The run of each minute may be at it.
    await eventually('the end of a look', isDone)
  })
  // One in plain behind them is reached.
  await sql`
    insert into requests (endpoint_id, received_at, method, path, header_names, header_values, size_bytes, body,
      body_truncated, body_is_binary, dispatch_state)
    values (${endpoint.id}, now(), 'POST', '/plain', '', '', 1, 'x', false, false, 'NotAttempted')`.execute(
    service.db,
  )
  await begin()
  await eventually('the end of the next look', isDone)
  const { rows } = await sql`
    select from requests where endpoint_id = ${endpoint.id} and sealed_with is null`.execute(service.db)
  expect(rows).toEqual([])
  expect(await detailOf(endpoint, id)).toMatchObject({ body: '{"n":1}' })
  await alice.delete(endpoint.at(''))
})

test('an endpoint whose requests cannot be encrypted keeps no others from it', async () => {
  const endpoints = [await alice.endpoint({}), await alice.endpoint({})].toSorted((a, b) =>
    a.id < b.id ? -1 : 1,
  )
  const [broken, whole] = endpoints
  await sql`
    create function refuse_seal() returns trigger language plpgsql as $$ begin raise 'missing chunk'; end $$`.execute(
    service.db,
  )
  await sql`
    create trigger refuse_seal before update on requests for each row
    when (new.endpoint_id = ${sql.lit(broken?.id)}) execute function refuse_seal()`.execute(service.db)
  for (const endpoint of endpoints) {
    await endpoint.capture({ body: '{"n":1}' })
    await alice.patch(endpoint.at(''), { encryptBodies: true })
  }
  // The run of each minute may be at it.
  const failure = await eventually('the failure', () => sealNow().then(() => undefined, String))
  const rows = await eventually('the other one', async () => {
    const sealed = await sql`
      select endpoint_id from requests
      where endpoint_id in (${broken?.id}, ${whole?.id}) and sealed_with is not null`.execute(service.db)
    return sealed.rows.length > 0 && sealed.rows
  })
  await sql`drop trigger refuse_seal on requests`.execute(service.db)
  expect(failure).toContain('missing chunk')
  expect(rows).toEqual([{ endpointId: whole?.id }])
})

test('imported requests are encrypted, too', async () => {
  const mail = 'grace@imported.example'
  const endpoint = await alice.endpoint({ encryptBodies: true })
  const line = {
    receivedAt: new Date(service.clock.now().getTime() - 3_600_000).toISOString(),
    method: 'POST',
    path: `/${mail}`,
    queryString: `token=${mail}`,
    rawHeaders: [{ name: 'X-Person', value: mail }],
    body: JSON.stringify({ email: mail }),
  }
  const imported = await endpoint.importLines(`${JSON.stringify(line)}\n`)
  expect(imported.body).toMatchObject({ importedCount: 1 })
  expect(await tablesWith(mail)).toEqual([])
  const list = await alice.get(endpoint.at('/requests'))
  expect(list.body).toMatchObject({ items: [{ path: `/${mail}`, sealed: true, imported: true }] })
})

test('an import that was accepted in plain is encrypted, however late it is stored', async () => {
  const mail = 'joan@late.example'
  const endpoint = await alice.endpoint()
  const importId = await acceptedImport(service, endpoint, mail)
  await alice.patch(endpoint.at(''), { encryptBodies: true })
  await service.runJob('endpoints.seal', {})
  await abandonImport(service, importId)
  await sweepImports(service.running.services, new AbortController().signal)
  // The sweep of the service may be at it.
  await eventually('the imported request', async () => (await endpoint.requests()).length === 1)
  const list = await alice.get(endpoint.at('/requests'))
  expect(list.body).toMatchObject({ items: [{ path: `/${mail}`, imported: true }] })
  await service.runJob('endpoints.seal', {})
  expect(await tablesWith(mail)).toEqual([])
  // The run after one that has sealed something looks again.
  await service.runJob('endpoints.seal', {})
  const sealings = await service.db
    .selectFrom('sealings')
    .where('endpointId', '=', endpoint.id)
    .select('endpointId')
    .execute()
  expect(sealings).toEqual([])
})

test('an original needs something that is not stored in plain', async () => {
  expect((await alice.post('/api/v1/endpoints', { forwardOriginal: true, encryptBodies: true })).status).toBe(
    201,
  )
  expect(wrongParts(await alice.post('/api/v1/endpoints', { forwardOriginal: true }))).toEqual([
    '#/forwardOriginal not_allowed',
  ])
  expect(wrongParts(await alice.post('/api/v1/endpoints', { encryptBodies: 'yes' }))).toEqual([
    '#/encryptBodies type',
  ])
})
