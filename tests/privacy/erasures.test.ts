import { beforeAll, describe, expect, test } from 'bun:test'
import { deflateSync, gzipSync } from 'node:zlib'
import { sweepImports } from '@creel/core/exports'
import { type KyselyPlugin, type RawBuilder, sql } from 'kysely'
import { z } from 'zod'
import { valueFinder } from '../../core/src/erasures/match.ts'
import { stepOf } from '../../core/src/erasures/parts.ts'
import type { Part } from '../../core/src/erasures/progress.ts'
import { expectAllCountersEqualRows, expectCountersEqualRows } from '../retention/support.ts'
import { abandonImport, acceptedImport } from '../support/acceptedImport.ts'
import type { Client } from '../support/client.ts'
import { anHourAgo } from '../support/clock.ts'
import { eventually } from '../support/eventually.ts'
import { isWaitingForLock } from '../support/lockWaits.ts'
import { wrongParts } from '../support/problems.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'

/** Erasures: everything of a workspace that holds a value is found, and deleted or reduced to a trace. */

let service: TestService

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000, endpointsMax: 1_000 } })
})

const Erasure = z.looseObject({
  id: z.string(),
  state: z.string(),
  valueHash: z.string(),
  counts: z.record(z.string(), z.int()),
  progress: z.looseObject({ scannedRequests: z.int(), partsLeft: z.int() }),
  endpoints: z.array(z.object({ endpointId: z.string(), requests: z.int() })),
})
const WithId = z.looseObject({ id: z.string() })
const erase = async (client: Client, input: object) => {
  const started = await client.expect(client.post('/api/v1/erasures', input), Erasure)
  return await eventually('the erasure has ended', async () => {
    await service.runJob('erasures.run', { erasureId: started.id })
    const ended = await client.expect(client.get(`/api/v1/erasures/${started.id}`), Erasure)
    expect(['running', 'done']).toContain(ended.state)
    return ended.state === 'done' && ended.progress.partsLeft === 0 ? ended : undefined
  })
}
const json = (body: unknown, suffix = '') => ({
  body: JSON.stringify(body),
  headers: { 'Content-Type': 'application/json' },
  suffix,
})

