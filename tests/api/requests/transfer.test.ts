import { beforeAll, describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { sweepImports } from '@creel/core/exports'
import fc from 'fast-check'
import { sql } from 'kysely'
import { z } from 'zod'
import { exportMany } from '../../../core/src/exports/exportMany.ts'
import type { TestEndpoint } from '../../support/client.ts'
import { anHourAgo } from '../../support/clock.ts'
import { eventually } from '../../support/eventually.ts'
import { holdUpWrites } from '../../support/heldWrites.ts'
import { wrongParts } from '../../support/problems.ts'
import { sendRaw } from '../../support/sender.ts'
import { startService, type TestService } from '../../support/service.ts'

/** Histories that move between services: NDJSON and HAR out, NDJSON in. */

let service: TestService

beforeAll(async () => {
  service = await startService({
    limits: { apiRatePerMinute: 1_000_000, captureRatePerMinute: 100_000, payloadBytesMax: 100_000 },
  })
})

const Line = z.looseObject({
  id: z.int(),
  body: z.string().nullable(),
  rawHeaders: z.array(z.looseObject({ name: z.string(), value: z.string() })),
})

const Har = z.object({
  log: z.looseObject({
    version: z.literal('1.2'),
    entries: z.array(
      z.looseObject({ request: z.looseObject({ postData: z.looseObject({ text: z.string() }) }) }),
    ),
  }),
})

/** The lines of an export, oldest first. */
async function exported(endpoint: TestEndpoint, query = 'includeSecrets=true') {
  const answer = await endpoint.client.get(endpoint.at(`/requests/export?${query}`))
  if (answer.status !== 200) throw new Error(`The export answered ${answer.status}: ${answer.text}`)
  return answer.text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => Line.parse(JSON.parse(line)))
}

function importInto(endpoint: TestEndpoint, lines: readonly unknown[] | string | ReadableStream<Uint8Array>) {
  const rawBody =
    typeof lines === 'string' || lines instanceof ReadableStream
      ? lines
      : lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  return endpoint.importLines(rawBody)
}

/** A line without the members that the service sets on import. */
const own = ({ id: _id, endpointId: _endpoint, state: _state, ...rest }: z.output<typeof Line>) => rest

const receivedAt = anHourAgo()

