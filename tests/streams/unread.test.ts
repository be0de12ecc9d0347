import { afterAll, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { createCreel } from 'creel-client'
import { eventually } from '../support/eventually.ts'
import { startService } from '../support/service.ts'

/** More than the system buffers for a reader; two of them are more than a key's streams may hold. */
const BODY_BYTES = 20_000_000
const CAPTURES = 2

const service = await startService({ parts: ['gateway'], limits: { payloadBytesMax: BODY_BYTES } })
const { alice, charlie } = service
const hangUp = new AbortController()
afterAll(() => hangUp.abort())

/** Follows on a bare socket, which reads only on request. */
async function slowReader(path: string, key: string) {
  const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1')
  hangUp.signal.addEventListener('abort', () => socket.destroy())
  const events: string[] = []
  let text = ''
  let isEnded = false
  socket.setEncoding('latin1').on('error', () => {})
  socket.on('end', () => {
    isEnded = true
  })
  socket.on('data', (piece) => {
    const lines = `${text}${piece}`.split('\n')
    text = lines.pop()?.slice(-200) ?? ''
    for (const line of lines) {
      if (/^(id|event): /.test(line) || /^data: .{0,100}$/.test(line)) events.push(line)
      if (line === '0\r') isEnded = true
    }
  })
  socket.write(`GET ${path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${key}\r\n\r\n`)
  await eventually('the answer', () => socket.bytesRead > 0)
  socket.pause()
  return { socket, events, isEnded: () => isEnded }
}

test('where streams hold too much unread, the next one and the slowest are told to read pages; who comes back misses nothing', async () => {
  const endpoint = await alice.endpoint()
  const other = await charlie.endpoint()
  const ids: number[] = []
  for (let count = 0; count < CAPTURES; count += 1) {
    ids.push((await endpoint.capture({ body: 'x'.repeat(BODY_BYTES) })).id)
  }
  const [first = 0, last = 0] = ids
  const path = endpoint.at('/requests/stream?listener=laptop&afterId=0')
  const slow = await slowReader(path, alice.key)
  const next = await slowReader(path, alice.key)
  next.socket.resume()
  await eventually('the end of the second stream', () => next.isEnded())
  // Its id is the start of the stream, from which a client that only reconnects starts again.
  expect(next.events).toEqual(['id: 0', 'event: behind', `data: {"lastId":${last}}`])
  // Each key has its own limit.
  const small = await other.capture({ body: 'small' })
  const quick = await slowReader(other.at('/requests/stream?whole=true&afterId=0'), charlie.key)
  quick.socket.resume()
  await eventually('an event of another workspace', () => quick.events.includes(`id: ${small.id}`))
  // Events that are already buffered arrive whole; then comes the event `behind`.
  slow.socket.resume()
  await eventually('the end of the slow stream', () => slow.isEnded())
  expect(slow.events).toEqual([
    `id: ${first}`,
    'event: captured',
    `id: ${first}`,
    'event: behind',
    `data: {"lastId":${last}}`,
  ])
  // Neither counts as a listener any more.
  await eventually('no listener', async () => {
    const { body } = await alice.post(endpoint.at(`/requests/${first}/replay?to=listeners`))
    return Object(body).listenerCount === 0
  })
  const again = await slowReader(endpoint.at(`/requests/stream?whole=true&afterId=${first}`), alice.key)
  again.socket.resume()
  await eventually('the rest', () => again.events.includes(`id: ${last}`))
  expect(again.events).toEqual([`id: ${last}`, 'event: captured'])
})

test('a listener that is told so reads what it missed one by one, in their order', async () => {
  const endpoint = await alice.endpoint()
  const ids: number[] = []
  for (let count = 0; count < CAPTURES; count += 1) {
    ids.push((await endpoint.capture({ body: 'x'.repeat(BODY_BYTES) })).id)
  }
  const slow = await slowReader(endpoint.at('/requests/stream?whole=true&afterId=0'), alice.key)
  const { endpoints } = createCreel({ url: service.baseUrl, key: alice.key })
  const arrived: number[][] = []
  const options = { whole: true, afterId: 0, signal: hangUp.signal } as const
  for await (const event of endpoints.requests(endpoint.id).feed(options)) {
    // It comes as a page in its own event, since two would not fit into one.
    if (event.type === 'arrived') arrived.push(event.requests.map(({ id }) => id))
    if (arrived.flat().length === CAPTURES) break
  }
  expect(arrived).toEqual(ids.map((id) => [id]))
  expect(slow.events).toEqual([])
  slow.socket.destroy()
})