/** Tables of the workspace with a row that has the text in some column. */
async function tablesWith(text: string): Promise<string[]> {
  const { rows: tables } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public'`.execute(service.db)
  const found = []
  for (const { name } of tables) {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from ${sql.table(name)} t
      where t::text ilike ${`%${text}%`} or t::text ilike ${`%${Buffer.from(text).toString('hex')}%`}`.execute(
      service.db,
    )
    if ((rows[0]?.count ?? 0) > 0) found.push(name)
  }
  return found.sort()
}

/** A person in every place that holds values. */
async function worldOf(client: Client, mail: string) {
  const receiver = await startReceiver({ status: 200, body: `stored ${mail}` })
  const endpoint = await client.endpoint()
  await client.post(endpoint.at('/actions'), { kind: 'forward', name: 'App', url: receiver.url })
  const sent = [
    json({ data: { email: mail } }),
    json({ email: mail.toUpperCase() }, `?u=${encodeURIComponent(mail)}`),
    { body: `<a>${mail}</a>`, headers: { 'Content-Type': 'text/xml' } },
    { body: JSON.stringify({ email: mail }).replace('@', '\\u0040'), headers: {} },
    { body: '', headers: { 'X-Person': mail } },
    { body: `email=${encodeURIComponent(mail)}&a=1`, headers: {} },
    json({}, `/users/${encodeURIComponent(mail)}`),
  ]
  for (const one of sent) await endpoint.capture(one)
  const [last] = await endpoint.requests('pageSize=1')
  await receiver.take(sent.length)
  const others = [
    await endpoint.capture(json({ email: `n${mail}` })),
    await endpoint.capture(json({ email: `first.${mail}` })),
  ]
  await receiver.take(sent.length + others.length)
  for (const noted of [last, ...others])
    await client.patch(endpoint.at(`/requests/${noted?.id}`), { note: `asked by ${mail}` })
  receiver.answer = { status: 200 }
  return { receiver, endpoint, others, sentCount: sent.length }
}

test('a dry run counts, and changes nothing; an erasure deletes captures, attempts and bin entries', async () => {
  const client = await service.newClient()
  const mail = 'ada@erasure.example'
  await using world = await disposable(worldOf(client, mail))
  const { endpoint, others, sentCount } = world
  const [, second] = (await endpoint.requests()).toReversed()
  await client.delete(endpoint.at(`/requests/${second?.id}`))

  const dry = await erase(client, { value: mail, dryRun: true })
  const counts = { requests: sentCount - 1, binnedRequests: 1, attempts: sentCount + 2, notes: 3 }
  expect(dry).toMatchObject({
    dryRun: true,
    counts,
    endpoints: [{ endpointId: endpoint.id, requests: sentCount }],
  })
  expect(await endpoint.requests()).toHaveLength(sentCount - 1 + others.length)

  const foreign = await service.charlie.endpoint()
  await foreign.capture(json({ email: mail }))
  const done = await erase(client, { value: mail })
  expect(done).toMatchObject({ counts, valueHash: dry.valueHash })
  const left = await endpoint.requests()
  expect(left.map(({ id }) => id)).toEqual(others.map(({ id }) => id).toReversed())
  expect(left).toMatchObject(others.map(() => ({ note: null })))
  expect(await foreign.requests()).toHaveLength(1)
  const bin = await client.expect(client.get('/api/v1/recycle-bin'), z.looseObject({ totalCount: z.int() }))
  expect(bin.totalCount).toBe(0)
  await expectAllCountersEqualRows(service)

  const again = await erase(client, { value: mail })
  expect(Object.values(again.counts).every((count) => count === 0)).toBe(true)
  const { text } = await client.get('/api/v1/audit')
  expect(text).toContain('erasures.finish')
  expect(text).toContain(done.valueHash)
  const report = await client.get(`/api/v1/erasures/${done.id}/report`)
  expect(report.text).toContain(`| captures, deleted | ${sentCount - 1} |`)
  expect(`${text}${report.text}`).not.toContain(mail)
  await service.charlie.delete(`/api/v1/endpoints/${foreign.id}`)
})

test('after an erasure no table has the value', async () => {
  const client = await service.newClient()
  const mail = 'grace@erasure.example'
  await using world = await disposable(worldOf(client, mail))
  expect(await tablesWith(mail)).not.toEqual([])
  for (const { id } of world.others) await client.delete(world.endpoint.at(`/requests/${id}`))
  await erase(client, { value: mail })
  await erase(client, { value: `n${mail}` })
  await erase(client, { value: `first.${mail}` })
  expect(await tablesWith(mail)).toEqual([])
})

test('with `redact`, captures stay as traces, and counters stay right', async () => {
  const client = await service.newClient()
  const mail = 'joan@erasure.example'
  await using world = await disposable(worldOf(client, mail))
  const { endpoint, sentCount } = world
  const before = await endpoint.requests()
  const { counts } = await erase(client, { value: mail, mode: 'redact' })
  expect(counts).toMatchObject({ requests: sentCount })
  const after = await endpoint.requests()
  expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id))
  expect(after.at(-1)).toMatchObject({ bodyPreview: null, ip: null, redacted: true, bodyTruncated: true })
  // The endpoint of an earlier test may be on its way out.
  await expectCountersEqualRows(service, endpoint.id)
  await erase(client, { value: `n${mail}`, mode: 'redact' })
  await erase(client, { value: `first.${mail}`, mode: 'redact' })
  expect(await tablesWith(mail)).toEqual([])
})

test('keys, labels, refusals, incidents and attempts under way keep nothing of what is erased', async () => {
  const client = await service.newClient()
  const mail = 'hedy@erasure.example'
  const held = Promise.withResolvers<void>()
  await using receiver = await startReceiver(async (request, response) => {
    if (String(request.body).includes('slow')) await held.promise
    response.statusCode = 410
    response.end(`seen ${mail}`)
  })
  const endpoint = await client.endpoint({ name: 'Labelled', allowedSenders: ['127.0.0.1'] })
  await client.post(endpoint.at('/actions'), {
    kind: 'forward',
    name: 'Ordered',
    url: receiver.url,
    delivery: { order: { by: 'body.email', onDeadLetter: 'hold' } },
  })
  await endpoint.capture(json({ email: mail, type: `signup of ${mail}` }))
  await receiver.take(1)
  await endpoint.capture(json({ slow: true, note: 1 }))
  await receiver.take(2)
  await client.expect(client.get('/api/v1/events/types'), z.looseObject({}))
  await sql`insert into event_labels values (${endpoint.id}, ${`signup of ${mail}`}) on conflict do nothing`.execute(
    service.db,
  )
  await sql`update endpoint_counters set last_refusal = ${`1.2.3.4: ${mail}`} where endpoint_id = ${endpoint.id}`.execute(
    service.db,
  )
  const started = await client.expect(
    client.post('/api/v1/erasures', { value: mail, mode: 'redact' }),
    Erasure,
  )
  // The receiver of the second capture repeats the value later: its attempt is waited for.
  expect(started.state).toBe('running')
  held.resolve()
  await eventually('the erasure has ended', async () => {
    await sql`update erasures set due_at = 'epoch' where id = ${started.id}`.execute(service.db)
    await service.runJob('erasures.run', { erasureId: started.id })
    const { state } = await client.expect(client.get(`/api/v1/erasures/${started.id}`), Erasure)
    return state === 'done'
  })
  expect(await tablesWith(mail)).toEqual([])
  await expectCountersEqualRows(service, endpoint.id)
})

test.each(['delete', 'redact'])(
  'an original that is kept for deliveries is found, too, and ends: %s',
  async (mode) => {
    const client = await service.newClient()
    const mail = 'lise@erasure.example'
    await using receiver = await startReceiver({ status: 410 })
    const endpoint = await client.endpoint({
      storeRules: [{ op: 'hash', paths: ['body.email'] }],
      forwardOriginal: true,
    })
    await client.post(endpoint.at('/actions'), { kind: 'forward', name: 'App', url: receiver.url })
    const { id } = await endpoint.capture(json({ email: mail }))
    const other = await endpoint.capture(json({ email: `n${mail}` }))
    await receiver.take(2)
    const originals = async () => {
      const { rows } = await sql<{ requestId: number }>`
      select o.request_id from request_originals o join creel_keys.original_keys k using (endpoint_id, request_id)
      where endpoint_id = ${endpoint.id} order by request_id`.execute(service.db)
      return rows.map(({ requestId }) => requestId)
    }
    expect(await originals()).toEqual([id, other.id])
    expect((await erase(client, { value: mail, dryRun: true })).counts).toMatchObject({ requests: 1 })
    expect(await originals()).toEqual([id, other.id])
    expect((await erase(client, { value: mail, mode })).counts).toMatchObject({ requests: 1 })
    expect(await originals()).toEqual([other.id])
  },
)

test('what a channel said to a message, and names of fields, keep nothing of what is erased', async () => {
  const client = await service.newClient()
  const [mail, name] = ['rosa@erasure.example', 'rosalindfranklin']
  await using team = await startReceiver((request, response) => {
    response.statusCode = 400
    response.end(`refused: ${request.body}`)
  })
  const channel = await client.expect(
    client.post('/api/v1/alert-channels', { kind: 'webhook', name: 'Team', settings: { url: team.url } }),
    WithId,
  )
  const endpoint = await client.endpoint()
  const tell = { kind: 'notify', name: 'Tell', alertChannelId: channel.id, messageTemplate: '{{body.email}}' }
  await client.post(endpoint.at('/actions'), tell)
  await endpoint.capture(json({ email: mail, [name]: 1 }))
  await client.expect(client.get('/api/v1/events/types'), z.looseObject({}))
  await eventually('the channel has refused', async () =>
    (await tablesWith('refused: ')).includes('alert_channels'),
  )
  expect(await tablesWith(name)).toEqual(['event_sources', 'requests'])
  await erase(client, { value: mail })
  await erase(client, { value: name })
  expect([await tablesWith(mail), await tablesWith(name)]).toEqual([[], []])
})

/** Starts an erasure that waits for something under way, lets it end, and then the erasure. */
async function eraseAround(client: Client, value: string, held: PromiseWithResolvers<void>) {
  const started = await client.expect(client.post('/api/v1/erasures', { value }), Erasure)
  const read = () => client.expect(client.get(`/api/v1/erasures/${started.id}`), Erasure)
  expect(started.state).toBe('running')
  held.resolve()
  return await eventually('the erasure has ended', async () => {
    // Its job comes after some seconds.
    await service.clock.advance(1_000)
    const ended = await read()
    return ended.state === 'done' && ended
  })
}

test('the lines of an import that was accepted before are waited for, however late they are stored', async () => {
  const client = await service.newClient()
  const mail = 'joan@erasure.example'
  const endpoint = await client.endpoint()
  const importId = await acceptedImport(service, endpoint, mail)
  const started = await client.expect(client.post('/api/v1/erasures', { value: mail }), Erasure)
  expect(started.state).toBe('running')
  await abandonImport(service, importId)
  await sweepImports(service.running.services, new AbortController().signal)
  await service.clock.advance(6_000)
  const ended = await eventually('the erasure has ended', async () => {
    await service.runJob('erasures.run', { erasureId: started.id })
    const erasure = await client.expect(client.get(`/api/v1/erasures/${started.id}`), Erasure)
    return erasure.state === 'done' && erasure
  })
  expect(ended.counts).toMatchObject({ requests: 1 })
  expect(await tablesWith(mail)).toEqual([])
})

test('answers to sends of a replay that are under way are waited for', async () => {
  const client = await service.newClient()
  const mail = 'maria@erasure.example'
  const held = Promise.withResolvers<void>()
  await using receiver = await startReceiver(async ({ body }, response) => {
    await held.promise
    response.end(`stored ${body}`)
  })
  const endpoint = await client.endpoint()
  const { id } = await endpoint.capture({ body: mail })
  const replay = { select: { requestIds: [id] }, to: { url: receiver.url } }
  await client.expect(client.post(endpoint.at('/replays'), replay), z.looseObject({}))
  await receiver.take(1)
  const { counts } = await eraseAround(client, mail, held)
  expect(counts).toMatchObject({ requests: 1, replayResults: 1 })
  expect(await tablesWith(mail)).toEqual([])
})

test('the answer of a channel that is under way is waited for, and brings no record back', async () => {
  const client = await service.newClient()
  const mail = 'olga@erasure.example'
  const held = Promise.withResolvers<void>()
  await using team = await startReceiver(async ({ body }, response) => {
    if (team.received.length > 1) await held.promise
    response.statusCode = 500
    response.end(`refused: ${body}`)
  })
  const channel = await client.expect(
    client.post('/api/v1/alert-channels', { kind: 'webhook', name: 'Team', settings: { url: team.url } }),
    WithId,
  )
  const endpoint = await client.endpoint()
  const tell = { kind: 'notify', name: 'Tell', alertChannelId: channel.id, messageTemplate: '{{body.email}}' }
  await client.post(endpoint.at('/actions'), tell)
  await endpoint.capture(json({ email: mail }))
  await eventually('the channel has refused', async () =>
    (await tablesWith(`refused: `)).includes('alert_channels'),
  )
  // The second attempt begins.
  await service.clock.advance(31_000)
  await eventually('the second attempt', async () => {
    await service.clock.advance(0)
    return team.received.length > 1
  })
  const { counts } = await eraseAround(client, mail, held)
  expect(counts).toMatchObject({ requests: 1, attempts: 1, alerts: 1 })
  expect(await tablesWith(mail)).toEqual([])
})

test.each([
  ['in plain', (text: string) => ({ body: text })],
  ['encoded', (text: string) => ({ body: gzipSync(text), headers: { 'Content-Encoding': 'gzip' } })],
])(
  'an answer kept beside an original is found, although the original has nothing of it: %s',
  async (_, encoded) => {
    const client = await service.newClient()
    const mail = 'emmy@erasure.example'
    await using receiver = await startReceiver({ status: 200, ...encoded(`stored ${mail}`) })
    await using failing = await startReceiver({ status: 410 })
    const endpoint = await client.endpoint({ dropHeaders: ['X-Secret'], forwardOriginal: true })
    const action = { kind: 'forward', name: 'App', url: receiver.url }
    const { id: actionId } = await client.expect(client.post(endpoint.at('/actions'), action), WithId)
    await client.post(endpoint.at('/actions'), { ...action, name: 'Other', url: failing.url })
    await client.expect(client.patch(endpoint.at(''), { answerFrom: { actionId, timeoutMs: 5000 } }), WithId)
    await endpoint.capture({ body: '{}', headers: { 'X-Secret': 'x' } })
    const answers = async () => {
      const { rows } = await sql<{ isKept: boolean }>`
      select answer is not null as is_kept from request_originals where endpoint_id = ${endpoint.id}`.execute(
        service.db,
      )
      return rows.map(({ isKept }) => isKept)
    }
    await eventually('an answer is kept', async () => (await answers()).includes(true))
    await erase(client, { value: `n${mail}` })
    expect(await answers()).toEqual([true])
    await erase(client, { value: mail })
    expect(await answers()).toEqual([false])
  },
)

test('encoded answers of receivers, and of replays, are read as their encodings say', async () => {
  const client = await service.newClient()
  const mail = 'vera@erasure.example'
  const encoded = {
    gzip: (text: string) => gzipSync(text),
    deflate: (text: string) => deflateSync(text),
    // Decoding ends with the encoded body.
    'x-gzip': (text: string) => Buffer.concat([gzipSync('{}'), Buffer.from(text)]),
  }
  await using receiver = await startReceiver(({ body }, response) => {
    const encoding = z.enum(['gzip', 'deflate', 'x-gzip']).parse(String(body))
    response.setHeader('Content-Encoding', encoding)
    response.end(encoded[encoding](`{"email":"${mail}"}`))
  })
  const endpoint = await client.endpoint()
  await client.post(endpoint.at('/actions'), { kind: 'forward', name: 'App', url: receiver.url })
  const names = Object.keys(encoded)
  for (const body of names) await endpoint.capture({ body })
  await receiver.take(names.length)
  const requestIds = (await endpoint.requests()).map(({ id }) => id)
  const replay = { select: { requestIds }, to: { url: receiver.url } }
  await client.expect(client.post(endpoint.at('/replays'), replay), z.looseObject({}))
  await receiver.take(2 * names.length)
  await eventually('the answers are recorded', async () => {
    const { rows } = await sql<{ attempts: number; answers: number }>`
      select (select count(*) from attempt_details where received_body is not null and endpoint_id = ${endpoint.id})::int
          as attempts,
        (select count(*) from replay_items i join replays r on r.id = i.replay_id
        where i.state = 'done' and r.endpoint_id = ${endpoint.id})::int as answers`.execute(service.db)
    return rows[0]?.attempts === names.length && rows[0].answers === names.length
  })
  const none = await erase(client, { value: `n${mail}` })
  expect(none.counts).toMatchObject({ attempts: 0, replayResults: 0 })
  const { counts } = await erase(client, { value: mail })
  expect(counts).toMatchObject({ requests: 0, attempts: names.length, replayResults: names.length })
})

test.each([
  ['JSON in a form', 'payload=%7B%22text%22%3A%22%5Cu003cada%40nested.example%5Cu003e%22%7D'],
  ['a query in JSON', '{"query":"a=1\\u0026ada%40nested.example"}'],
  ['JSON in JSON', JSON.stringify({ message: JSON.stringify({ text: 'To:\nada@nested.example' }) })],
  ['a query in a query', 'next=%3Fto%3D%253cada%2540nested.example%253e'],
])('a value is found in escapes within escapes: %s', async (_, body) => {
  const client = await service.newClient()
  const endpoint = await client.endpoint()
  await endpoint.capture({ body })
  await erase(client, { value: 'ada@nested.example' })
  expect(await endpoint.requests()).toEqual([])
})

test.each([
  ['a form', 'first_name=J%FCrgen+Kl%F6ckner'],
  ['a text', Buffer.from('<name>Jürgen Klöckner</name>', 'latin1')],
])('a value is found in Latin-1, as some senders still write it: %s', async (_, body) => {
  const client = await service.newClient()
  const endpoint = await client.endpoint()
  await endpoint.capture({ body, headers: { 'Content-Type': 'text/plain; charset=windows-1252' } })
  await erase(client, { value: 'Jürgen Klöckner' })
  expect(await endpoint.requests()).toEqual([])
})

test('nothing is erased in a workspace that moves to another cell', async () => {
  const client = await service.newClient()
  const endpoint = await client.endpoint()
  await endpoint.capture(json({ email: 'mary@erasure.example' }))
  // It has ended, so that no job of it is left to run again.
  const { id } = await erase(client, { value: 'mary@erasure.example', dryRun: true })
  const moving = async (until: string) => {
    await sql`
      update workspaces set sealed_until = now() + ${until}::interval
      where id = (select workspace_id from endpoints where id = ${endpoint.id})`.execute(service.db)
    await sql`update erasures set state = 'queued', finished_at = null, due_at = 'epoch' where id = ${id}`.execute(
      service.db,
    )
    await service.runJob('erasures.run', { erasureId: id })
    const { rows } = await sql<{ state: string }>`select state from erasures where id = ${id}`.execute(
      service.db,
    )
    return rows[0]?.state
  }
  expect(await moving('1 hour')).toBe('queued')
  // The value is gone, so it only shows that it was begun.
  expect(await moving('-1 hour')).toBe('failed')
})

/** An erasure of a capture whose first step waits while the database is changed. Parts that are left, and its captures. */
async function erasedDuring(change: RawBuilder<unknown>) {
  const { alice, db } = await startService({ parts: ['gateway'] })
  const endpoint = await alice.endpoint()
  await endpoint.capture(json({ email: 'late@erasure.example' }))
  const working = await db.transaction().execute(async (trx) => {
    await sql`lock table requests in access exclusive mode`.execute(trx)
    const working = alice.post('/api/v1/erasures', { value: 'late@erasure.example' })
    await eventually('the work waits', () => isWaitingForLock(db))
    await change.execute(trx)
    return { answer: working }
  })
  const { status, text } = await working.answer
  expect(status).toBe(202)
  const { progress } = Erasure.parse(JSON.parse(text))
  return { progress, requests: await endpoint.requests() }
}

test('work that another process has done leaves the erasure to that', async () => {
  const { progress, requests } = await erasedDuring(sql`
    update erasures set due_at = due_at + interval '1 minute',
      progress = (progress::jsonb || '{"scannedRequests": 41}')::text`)
  expect(progress.scannedRequests).toBe(41)
  expect(requests).toHaveLength(1)
})

test('work that outlasts its lease, and that another process begins again, counts', async () => {
  const { progress, requests } = await erasedDuring(sql`
    update erasures set due_at = due_at + interval '1 minute'`)
  expect(progress.scannedRequests).toBe(1)
  expect(requests).toHaveLength(0)
})

test('a step that searches for too long ends, and the next goes on with what it left', async () => {
  const client = await service.newClient()
  const mail = 'olga@erasure.example'
  await using receiver = await startReceiver({ status: 200, body: `stored ${mail}` })
  const endpoint = await client.endpoint()
  await client.post(endpoint.at('/actions'), { kind: 'forward', url: receiver.url })
  await client.post(endpoint.at('/actions'), { kind: 'forward', url: receiver.url, body: 'none of it' })
  for (let n = 0; n < 3; n += 1) await endpoint.capture(json({ mail }))
  await receiver.take(6)
  const [last, , first] = await eventually('no attempt is under way', async () => {
    const requests = await endpoint.requests()
    return requests.length === 3 && requests.every(({ state }) => state === 'Succeeded')
      ? requests
      : undefined
  })
  // The last attempts are of the first capture.
  await client.post(endpoint.at(`/requests/${first?.id}/replay`))
  const work = {
    services: service.running.services,
    workspaceId: client.workspaceId,
    finder: valueFinder(mail, []),
    mode: 'delete',
    searchMs: 0,
  } as const
  const range = { endpointId: endpoint.id, afterId: 0 }
  const stepsOf = async (first: Part) => {
    const steps = []
    for (let part: Part | null = first; part !== null; ) {
      const step: Awaited<ReturnType<typeof stepOf>> = await stepOf(work, part)
      steps.push(step)
      part = step.next
    }
    return steps
  }
  const attempts = await stepsOf({ part: 'attempts', ...range, upToId: Number.MAX_SAFE_INTEGER })
  expect(attempts.map(({ scannedAttempts = 0 }) => scannedAttempts)).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 0])
  const requests = await stepsOf({ part: 'requests', ...range, upToId: last?.id ?? 0, attemptAfterId: 0 })
  const scanned = requests.map(({ scannedRequests = 0 }) => scannedRequests)
  expect(Math.max(...scanned)).toBe(1)
  expect(scanned.reduce((sum, count) => sum + count)).toBe(3)
  expect(await erase(client, { value: mail })).toMatchObject({ counts: { requests: 3, attempts: 8 } })
})

test('captures that are deleted while they are read end no part of an erasure', async () => {
  const client = await service.newClient()
  const endpoint = await client.endpoint()
  const long = 'x'.repeat(4_500_000)
  // Each is read alone.
  for (const name of ['first', 'second'])
    await endpoint.capture({ body: JSON.stringify({ name, long, mail: 'eve@erasure.example' }) })
  const [second, first] = await endpoint.requests()
  const { services } = service.running
  let reads = 0
  const deleting: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      reads += 1
      // The ids are listed by then, and not read yet.
      if (reads === 1) await sql`delete from requests where id = ${first?.id}`.execute(service.db)
      return result
    },
  }
  const work = {
    services: { ...services, db: service.db.withPlugin(deleting) },
    workspaceId: client.workspaceId,
    finder: valueFinder('eve@erasure.example', []),
    mode: 'delete',
    searchMs: 60_000,
  } as const
  const range = { endpointId: endpoint.id, afterId: 0, upToId: second?.id ?? 0 }
  const part = { part: 'requests', ...range, attemptAfterId: 0 } as const
  const { next } = await stepOf(work, part)
  expect(next).toEqual({ ...part, afterId: first?.id ?? 0 })
  const { counts } = await stepOf(work, next?.part === 'requests' ? next : part)
  expect(counts.requests).toBe(1)
})

test.each(['delete', 'redact'] as const)(
  'the attempts of a capture that has very many are read, and erased by `%s`, in pieces',
  async (mode) => {
    const client = await service.newClient()
    const mail = 'iris@erasure.example'
    await using receiver = await startReceiver()
    const endpoint = await client.endpoint()
    await client.post(endpoint.at('/actions'), { kind: 'forward', url: receiver.url })
    for (let n = 0; n < 3; n += 1) await endpoint.capture(json({ mail }))
    await receiver.take(3)
    await eventually('no attempt is under way', async () => {
      const states = (await endpoint.requests()).map(({ state }) => state)
      return states.length === 3 && states.every((state) => state === 'Succeeded')
    })
    const [last, crowded] = await endpoint.requests()
    // As many as retries and replays make in the course of time; none of them holds the value.
    await sql`
      insert into delivery_attempts (endpoint_id, workspace_id, request_id, action_id, action_name, kind, state,
        attempt_number, trigger, url, at, finished_at, storage_bytes)
      select endpoint_id, workspace_id, request_id, action_id, action_name, kind, state, n, trigger, url, at,
        finished_at, 0
      from delivery_attempts, generate_series(2, 451) n where request_id = ${crowded?.id}`.execute(service.db)
    const counts = { requests: 3, attempts: 453 }
    expect(await erase(client, { value: mail, mode, dryRun: true })).toMatchObject({ counts })

    const work = {
      services: service.running.services,
      workspaceId: client.workspaceId,
      finder: valueFinder(mail, []),
      mode,
      searchMs: 60_000,
    } as const
    const range = { endpointId: endpoint.id, afterId: 0, upToId: last?.id ?? 0 }
    let part: Part | null = { part: 'requests', ...range, attemptAfterId: 0 }
    let scanned = 0
    const found: number[] = []
    while (part !== null) {
      const step: Awaited<ReturnType<typeof stepOf>> = await stepOf(work, part)
      scanned += step.scannedRequests ?? 0
      found.push(step.counts.attempts ?? 0)
      part = step.next
    }
    expect(scanned).toBe(3)
    expect(Math.max(...found)).toBeLessThanOrEqual(200)

    expect(await erase(client, { value: mail, mode })).toMatchObject({ counts })
    expect(await endpoint.requests()).toHaveLength(mode === 'delete' ? 0 : 3)
    expect(await tablesWith(mail)).toEqual([])
    // Traces keep their attempts, whose planted rows are not in the counters.
    if (mode === 'delete') await expectCountersEqualRows(service, endpoint.id)
  },
)

test('the stored progress of an erasure stays short, however many endpoints there are', async () => {
  const client = await service.newClient()
  await sql`
    insert into endpoints select (jsonb_populate_record(e,
      jsonb_build_object('id', gen_random_uuid(), 'name', 'of ' || n))).* from endpoints e, generate_series(1, 300) n
    where e.id = ${(await client.endpoint()).id}`.execute(service.db)
  const started = client.post('/api/v1/erasures', { value: 'nobody@erasure.example', dryRun: true })
  const { id } = await client.expect(started, Erasure)
  const stored = service.db.selectFrom('erasures').where('id', '=', id).select('progress')
  expect((await stored.executeTakeFirstOrThrow()).progress.length).toBeLessThan(10_000)
})

test.each(['deadlock_detected', 'lock_not_available'])(
  'an error that passes puts an erasure off, and does not end it: %s',
  async (condition) => {
    const client = await service.newClient()
    const endpoint = await client.endpoint()
    await endpoint.capture(json({ email: 'dora@erasure.example' }))
    await sql`create sequence deadlocks`.execute(service.db)
    await sql`create function meet_deadlock() returns trigger language plpgsql as $$
    begin
      if nextval('deadlocks') = 1 then raise exception 'passing' using errcode = ${sql.lit(condition)}; end if;
      return old;
    end $$`.execute(service.db)
    await sql`create trigger meet_deadlock before delete on requests for each row
    when (old.endpoint_id = ${sql.lit(endpoint.id)}) execute function meet_deadlock()`.execute(service.db)
    const started = await client.expect(
      client.post('/api/v1/erasures', { value: 'dora@erasure.example' }),
      Erasure,
    )
    const read = () => client.expect(client.get(`/api/v1/erasures/${started.id}`), Erasure)
    await eventually('the deadlock', async () => {
      const { rows } = await sql<{ isMet: boolean }>`select is_called as is_met from deadlocks`.execute(
        service.db,
      )
      return rows[0]?.isMet
    })
    expect((await read()).state).toBe('running')
    // Its lease ends.
    await service.clock.advance(120_000)
    await service.runJob('erasures.sweep', {})
    const ended = await eventually('the end', async () => {
      const erasure = await read()
      return erasure.state === 'running' || erasure.state === 'queued' ? undefined : erasure
    })
    expect(ended).toMatchObject({ state: 'done', counts: { requests: 1 } })
    expect(await endpoint.requests()).toEqual([])
    await sql`drop function meet_deadlock cascade`.execute(service.db)
    await sql`drop sequence deadlocks`.execute(service.db)
  },
)

test('an erasure is answered with its id though it cannot begin within the call', async () => {
  const client = await service.newClient()
  await sql`create function refuse_begin() returns trigger language plpgsql as $$
    begin raise exception 'none' using errcode = 'lock_not_available'; end $$`.execute(service.db)
  await sql`create trigger refuse_begin before update on erasures for each row
    when (old.workspace_id = ${sql.lit(client.workspaceId)} and old.state = 'queued') execute function refuse_begin()`.execute(
    service.db,
  )
  const started = await client.expect(
    client.post('/api/v1/erasures', { value: 'late@erasure.example' }),
    Erasure,
  )
  expect(started.state).toBe('queued')
  await sql`drop function refuse_begin cascade`.execute(service.db)
  await service.clock.advance(120_000)
  await service.runJob('erasures.sweep', {})
  await eventually('the end', async () => {
    const { state } = await client.expect(client.get(`/api/v1/erasures/${started.id}`), Erasure)
    return state === 'done'
  })
})

test.each(['delete', 'redact'])('what an import said of a capture is read, too: %s', async (mode) => {
  const client = await service.newClient()
  const endpoint = await client.endpoint()
  const mail = 'barbara@erasure.example'
  const line = { receivedAt: anHourAgo(), method: 'POST', body: '{}' }
  const lines = [
    { ...line, verification: { verdict: 'failed', note: `The key is of ${mail}.` } },
    { ...line, redactedPaths: [`body.users["${mail}"]`] },
    { ...line, redactionFault: `The rule faulted at ${mail}.` },
    { ...line, redactedPaths: ['body.name'], verification: { verdict: 'failed', note: `Of n${mail}.` } },
  ]
  const rawBody = lines.map((one) => JSON.stringify(one)).join('\n')
  const imported = await endpoint.importLines(rawBody)
  expect(imported).toMatchObject({ status: 200, body: { importedCount: lines.length } })
  expect((await erase(client, { value: mail, paths: ['body'], dryRun: true })).counts).toMatchObject({
    requests: 0,
  })
  // How a redaction is stored is no part of it.
  expect((await erase(client, { value: 'fault', dryRun: true })).counts).toMatchObject({ requests: 0 })
  expect((await erase(client, { value: mail, mode })).counts).toMatchObject({ requests: 3 })
  await erase(client, { value: `n${mail}`, mode })
  expect(await tablesWith(mail)).toEqual([])
})

test('paths limit where a capture holds the value', async () => {
  const client = await service.newClient()
  const endpoint = await client.endpoint()
  const at = await endpoint.capture(json({ data: { email: 'kay@erasure.example' } }))
  const elsewhere = await endpoint.capture(json({ note: 'kay@erasure.example' }))
  await erase(client, { value: 'kay@erasure.example', paths: ['body.data.email'] })
  const left = await endpoint.requests()
  expect(left.map(({ id }) => id)).toEqual([elsewhere.id])
  expect(left.map(({ id }) => id)).not.toContain(at.id)
})

describe('an erasure is refused', () => {
  test('with every wrong part named', async () => {
    const answer = await service.alice.post('/api/v1/erasures', {
      value: 'ab',
      paths: ['body.ok', 'bdy'],
      mode: 'burn',
      dryRun: 'yes',
    })
    expect(wrongParts(answer)).toEqual([
      '#/value too_short',
      '#/paths/1 bad_path',
      '#/mode unknown_value',
      '#/dryRun type',
    ])
  })

  test('of another workspace', async () => {
    const { id } = await erase(service.alice, { value: 'nothing here', dryRun: true })
    expect((await service.charlie.get(`/api/v1/erasures/${id}`)).status).toBe(404)
    expect((await service.charlie.get(`/api/v1/erasures/${id}/report`)).status).toBe(404)
  })
})

async function disposable<World extends { readonly receiver: AsyncDisposable }>(made: Promise<World>) {
  const world = await made
  return { ...world, [Symbol.asyncDispose]: () => world.receiver[Symbol.asyncDispose]() }
}