describe('export and import', () => {
  test('give back equal requests, byte for byte, whatever was sent', async () => {
    const name = fc.stringMatching(/^X-[a-z]{1,12}$/)
    // Header values as bytes: text, latin1, and bytes that are not UTF-8.
    const value = fc.string({
      unit: fc
        .integer({ min: 0x21, max: 0xff })
        .filter((code) => code !== 0x7f)
        .map((code) => String.fromCharCode(code)),
      maxLength: 20,
    })
    const sent = fc.record({
      method: fc.constantFrom('POST', 'PUT', 'PATCH', 'DELETE', 'QUERY'),
      suffix: fc.webPath({ size: 'small' }),
      query: fc.option(fc.webQueryParameters({ size: 'small' })),
      headers: fc.array(fc.tuple(name, value), { maxLength: 5 }),
      body: fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.string({ unit: 'grapheme', maxLength: 60 })),
    })
    const source = await service.alice.endpoint()
    const target = await service.charlie.endpoint()
    await fc.assert(
      fc.asyncProperty(fc.array(sent, { minLength: 1, maxLength: 4 }), async (requests) => {
        await source.client.delete(source.at('/requests'))
        await target.client.delete(target.at('/requests'))
        for (const { method, suffix, query, headers, body } of requests) {
          await sendRaw(`${source.url}${suffix}${query === null ? '' : `?${query}`}`, {
            method,
            headers,
            body,
          })
        }
        const lines = await exported(source)
        expect(lines.length).toBe(requests.length)
        expect((await importInto(target, lines)).body).toMatchObject({ importedCount: lines.length })
        const again = await exported(target)
        expect(again.map(own)).toEqual(lines.map(own))
        const [first] = again
        const [original] = lines
        const was = Object((await source.client.get(source.at(`/requests/${original?.id}`))).body)
        const is = Object((await target.client.get(target.at(`/requests/${first?.id}`))).body)
        const { id, endpointId, url } = was
        expect({ ...is, id, endpointId, url, imported: false }).toEqual(was)
      }),
      { numRuns: 12 },
    )
  })

  test('keep capture times, mark what came in, dispatch nothing and continue the ids', async () => {
    const endpoint = await service.alice.endpoint({
      forwardUrl: 'http://127.0.0.1:9/',
      forwardingEnabled: true,
    })
    const before = await service.alice.endpoint().then((other) => other.capture())
    const answer = await importInto(endpoint, [{ receivedAt, method: 'POST', body: 'old' }])
    expect(answer).toMatchObject({ status: 200, body: { importedCount: 1 } })
    const [row] = await endpoint.requests()
    expect(row).toMatchObject({
      receivedAt,
      imported: true,
      state: 'NotAttempted',
      attemptCount: 0,
      bodyPreview: 'old',
    })
    expect(row?.id).toBeGreaterThan(before.id)
    const stats = await service.alice.get(endpoint.at('/stats'))
    expect(stats.body).toMatchObject({
      storage: { storedRequestCount: 1, storedBytes: 3 },
      backlog: { pendingCount: 0 },
    })
  })

  test('what came in is the oldest if its time is, whatever was captured before', async () => {
    const endpoint = await service.alice.endpoint()
    const { receivedAt: captured } = await endpoint.capture()
    const oldest = async () => (await service.alice.get(endpoint.at('/stats'))).body
    await importInto(endpoint, [{ receivedAt, method: 'POST', body: 'old' }])
    expect(await oldest()).toMatchObject({ storage: { oldestRequestAt: receivedAt } })
    const [imported] = await endpoint.requests()
    await service.alice.delete(endpoint.at(`/requests/${imported?.id}`))
    expect(await oldest()).toMatchObject({ storage: { oldestRequestAt: captured } })
  })

  test('no event is skipped because many requests came in after it', async () => {
    const endpoint = await service.alice.endpoint({ name: 'skips nothing' })
    const { id } = await endpoint.capture()
    const line = `${JSON.stringify({ receivedAt, method: 'POST' })}\n`
    expect(await importInto(endpoint, line.repeat(10_100))).toMatchObject({ status: 200 })
    const { body } = await service.alice.post('/api/v1/events/poll', {
      name: 'skips-nothing.any',
      cursor: '0',
    })
    expect(body).toMatchObject({ events: [{ data: { requestId: id } }], truncated: false })
  })

  test('give back long bodies, which are read and written in pieces', async () => {
    const large = await startService({ limits: { payloadBytesMax: 5_000_000 } })
    const source = await large.alice.endpoint()
    // A character of three bytes lies across every place where a piece may end.
    const bodies = ['€"\\\n'.repeat(500_000), new Uint8Array(2_500_001).map((_, n) => n), 'short']
    for (const body of bodies) await source.send({ body })
    const target = await large.alice.endpoint()
    const lines = await exported(source)
    await importInto(target, lines)
    expect((await exported(target)).map(own)).toEqual(lines.map(own))
    const [first, second] = lines
    expect(first?.body === bodies[0]).toBe(true)
    expect(Buffer.from(second?.body ?? '', 'base64').equals(Buffer.from(bodies[1] ?? ''))).toBe(true)
    const har = await source.client.get(source.at('/requests/export?format=har'))
    const texts = Har.parse(har.body).log.entries.map(({ request }) => request.postData.text)
    expect(texts.length).toBe(3)
    expect(texts[0] === bodies[0]).toBe(true)
    await large.stop()
  })

  test('take whatever could be captured: a method of 100 letters, 500 fields, a name of 2,000 letters', async () => {
    const source = await service.alice.endpoint()
    const headers = Array.from({ length: 500 }, (_, n): [string, string] => [`X-${n}`, String(n)])
    headers.push(['X'.repeat(2000), 'long'])
    await sendRaw(`${source.url}/a`, { method: 'M'.repeat(100), headers, body: 'x' })
    const target = await service.alice.endpoint()
    const lines = await exported(source)
    expect(await importInto(target, lines)).toMatchObject({ status: 200, body: { importedCount: 1 } })
    expect((await exported(target)).map(own)).toEqual(lines.map(own))
  })

  test('take the address of a link with its zone, and no text that is no address', async () => {
    const endpoint = await service.alice.endpoint()
    const line = { receivedAt, method: 'POST', ip: 'fe80::1%eth0' }
    expect(await importInto(endpoint, [line])).toMatchObject({ status: 200 })
    expect(await exported(endpoint)).toMatchObject([line])
    const wrong = ['here', '%eth0', 'fe80::1%\0', ''].map((ip) => ({ ...line, ip }))
    expect(wrongParts(await importInto(endpoint, wrong))).toEqual(
      [1, 2, 3, 4].map((number) => `#/lines/${number}/ip bad_format`),
    )
  })

  test('keep an oversize trace, and mask credentials unless they were asked for', async () => {
    const endpoint = await service.alice.endpoint()
    await endpoint.send({
      body: 'x'.repeat(120_000),
      headers: { 'X-Api-Key': 'opens doors', 'X-Plain': 'shown' },
    })
    const [masked] = await exported(endpoint, '')
    const headerOf = (line: typeof masked, name: string) =>
      line?.rawHeaders.find((header) => header.name.toLowerCase() === name)?.value
    expect([headerOf(masked, 'x-api-key'), headerOf(masked, 'x-plain')]).toEqual(['***', 'shown'])
    const [whole] = await exported(endpoint)
    expect(headerOf(whole, 'x-api-key')).toBe('opens doors')
    const target = await service.alice.endpoint()
    await importInto(target, [whole])
    expect((await target.requests())[0]).toMatchObject({ bodyTruncated: true, sizeBytes: 120_000 })
  })
})

