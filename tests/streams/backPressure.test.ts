import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import type { TestEndpoint } from '../support/client.ts'
import { openEvents } from '../support/eventReader.ts'
import { eventually } from '../support/eventually.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
const sockets: Socket[] = []

beforeAll(async () => {
  service = await startService({
    parts: ['gateway'],
    connectionLimits: { unsentSeconds: 2, tickSeconds: 0.2 },
    limits: { captureRatePerMinute: 100_000 },
  })
})
afterAll(() => {
  for (const socket of sockets) socket.destroy()
})

const READERS = 8
const CAPTURES = 300
const BODY_BYTES = 100_000
/** Limit of the memory gained; all readers together would be sent 240 MB. */
const MORE_MEGABYTES_MAX = 160

/** Follows on a bare socket: reads until the first event, and then stops reading. */
async function stall(endpoint: TestEndpoint) {
  const { port } = new URL(service.baseUrl)
  const socket = connect(Number(port), '127.0.0.1')
  sockets.push(socket)
  let text = ''
  socket.setEncoding('latin1').on('data', (piece) => {
    text += String(piece)
  })
  socket.on('error', () => {})
  let isClosed = false
  socket.on('close', () => {
    isClosed = true
  })
  socket.write(
    `GET ${endpoint.at('/requests/stream?whole=true')} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${service.alice.key}\r\n\r\n`,
  )
  await eventually('the head of the stream', () => text.includes('text/event-stream'))
  return {
    socket,
    isClosed: () => isClosed,
    /** The last id that was read. */
    lastId: () => Number([...text.matchAll(/^id: (\d+)/gm)].at(-1)?.[1] ?? 0),
  }
}

/** Ids of stored requests, oldest first. */
async function storedIds(endpoint: TestEndpoint): Promise<number[]> {
  const rows = await service.db
    .selectFrom('requests')
    .where('endpointId', '=', endpoint.id)
    .select('id')
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

const megabytes = () => {
  Bun.gc(true)
  return process.memoryUsage().rss / 1e6
}

test('readers that do not read cost little memory, are dropped, and come back without a gap', async () => {
  const endpoint = await service.alice.endpoint()
  const readers = await Promise.all(Array.from({ length: READERS }, () => stall(endpoint)))
  const first = await endpoint.capture()
  await eventually('the first event', () => readers.every(({ lastId }) => lastId() === first.id))
  for (const { socket } of readers) socket.pause()
  const before = megabytes()
  const body = 'x'.repeat(BODY_BYTES)
  for (let sent = 0; sent < CAPTURES; sent += 10) {
    await Promise.all(Array.from({ length: 10 }, async () => (await endpoint.send({ body })).body?.cancel()))
  }
  const more = megabytes() - before
  expect({ more, isLittle: more < MORE_MEGABYTES_MAX }).toMatchObject({ isLittle: true })
  await eventually('no open stream', async () => {
    const metrics = await (await fetch(`${service.baseUrl}/metrics`)).text()
    return /^creel_streams_open 0$/m.test(metrics)
  })
  // Reading a connection to its end shows that it was closed. Only buffered data was sent before.
  for (const { socket } of readers) socket.resume()
  await eventually('the end of all streams', () => readers.every(({ isClosed }) => isClosed()))
  const reached = Math.min(...readers.map(({ lastId }) => lastId()))
  const ids = await storedIds(endpoint)
  expect(ids).toHaveLength(1 + CAPTURES)
  expect(reached).toBeLessThan(ids.at(-1) ?? 0)
  await using again = await openEvents(service.alice, endpoint.at('/requests/stream'), {
    'Last-Event-ID': String(reached),
  })
  const missed = ids.filter((id) => id > reached)
  const seen: number[] = []
  while (seen.length < missed.length) {
    const event = await again.next()
    for (const { id } of Object(event?.data).requests ?? []) seen.push(Number(id))
  }
  expect(seen).toEqual(missed)
})
