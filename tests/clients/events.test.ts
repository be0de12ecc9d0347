import { beforeAll, describe, expect, test } from 'bun:test'
import { type Creel, createCreel, type Endpoint } from 'creel-client'
import { resumed } from '../../clients/typescript/src/resumed.ts'
import { blocksOf } from '../../clients/typescript/src/sse.ts'
import { createTransport } from '../../clients/typescript/src/transport.ts'
import { anHourAgo } from '../support/clock.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { refusalOf } from './refusal.ts'

/** The live stream of the package creel-client, in every mode, against a service. A missing event fails its test by the timeout. */

let service: TestService
let creel: Creel

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000 } })
  creel = createCreel({ url: service.baseUrl, key: service.alice.key })
})

/** Sends webhooks one after the other. */
async function send(endpoint: Endpoint, ...bodies: readonly string[]): Promise<void> {
  for (const body of bodies) await fetch(endpoint.url, { method: 'POST', body })
}

/** Asks the connected listeners of an endpoint to send a request again. */
const askListeners = (endpoint: Endpoint, requestId: number) =>
  service.alice.post(`/api/v1/endpoints/${endpoint.id}/requests/${requestId}/replay?to=listeners`)

/** Stores requests that were received long ago; returns their bodies. */
async function store(endpoint: Endpoint, count: number): Promise<readonly string[]> {
  const bodies = Array.from({ length: count }, (_, at) => String(at))
  const lines = bodies.map((body) => JSON.stringify({ receivedAt: anHourAgo(), method: 'POST', body }))
  await endpoint.requests.import(lines.join('\n'))
  return bodies
}

/** Reads until an event matches, and ends the stream. */
async function until<Event>(
  events: AsyncIterable<Event>,
  isLast: (event: Event) => boolean,
): Promise<readonly Event[]> {
  const seen: Event[] = []
  for await (const event of events) {
    seen.push(event)
    if (isLast(event)) return seen
  }
  throw new Error('The stream ended.')
}

/** A proxy of the service that cuts each stream after its first event; `starts` has the `afterId` of each. */
function cuttingProxy() {
  const starts: number[] = []
  const server = Bun.serve({
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      const { pathname, search, searchParams } = new URL(request.url)
      const headers = { Authorization: `Bearer ${service.alice.key}` }
      const answer = await fetch(service.baseUrl + pathname + search, { headers, signal: request.signal })
      if (!pathname.endsWith('/stream')) return answer
      starts.push(Number(searchParams.get('afterId')))
      const reader = answer.body?.getReader()
      return new Response(
        new ReadableStream({
          async pull(controller) {
            const { value = new Uint8Array() } = (await reader?.read()) ?? {}
            const text = Buffer.from(value).toString()
            const isEvent = text.includes('event: ')
            // Everything after the first event is dropped, as when a connection breaks.
            const end = isEvent ? text.indexOf('\n\n', text.indexOf('event: ')) + 2 : text.length
            controller.enqueue(Buffer.from(text.slice(0, end)))
            if (!isEvent) return
            controller.close()
            await reader?.cancel()
          },
        }),
        { headers: { 'Content-Type': 'text/event-stream' } },
      )
    },
  })
  return {
    starts,
    endpoint: (id: string) => createCreel({ url: server.url.href, key: 'any' }).endpoints.get(id),
    [Symbol.dispose]: () => server.stop(true),
  }
}

/** A server whose streams send this text, and then nothing. @param cancel called when the reader of one has left */
function streamOf(text: string, cancel = () => {}) {
  return Bun.serve({
    port: 0,
    idleTimeout: 0,
    fetch: (request) =>
      new URL(request.url).pathname.endsWith('/stream')
        ? new Response(
            new ReadableStream({
              start: (controller) => controller.enqueue(new TextEncoder().encode(text)),
              cancel,
            }),
            { headers: { 'Content-Type': 'text/event-stream' } },
          )
        : Response.json({ id: 'e', url: 'http://capture' }),
  })
}