describe('export', () => {
  test('takes the filters of the list, and leaves out what arrives meanwhile', async () => {
    const endpoint = await service.alice.endpoint()
    for (const body of ['wanted 1', 'other', 'wanted 2']) await endpoint.send({ body })
    expect((await exported(endpoint, 'q=wanted')).map(({ body }) => body)).toEqual(['wanted 1', 'wanted 2'])
    expect(await exported(endpoint, 'q=nothing')).toEqual([])
    const answer = await service.alice.get(endpoint.at('/requests/export?format=har&q=wanted'))
    const har = Har.parse(answer.body)
    expect(har.log.entries.map(({ request }) => request.postData.text)).toEqual(['wanted 1', 'wanted 2'])
  })

  test('refuses another format, and names those that there are', async () => {
    const endpoint = await service.alice.endpoint()
    const answer = await service.alice.get(endpoint.at('/requests/export?format=xml'))
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('ndjson')
    expect(answer.text).toContain('har')
  })
})

test('a workspace has two exports at once, and the next begins when one has ended or hung up', async () => {
  const large = await startService({ limits: { payloadBytesMax: 5_000_000 } })
  const endpoint = await large.alice.endpoint()
  for (let count = 0; count < 6; count += 1) await endpoint.send({ body: new Uint8Array(5_000_000) })
  const { hostname, port, host } = new URL(large.baseUrl)
  const path = endpoint.at('/requests/export')
  /** An export whose client reads nothing. */
  const unread = () =>
    new Promise<Socket>((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(
          `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${large.alice.key}\r\n\r\n`,
        )
      })
      socket.on('error', () => {})
      socket.once('readable', () => resolve(socket))
    })
  const [first, second] = await Promise.all([unread(), unread()])
  let isAnswered = false
  const third = large.alice.get(path).then(({ status }) => {
    isAnswered = true
    return status
  })
  const other = await large.charlie.endpoint()
  for (let count = 0; count < 10; count += 1) {
    expect((await large.charlie.get(other.at('/requests/export'))).status).toBe(200)
    expect((await large.alice.get(endpoint.at('/requests'))).status).toBe(200)
  }
  expect(isAnswered).toBe(false)
  first.destroy()
  expect(await third).toBe(200)
  second.destroy()
  // A client that asks for the head only leaves no export behind.
  for (let count = 0; count < 5; count += 1) {
    const answer = await fetch(large.baseUrl + path, {
      method: 'HEAD',
      headers: { Authorization: `Bearer ${large.alice.key}` },
    })
    expect(answer.status).toBe(200)
  }
  await large.stop()
})

test('an export breaks off within 6 s when its key is revoked, and gives its place to the next', async () => {
  const large = await startService({ parts: ['gateway'], limits: { payloadBytesMax: 5_000_000 } })
  const endpoint = await large.alice.endpoint()
  for (let count = 0; count < 12; count += 1) await endpoint.send({ body: new Uint8Array(5_000_000) })
  const made = await large.alice.expect(
    large.alice.post('/api/v1/keys', { name: 'short', scope: 'read' }),
    z.looseObject({ id: z.string(), key: z.string() }),
  )
  const open = async () => {
    const answer = await fetch(large.baseUrl + endpoint.at('/requests/export'), {
      headers: { Authorization: `Bearer ${made.key}` },
    })
    expect(answer.status).toBe(200)
    return answer
  }
  // The clients read nothing, so that both places of the workspace stay taken.
  const answers = [await open(), await open()]
  await large.alice.delete(`/api/v1/keys/${made.id}`)
  // Waits ten seconds at most for a place.
  expect((await large.alice.get(endpoint.at('/requests/export?method=put'))).status).toBe(200)
  for (const answer of answers) await expect(answer.bytes()).rejects.toThrow()
  await large.stop()
})

describe('import', () => {
  const good = { receivedAt, method: 'POST', body: 'good' }

  test('names every wrong line, and stores none', async () => {
    const endpoint = await service.alice.endpoint()
    const future = new Date(service.clock.now().getTime() + 3_600_000).toISOString()
    const lines = [
      good,
      { ...good, receivedAt: 'yesterday' },
      { ...good, method: 'NO METHOD' },
      { ...good, receivedAt: future },
      { ...good, rawHeaders: [{ name: 'X', value: 'a\nb' }] },
      { ...good, body: '%%', bodyEncoding: 'base64' },
    ].map((line) => JSON.stringify(line))
    const answer = await importInto(endpoint, [...lines, 'no json', ''].join('\n'))
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_failed' } })
    expect(wrongParts(answer)).toEqual([
      '#/lines/2/receivedAt bad_format',
      '#/lines/3/method bad_format',
      '#/lines/4/receivedAt out_of_range',
      '#/lines/5/rawHeaders/0/value bad_format',
      '#/lines/6/body not_allowed',
      '#/lines/7 type',
    ])
    expect(answer.text).toContain('Line 2')
    expect(answer.text).toContain('Nothing was stored.')
    expect(await endpoint.requests()).toEqual([])
  })

  test('refuses what the database cannot store, by its line', async () => {
    const endpoint = await service.alice.endpoint()
    const half = '\ud800'
    const inBase64 = (value: string) => ({
      name: 'X',
      value: Buffer.from(value).toString('base64'),
      encoding: 'base64',
    })
    const answer = await importInto(endpoint, [
      { ...good, receivedAt: '0000-01-01T00:00:00Z' },
      { ...good, receivedAt: '0001-01-01T00:00:00+14:00' },
      { ...good, path: `/${half}`, queryString: half, label: half },
      { ...good, verification: { verdict: 'failed', note: half }, redactionFault: half, note: half },
      { ...good, redactedPaths: [half] },
      { ...good, rawHeaders: ['\0', 'a\nb', 'a\rb'].map(inBase64) },
    ])
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_failed' } })
    expect(wrongParts(answer)).toEqual([
      '#/lines/1/receivedAt bad_format',
      '#/lines/2/receivedAt bad_format',
      '#/lines/3/path bad_format',
      '#/lines/3/queryString bad_format',
      '#/lines/3/label bad_format',
      '#/lines/4/verification/note bad_format',
      '#/lines/4/redactionFault bad_format',
      '#/lines/4/note bad_format',
      '#/lines/5/redactedPaths/0 bad_format',
      ...[0, 1, 2].map((at) => `#/lines/6/rawHeaders/${at}/value bad_format`),
    ])
    const pair = '\ud83d\ude48'
    const whole = [
      { ...good, receivedAt: '0001-01-01T00:00:00.000Z', path: `/${pair}`, queryString: pair, label: pair },
    ]
    expect(await importInto(endpoint, whole)).toMatchObject({ status: 200 })
    expect(await exported(endpoint)).toMatchObject(whole)
  })

  const staged = async () => await service.db.selectFrom('imports').select('id').execute()

  test('stores nothing at all where a later line is wrong, and leaves nothing behind', async () => {
    const endpoint = await service.alice.endpoint()
    const lines = Array.from({ length: 1200 }, () => JSON.stringify(good))
    lines[549] = '{}'
    lines[1100] = 'no json'
    const answer = await importInto(endpoint, lines.join('\n'))
    expect(answer.text).toContain('Nothing was stored.')
    expect(wrongParts(answer)).toEqual([
      '#/lines/550/receivedAt required',
      '#/lines/550/method required',
      '#/lines/1101 type',
    ])
    expect((await service.alice.get(endpoint.at('/stats'))).body).toMatchObject({
      storage: { storedRequestCount: 0 },
    })
    expect(await staged()).toEqual([])
  })

  test('stores many batches in the order of their lines, with ids that follow each other', async () => {
    const endpoint = await service.alice.endpoint()
    const lines = Array.from({ length: 1700 }, (_, at) => ({ ...good, path: `/${at}`, body: `body €${at}` }))
    const answer = await importInto(endpoint, lines)
    expect(answer).toMatchObject({ status: 200, body: { importedCount: 1700 } })
    const { firstId, lastId } = Object(answer.body)
    const stored = await exported(endpoint)
    expect(stored.map(({ path, body }) => [path, body])).toEqual(lines.map(({ path, body }) => [path, body]))
    expect([stored[0]?.id, stored.at(-1)?.id]).toEqual([firstId, lastId])
    expect(await staged()).toEqual([])
  })

  /** Starts an import whose body never ends. Resolves when its first batch is staged. */
  async function endless(endpoint: TestEndpoint): Promise<Socket> {
    const { hostname, port } = new URL(service.baseUrl)
    const socket = connect(Number(port), hostname)
    socket.write(
      `POST ${endpoint.at('/requests/import')} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${service.alice.key}\r\n` +
        `Content-Type: application/x-ndjson\r\nContent-Length: 1000000000\r\n\r\n${`${JSON.stringify(good)}\n`.repeat(1200)}`,
    )
    await eventually('a staged batch', async () => (await staged()).length === 1)
    return socket
  }

  test('stores nothing of an upload that breaks off', async () => {
    const endpoint = await service.alice.endpoint()
    const socket = await endless(endpoint)
    expect(await endpoint.requests()).toEqual([])
    socket.destroy()
    await eventually('nothing staged', async () => (await staged()).length === 0)
    expect(await endpoint.requests()).toEqual([])
  })

  test('waits for the one before of its workspace, and for no other', async () => {
    const endpoint = await service.alice.endpoint()
    const socket = await endless(endpoint)
    const answers: number[] = []
    const waiting = Array.from({ length: 21 }, async () => {
      answers.push((await importInto(endpoint, [good])).status)
    })
    const other = await service.charlie.endpoint()
    expect(await importInto(other, [good])).toMatchObject({ status: 200 })
    expect(answers).toEqual([])
    socket.destroy()
    await Promise.all(waiting)
    expect(answers).toEqual(Array.from({ length: 21 }, () => 200))
    expect((await service.alice.get(endpoint.at('/stats'))).body).toMatchObject({
      storage: { storedRequestCount: 21 },
    })
  })

  test('is finished by another process where its own one dies, or forgotten where it was not checked yet', async () => {
    const endpoint = await service.alice.endpoint()
    const dueAt = new Date(service.clock.now().getTime() - 1)
    const batch = (text: string) => ({
      heads: JSON.stringify([
        {
          received_at: receivedAt,
          method: 'POST',
          path: '',
          header_names: 'X-A',
          header_values: '\u00ff',
          size_bytes: 4,
          body_truncated: false,
          body_is_binary: false,
          storage_bytes: 1028,
          body_bytes: 4,
        },
      ]),
      bodies: Buffer.from(text),
    })
    // One that cannot be stored comes before them, and is dropped.
    const broken = { importId: crypto.randomUUID(), number: 0, heads: '[{"received_at":"never"}]' }
    const { importId: id } = broken
    await service.db
      .insertInto('imports')
      .values({ id, endpointId: endpoint.id, isAccepted: true, dueAt })
      .execute()
    await service.db
      .insertInto('importBatches')
      .values({ ...broken, bodies: Buffer.alloc(0) })
      .execute()
    for (const [isAccepted, texts] of [
      [true, ['one.', 'two.']],
      [false, ['lost']],
    ] as const) {
      const id = crypto.randomUUID()
      await service.db
        .insertInto('imports')
        .values({ id, endpointId: endpoint.id, isAccepted, dueAt })
        .execute()
      for (const [number, text] of texts.entries()) {
        await service.db
          .insertInto('importBatches')
          .values({ importId: id, number, ...batch(text) })
          .execute()
      }
    }
    const failure = await sweepImports(service.running.services, new AbortController().signal).catch(String)
    expect(failure).toContain('never')
    expect((await exported(endpoint)).map(({ body }) => body)).toEqual(['one.', 'two.'])
    expect(await staged()).toEqual([])
  })

  test('is answered as done where the database fails once it is accepted, so that nobody sends it again', async () => {
    const { alice, clock, db, running } = service
    const endpoint = await alice.endpoint()
    await using held = await holdUpWrites(db, 'insert on requests')
    const answer = importInto(endpoint, [good, good])
    await held.arrived()
    await held.breakOff()
    expect(await answer).toMatchObject({
      status: 200,
      body: { importedCount: 2, firstId: null, lastId: null },
    })
    expect(await endpoint.requests()).toEqual([])
    await held.release()
    // As the sweep does a minute later.
    await db
      .updateTable('imports')
      .set({ dueAt: new Date(clock.now().getTime() - 1) })
      .execute()
    await sweepImports(running.services, new AbortController().signal)
    expect(await endpoint.requests()).toHaveLength(2)
    expect(await staged()).toEqual([])
  })

  test('bounds what a line may nest and hold, and how many are empty', async () => {
    const endpoint = await service.alice.endpoint()
    const line = JSON.stringify(good)
    const wide = JSON.stringify({ ...good, more: Array.from({ length: 20_001 }, () => 1) })
    const deep = `{"a":${'['.repeat(40)}${']'.repeat(40)}}`
    const answer = await importInto(
      endpoint,
      [line, wide, deep, '{"body":"a\u0001"}', '{"body":"\\x"}', line].join('\n'),
    )
    expect(wrongParts(answer)).toEqual([
      '#/lines/2 too_many',
      '#/lines/3 too_deep',
      '#/lines/4 type',
      '#/lines/5 type',
    ])
    const sparse = await importInto(endpoint, `${line}\n`.concat('\r\n'.repeat(10_000), line))
    expect(sparse).toMatchObject({ status: 200, body: { importedCount: 2 } })
    const empty = await importInto(endpoint, `${line}\n${'\n'.repeat(20_000)}`)
    expect(wrongParts(empty)).toEqual(['#/lines/10003 too_many'])
    expect((await endpoint.requests()).length).toBe(2)
  })

  test('refuses what the cap has no room for, a line that is too long, and bytes that are no text', async () => {
    const capped = await startService({ limits: { storedRequestsMax: 3, payloadBytesMax: 1000 } })
    const client = capped.alice
    const endpoint = await client.endpoint()
    const full = await importInto(endpoint, [good, good, good, good])
    expect(full).toMatchObject({ status: 409, body: { code: 'limit_reached' } })
    expect(full.text).toContain('room for 3')
    const long = await importInto(endpoint, `${JSON.stringify(good)}\n"${'x'.repeat(600_000)}"`)
    expect(wrongParts(long)).toEqual(['#/lines/2 too_long'])
    const bytes = new Blob([new Uint8Array([0x22, 0xff, 0x22, 0x0a])]).stream()
    expect(wrongParts(await importInto(endpoint, bytes))).toEqual(['#/lines/1 bad_format'])
    await capped.stop()
  })

  test('takes only NDJSON', async () => {
    const endpoint = await service.alice.endpoint()
    const answer = await service.alice.post(endpoint.at('/requests/import'), good)
    expect(answer).toMatchObject({ status: 400, body: { code: 'request_invalid' } })
  })
})