describe('events()', () => {
  test('tells of captures as the list shows them, and of their deliveries', async () => {
    await using receiver = await startReceiver()
    await using endpoint = await creel.endpoints.create()
    await endpoint.actions.create({ kind: 'forward', url: receiver.url })
    await send(endpoint, 'before')
    const before = await endpoint.requests.await({ state: 'Succeeded' })
    const arrival = Promise.withResolvers<void>()
    const reading = until(endpoint.requests.events({ afterId: before?.id ?? 0 }), (event) => {
      if (event.type === 'arrived') arrival.resolve()
      return (
        event.type === 'changed' &&
        event.states.some(({ attemptCount, state }) => attemptCount === 2 && state === 'Succeeded')
      )
    })
    await send(endpoint, 'one')
    const one = await endpoint.requests.await({ afterId: before?.id ?? 0, state: 'Succeeded' })
    // A stream that looks only after the replay would tell of both attempts at once.
    await arrival.promise
    await endpoint.requests.replay(one?.id ?? 0)
    const seen = await reading
    const arrived = seen.flatMap((event) => (event.type === 'arrived' ? event.requests : []))
    expect(arrived).toMatchObject([{ id: one?.id ?? 0, bodyPreview: 'one' }])
    expect(arrived[0]).not.toHaveProperty('body')
    const changes = seen.flatMap((event) => (event.type === 'changed' ? event.states : []))
    expect(changes).toContainEqual({
      id: one?.id ?? 0,
      state: 'Succeeded',
      attemptCount: 2,
      deliveryCounts: { succeeded: 1, failed: 0, waiting: 0, deadLettered: 0 },
    })
    expect(seen.at(-1)?.lastId).toBe(one?.id ?? 0)
  })

  test('begins now where it is not told where', async () => {
    await using endpoint = await creel.endpoints.create()
    await send(endpoint, 'before')
    const before = await endpoint.requests.await()
    const events = endpoint.requests.events()
    const first = events.next()
    // Its start is read from the list before the stream opens, so a capture may come before it.
    const sending = new AbortController()
    const sendMore = async () => {
      while (!sending.signal.aborted) await send(endpoint, 'after')
    }
    const more = sendMore()
    const { value } = await first
    sending.abort()
    await more
    await events.return()
    expect(value).toMatchObject({ type: 'arrived' })
    expect(value?.lastId).toBeGreaterThan(before?.id ?? 0)
  })

  test('tells with filters how many were passed over, and resumes after them', async () => {
    await using endpoint = await creel.endpoints.create()
    await send(endpoint, 'wanted 1', 'other', 'other')
    using proxy = cuttingProxy()
    const through = await proxy.endpoint(endpoint.id)
    const last = (await endpoint.requests.await())?.id ?? 0
    const events = through.requests.events({ q: 'wanted', afterId: 0 })
    expect((await events.next()).value).toMatchObject({
      type: 'arrived',
      requests: [{ bodyPreview: 'wanted 1' }],
      lastId: last,
    })
    await send(endpoint, 'other')
    const passed = (await events.next()).value
    expect(passed).toMatchObject({ type: 'passed', count: 1, lastId: last + 1 })
    await send(endpoint, 'wanted 2')
    expect((await events.next()).value).toMatchObject({ type: 'arrived', lastId: last + 2 })
    await events.return()
    expect(proxy.starts).toEqual([0, last, last + 1])
  })

  test('brings whole requests with `whole`, and resumes after the last of them', async () => {
    await using endpoint = await creel.endpoints.create()
    await send(endpoint, 'one')
    using proxy = cuttingProxy()
    const through = await proxy.endpoint(endpoint.id)
    const events = through.requests.events({ whole: true, afterId: 0 })
    const { value: first } = await events.next()
    const whole = first?.type === 'arrived' ? first.requests : []
    expect(whole).toMatchObject([{ body: 'one', url: endpoint.url, queryString: null }])
    expect(whole[0]?.rawHeaders.map(({ name }) => name.toLowerCase())).toContain('content-length')
    await send(endpoint, 'two')
    expect((await events.next()).value).toMatchObject({ type: 'arrived', requests: [{ body: 'two' }] })
    await events.return()
    expect(proxy.starts).toEqual([0, whole[0]?.id ?? 0])
  })

  test('brings a listener whole requests and replays, also after a cut', async () => {
    await using endpoint = await creel.endpoints.create()
    await send(endpoint, 'one')
    using proxy = cuttingProxy()
    const through = await proxy.endpoint(endpoint.id)
    const events = through.requests.events({ listener: 'ada', afterId: 0 })
    const { value: first } = await events.next()
    const id = first?.lastId ?? 0
    expect(first).toMatchObject({ type: 'arrived', requests: [{ id, body: 'one' }] })
    await send(endpoint, 'two')
    expect((await events.next()).value).toMatchObject({ type: 'arrived', requests: [{ body: 'two' }] })
    expect(proxy.starts).toEqual([0, id])

    const direct = endpoint.requests.events({ listener: 'ada', afterId: id })
    expect((await direct.next()).value).toMatchObject({ type: 'arrived', requests: [{ body: 'two' }] })
    const next = direct.next()
    await askListeners(endpoint, id)
    const { value: replay } = await next
    if (replay?.type !== 'replay') throw new Error(`No replay came, but ${JSON.stringify(replay)}.`)
    expect(replay.requestId).toBe(id)
    expect(replay.replayId).toBeGreaterThan(0)
    expect(replay.deliveryId).toBe(String(replay.replayId))
    await Promise.all([events.return(), direct.return()])
  })

  test('says that it is behind, and brings the newest where it is asked to', async () => {
    await using endpoint = await creel.endpoints.create()
    const bodies = await store(endpoint, 1100)
    const newestId = (await endpoint.requests.await())?.id ?? 0
    const [behind] = await until(endpoint.requests.events({ afterId: 0 }), () => true)
    expect(behind).toEqual({ type: 'behind', lastId: newestId })
    const [newest] = await until(endpoint.requests.events({ afterId: 0, newest: true }), () => true)
    if (newest?.type !== 'behind') throw new Error('It is not behind.')
    expect(newest).toMatchObject({ lastId: newestId, totalCount: 1100 })
    expect(newest.requests?.at(-1)?.bodyPreview).toBe(bodies.at(-1) ?? '')
  })

  test('passes over what only a newer service knows', async () => {
    using server = streamOf(
      'id: 7\nevent: toString\ndata: {"a":1}\n\nid: 7\nevent: passed\ndata: {"count":1,"more":2}\n\n',
    )
    const endpoint = await createCreel({ url: server.url.href, key: 'any' }).endpoints.get('e')
    const [event] = await until(endpoint.requests.events({ afterId: 0 }), () => true)
    expect(event as unknown).toEqual({ type: 'passed', count: 1, more: 2, lastId: 7 })
  })

  test.each([
    ['lacks a member', 'event: replay\ndata: {"requestId":1,"deliveryId":"2"}'],
    ['has a member of another type', 'event: arrived\ndata: {"requests":{}}'],
    ['has a request that is none', 'event: captured\ndata: {"requests":[null]}'],
    ['is not JSON', 'event: changed\ndata: {'],
    ['is no object', 'event: changed\ndata: null'],
  ])('rejects when an event %s', async (_, event) => {
    using server = streamOf(`id: 1\n${event}\n\n`)
    const endpoint = await createCreel({ url: server.url.href, key: 'any' }).endpoints.get('e')
    const error = await refusalOf(endpoint.requests.events({ afterId: 0 }).next())
    expect(error).toMatchObject({ code: 'unexpected_answer', status: 200 })
  })
})