test('an export looks through a long history in steps, and brings each match once', async () => {
  const endpoint = await service.alice.endpoint()
  await sql`
    insert into requests (endpoint_id, id, received_at, method, path, header_names, header_values, body, size_bytes,
                          body_truncated, body_is_binary, body_preview, dispatch_state)
    select ${endpoint.id}::uuid, nextval('request_ids'), now(), case when n in (1, 2000, 2001, 4000, 4100) then 'PUT' else 'GET' end,
           '/' || n, '', '', '', 0, false, false, '', 'NotAttempted' from generate_series(1, 4100) n`.execute(
    service.db,
  )
  const lines = async (query: string) => {
    const { text } = await service.alice.get(endpoint.at(`/requests/export?format=ndjson${query}`))
    return text
      .trim()
      .split('\n')
      .map((line) => z.looseObject({ path: z.string() }).parse(JSON.parse(line)).path)
  }
  expect(await lines('&method=put')).toEqual(['/1', '/2000', '/2001', '/4000', '/4100'])
  expect(await lines('')).toEqual(Array.from({ length: 4100 }, (_, at) => `/${at + 1}`))
})

/** The chunks of an export of an endpoint that encrypts, read one by one. */
async function exporting({ db, alice, baseUrl }: TestService, endpoint: TestEndpoint) {
  const urls = { baseUrl, captureUrl: baseUrl }
  const { signal } = new AbortController()
  const { workspaceId } = alice
  const none = undefined
  const filters = {
    ...{ method: none, state: none, q: none, since: none, until: none, verification: none, label: none },
    ...{
      eventId: none,
      duplicate: none,
      deadLettered: none,
      needsAttention: none,
      afterId: none,
      beforeId: none,
    },
  }
  const options = { filters, format: 'ndjson', includeSecrets: true, urls, workspaceId, signal } as const
  const release = () => {}
  return await exportMany(db, { id: endpoint.id, captureId: endpoint.id }, { ...options, release })
}

test('an export breaks off when its endpoint goes, whose encrypted requests would read as shredded', async () => {
  const endpoint = await service.alice.endpoint({ encryptBodies: true })
  await endpoint.captureMany(12, { body: 'a'.repeat(99_000) })
  const chunks = await exporting(service, endpoint)
  const texts: string[] = []
  const reading = (async () => {
    for await (const chunk of chunks) {
      texts.push(Buffer.from(chunk).toString())
      // Like a move to another cell, it takes the key in the same moment.
      await service.alice.delete(endpoint.at(''))
    }
  })()
  await expect(reading).rejects.toThrow('The endpoint was deleted, or moved to another cell')
  expect(texts).toHaveLength(1)
  expect(texts.join('')).not.toContain('"shredded":true')
})

test('an export breaks off when the key of a long body is destroyed while it is read, and has none of it later', async () => {
  const large = await startService()
  const endpoint = await large.alice.endpoint({ encryptBodies: true })
  await endpoint.capture({ body: 'x'.repeat(1_000_000) })
  const chunks = await exporting(large, endpoint)
  const reading = (async () => {
    for await (const chunk of chunks)
      if (Buffer.from(chunk).includes('xxx')) await large.alice.post(endpoint.at('/shred'))
  })()
  await expect(reading).rejects.toThrow('The key of a request was destroyed')
  const after = await Array.fromAsync(await exporting(large, endpoint))
  const line = Buffer.concat(after).toString()
  expect(JSON.parse(line)).toMatchObject({ bodyTruncated: true })
  expect(line).not.toContain('xxx')
})