describe('follow()', () => {
  test('tells of each request once, in order, through a service that closes its connections', async () => {
    await using endpoint = await creel.endpoints.create()
    await send(endpoint, 'before')
    const before = await endpoint.requests.await()
    using proxy = cuttingProxy()
    const through = await proxy.endpoint(endpoint.id)
    const seen: string[] = []
    const following = through.requests.follow({ afterId: before?.id ?? 0 })
    for (const body of ['one', 'two', 'three', 'four']) {
      await send(endpoint, body)
      seen.push((await following.next()).value?.bodyPreview ?? '')
    }
    await following.return()
    expect(seen).toEqual(['one', 'two', 'three', 'four'])
    expect(proxy.starts.length).toBeGreaterThan(1)
  })

  test('notices a connection that has gone without a word', async () => {
    const silent = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(': alive\n\ndata: 1\n\n')),
    })
    const seen: string[] = []
    const read = async () => {
      for await (const event of blocksOf(silent, 50)) if (event !== null) seen.push(event.data)
    }
    await expect(read()).rejects.toThrow('nothing came for 0.05 s')
    expect(seen).toEqual(['1'])
  })

  test('opens a stream again that is not answered, or by a page of a proxy, and says why', async () => {
    const answers = [
      () => new Promise<Response>(() => {}),
      () => new Response('<html>', { headers: { 'Content-Type': 'text/html; charset=utf-8' } }),
      () => new Response('event: done\ndata: 1\n\n', { headers: { 'Content-Type': 'text/event-stream' } }),
    ]
    using server = Bun.serve({
      port: 0,
      idleTimeout: 0,
      fetch: () => answers.shift()?.() ?? new Response(null, { status: 404 }),
    })
    const transport = createTransport({ url: server.url.href, key: 'any' })
    const seen: string[] = []
    const events = resumed(transport, {
      signal: undefined,
      open: () => ({ path: '/' }),
      read: ({ event }) => [{ type: event }],
      silenceMs: 300,
    })
    for await (const event of events) {
      seen.push('error' in event ? String(event.error) : event.type)
      if (event.type === 'done') break
    }
    expect(seen).toEqual([
      expect.stringContaining('nothing came for 0.3 s'),
      expect.stringContaining('it answered text/html in place of events'),
      'connected',
      'done',
    ])
  })

  test.each([302, 403, 404])(
    'takes a %i of a proxy as passing once the service has answered',
    async (status) => {
      const stream = () => new Response(': alive\n\n', { headers: { 'Content-Type': 'text/event-stream' } })
      const proxy = () => new Response('<html>', { status, headers: { Location: '/login' } })
      const answers = [stream, proxy, stream]
      const problem = { code: 'not_found', detail: 'No such endpoint.', traceId: 'a' }
      using server = Bun.serve({
        port: 0,
        fetch: () => answers.shift()?.() ?? Response.json(problem, { status: 404 }),
      })
      const options = {
        url: server.url.href,
        key: 'any',
        fetch: (url: string, init: RequestInit) => fetch(url, { ...init, redirect: 'manual' }),
      }
      const follow = () =>
        resumed(createTransport(options), { signal: undefined, open: () => ({ path: '/' }), read: () => [] })
      const seen: string[] = []
      const all = (async () => {
        for await (const { type } of follow()) seen.push(type)
      })()
      expect(await refusalOf(all)).toMatchObject({ code: 'not_found' })
      expect(seen).toEqual(['connected', 'alive', 'lost', 'lost', 'connected', 'alive', 'lost'])
      answers.push(proxy)
      expect(await refusalOf(follow().next())).toMatchObject({ code: 'unexpected_answer', status })
    },
  )

  test.each([
    ['7', 7_000],
    ['99999999999', 60_000],
    ['-3', 250],
    ['soon', 250],
  ])('waits for a `Retry-After` of %s before it opens a stream again', async (seconds, expectedMs) => {
    using server = Bun.serve({
      port: 0,
      fetch: () => new Response(null, { status: 503, headers: { 'Retry-After': seconds } }),
    })
    const transport = createTransport({ url: server.url.href, key: 'any', retry: () => false })
    const events = resumed(transport, { signal: undefined, open: () => ({ path: '/' }), read: () => [] })
    const { value: lost } = await events.next()
    expect(lost).toMatchObject({ type: 'lost', waitMs: expectedMs })
    await events.return()
  })

  test('reads by pages where it is too far behind', async () => {
    await using endpoint = await creel.endpoints.create()
    const bodies = await store(endpoint, 1100)
    const seen: (string | null)[] = []
    for await (const { bodyPreview } of endpoint.requests.follow({ afterId: 0 })) {
      seen.push(bodyPreview)
      if (seen.length === 1100) break
    }
    expect(seen).toEqual([...bodies])
  })

  test('reads all of it where the number of pages is not known', async () => {
    await using endpoint = await creel.endpoints.create()
    await using other = await creel.endpoints.create()
    await store(endpoint, 10_100)
    const { value: newest } = await endpoint.requests.list()[Symbol.asyncIterator]().next()
    // It is estimated by ids, of which others have many.
    await store(other, 10_100)
    const bodies = await store(endpoint, 10_100)
    const seen: (string | null)[] = []
    for await (const { bodyPreview } of endpoint.requests.follow({ afterId: newest?.id ?? 0 })) {
      seen.push(bodyPreview)
      if (seen.length === bodies.length) break
    }
    expect(seen).toEqual([...bodies])
  })

  test('ends with the signal of the client, too', async () => {
    await using endpoint = await creel.endpoints.create()
    const stop = new AbortController()
    const stopped = createCreel({ url: service.baseUrl, key: service.alice.key, signal: stop.signal })
    const { requests } = await stopped.endpoints.get(endpoint.id)
    const ended = Array.fromAsync(requests.follow()).catch(String)
    stop.abort('enough')
    expect(await ended).toBe('enough')
  })

  test('a reader that leaves at once leaves no connection', async () => {
    const { promise: left, resolve: noteEnd } = Promise.withResolvers<void>()
    using server = streamOf(': here\n\n', noteEnd)
    const { requests } = await createCreel({ url: server.url.href, key: 'any' }).endpoints.get('e')
    for await (const event of requests.feed({ afterId: 1 })) if (event.type === 'connected') break
    await left
  })

  test('ends when its signal aborts, and with the refusal when the endpoint is deleted', async () => {
    const endpoint = await creel.endpoints.create()
    const stop = new AbortController()
    const ended = Array.fromAsync(endpoint.requests.follow({ signal: stop.signal })).catch(String)
    stop.abort('enough')
    expect(await ended).toBe('enough')
    await endpoint.delete()
    const refused = await refusalOf(Array.fromAsync(endpoint.requests.follow({ afterId: 0 })))
    expect(refused.code).toBe('not_found')
  })
})
