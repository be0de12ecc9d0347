import { afterEach, describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { formerHosts } from './formerHosts.ts'
import type { RequestHandler, WireExchange } from './http/exchange.ts'
import { answerOfText } from './http/longAnswer.ts'
import { ReadyAnswer } from './http/readyAnswer.ts'
import { type Listener, type ListenerOptions, listen } from './listener.ts'

/** Longer than a test may take. */
const NEVER_MS = 600_000

let listener: Listener | undefined
const sockets: Socket[] = []
const faults: unknown[] = []

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await listener?.close(0)
  listener = undefined
  expect(faults.splice(0)).toEqual([])
})

async function start({
  capture,
  ...options
}: Partial<ListenerOptions> & { readonly capture?: RequestHandler }): Promise<number> {
  listener = await listen({
    host: '127.0.0.1',
    port: 0,
    fetch: async () => new Response('from fetch'),
    onError: () => {},
    onFault: (error) => faults.push(error),
    ...(capture === undefined ? {} : { direct: [{ prefix: '/hook/', handle: capture }] }),
    ...options,
  })
  return listener.port
}

const textAnswer = (text: string) => new ReadyAnswer(200, ['Content-Length', String(text.length)], text)

const answering =
  (text: string): RequestHandler =>
  (exchange) =>
    exchange.answer(textAnswer(text))

/** A handler that is called once the whole body has arrived. */
function whole(handle: (exchange: WireExchange, body: string) => void): RequestHandler {
  return (exchange) => {
    let body = ''
    exchange.receive({
      onData: (piece) => {
        body += piece.toString()
      },
      onEnd: () => handle(exchange, body),
      onAbort: () => {},
    })
  }
}

/** A raw connection: sends exact bytes, collects exact bytes. */
function dial(port: number, bytes = '') {
  let received = ''
  const looks = new Set<() => void>()
  const socket = connect(port, '127.0.0.1')
  sockets.push(socket)
  socket.write(bytes, 'latin1')
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1')
    for (const look of looks) look()
  })
  const closed = new Promise<string>((resolve) => socket.on('close', () => resolve(received)))
  return {
    socket,
    closed,
    /** Resolves as soon as the received text contains `text`. */
    until: (text: string) =>
      new Promise<string>((resolve) => {
        const look = () => received.includes(text) && resolve(received)
        looks.add(look)
        look()
      }),
  }
}

describe('what goes where', () => {
  test('a capture sees the bare request: raw target, wire order, spelling, repeats, a body on GET', async () => {
    const seen: unknown[] = []
    const port = await start({
      capture: whole((exchange, body) => {
        const { method, target, fields } = exchange.head
        seen.push({ method, target, fields: fields.map((field) => field.join(': ')), body })
        exchange.answer(new ReadyAnswer(202, ['X-A', '1', 'X-A', '2', 'Content-Length', '0'], ''))
      }),
    })
    const client = dial(
      port,
      'GET /hook/t/a/../b%41//?x=1&x=%zz HTTP/1.1\r\nHost: h\r\nX-B: \xe9\r\nx-a: 1\r\nX-b: 2\r\nContent-Length: 3\r\n\r\nabc',
    )
    const answer = await client.until('\r\n\r\n')
    expect(answer).toStartWith('HTTP/1.1 202 ')
    expect(answer).toContain('X-A: 1\r\nX-A: 2\r\n')
    expect(seen).toEqual([
      {
        method: 'GET',
        target: '/hook/t/a/../b%41//?x=1&x=%zz',
        fields: ['Host: h', 'X-B: \xe9', 'x-a: 1', 'X-b: 2', 'Content-Length: 3'],
        body: 'abc',
      },
    ])
  })

  test('a target in absolute form reaches the same handler', async () => {
    const port = await start({ capture: answering('from capture') })
    await dial(port, 'GET http://h/hook/t HTTP/1.1\r\nHost: h\r\n\r\n').until('from capture')
    await dial(port, 'GET http://h/hooks HTTP/1.1\r\nHost: h\r\n\r\n').until('from fetch')
    await dial(port, 'GET /hook HTTP/1.1\r\nHost: h\r\n\r\n').until('from fetch')
  })
})

describe('the fetch adapter', () => {
  test('passes method, path, repeated headers and body, and brings status, headers and body back', async () => {
    const port = await start({
      async fetch(request) {
        const { pathname, search } = new URL(request.url)
        const body = { at: pathname + search, method: request.method, x: request.headers.get('x-a') }
        const headers = [
          ['X-Out', 'o'] as const,
          ['Set-Cookie', 'a=1'] as const,
          ['Set-Cookie', 'b=2'] as const,
        ]
        return new Response(JSON.stringify({ ...body, sent: await request.text() }), {
          status: 418,
          headers: headers.map((header) => [...header]),
        })
      },
    })
    const client = dial(
      port,
      'PATCH /p?q=1 HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nX-A: 2\r\nTransfer-Encoding: chunked\r\n\r\n',
    )
    client.socket.write('2\r\nab\r\n')
    client.socket.write('1\r\nc\r\n0\r\n\r\n')
    const answer = await client.until('"sent"')
    expect(answer).toStartWith('HTTP/1.1 418 ')
    expect(answer.toLowerCase()).toContain('set-cookie: a=1\r\nset-cookie: b=2\r\n')
    expect(answer).toEndWith('\r\n\r\n{"at":"/p?q=1","method":"PATCH","x":"1, 2","sent":"abc"}')
  })

  test('reads raw UTF-8 in a path and a query as such, and other bytes as if they had come encoded', async () => {
    const port = await start({ fetch: async ({ url }) => new Response(`${url} was asked`) })
    const seen = (target: string) =>
      dial(port, `GET ${target} HTTP/1.1\r\nHost: h\r\n\r\n`).until('was asked')
    expect(await seen('/caf\xc3\xa9?q=caf\xc3\xa9')).toContain('/caf%C3%A9?q=caf%C3%A9 was')
    expect(await seen('http://h/x?q=caf\xe9&z=%zz')).toContain('/x?q=caf%E9&z=%zz was')
  })

  test('a body of many megabytes streams through', async () => {
    const port = await start({
      fetch: async (request) => new Response(String((await request.arrayBuffer()).byteLength)),
    })
    const answer = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      body: new Uint8Array(30_000_000),
    })
    expect(await answer.text()).toBe('30000000')
  })

  test('answers HEAD like GET, without the body', async () => {
    const port = await start({ fetch: async (request) => new Response(`asked ${request.method}`) })
    const client = dial(port, 'HEAD / HTTP/1.1\r\nHost: h\r\n\r\n')
    const head = await client.until('\r\n\r\n')
    expect(head).toMatch(/content-length: 9\r\n/i)
    client.socket.write('GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n')
    await client.until('asked GET')
    // Only one body was sent: that of the GET.
    expect((await client.closed).match(/asked GET/g)).toHaveLength(1)
  })

  test('leaves out the fields of the connection and the date of an answer, and writes its own', async () => {
    const headers = {
      'keep-alive': 'timeout=9',
      te: 'trailers',
      upgrade: 'h2c',
      date: 'never',
      'x-kept': 'yes',
    }
    const port = await start({ fetch: async () => new Response('text', { headers }) })
    const answer = await fetch(`http://127.0.0.1:${port}/`)
    expect(answer.headers.get('x-kept')).toBe('yes')
    expect(answer.headers.get('te')).toBeNull()
    expect(answer.headers.get('upgrade')).toBeNull()
    expect(answer.headers.get('keep-alive') ?? '').not.toContain('timeout=9')
    expect(answer.headers.get('date') ?? '').not.toContain('never')
  })

  test('aborts the signal at once when the client hangs up, and not after a whole answer', async () => {
    const aborted = Promise.withResolvers<void>()
    const arrived = Promise.withResolvers<void>()
    const answered: AbortSignal[] = []
    const port = await start({
      fetch: (request) => {
        if (new URL(request.url).pathname === '/fast') {
          answered.push(request.signal)
          return Promise.resolve(new Response('fast'))
        }
        arrived.resolve()
        return new Promise((resolve) => {
          request.signal.addEventListener('abort', () => {
            aborted.resolve()
            resolve(new Response(null, { status: 204 }))
          })
        })
      },
    })
    const fast = dial(port, 'GET /fast HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n')
    await fast.until('fast')
    await fast.closed
    const slow = dial(port, 'GET /slow HTTP/1.1\r\nHost: h\r\n\r\n')
    await arrived.promise
    slow.socket.destroy()
    await aborted.promise
    expect(answered.map((signal) => signal.aborted)).toEqual([false])
  })

  test('an unread body does not stop the next request on the connection', async () => {
    const port = await start({ fetch: async () => new Response('refused', { status: 401 }) })
    const client = dial(port, 'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 300000\r\n\r\n')
    client.socket.write('x'.repeat(300_000))
    await client.until('refused')
    client.socket.write('GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n')
    expect((await client.closed).match(/refused/g)).toHaveLength(2)
  })

  test('a handler that throws answers a 500 and is reported: a problem of the API, else without a body', async () => {
    const reported: unknown[] = []
    const port = await start({
      fetch: () => Promise.reject(new Error('no such thing')),
      onError: (error) => reported.push(error),
    })
    const answer = await fetch(`http://127.0.0.1:${port}/`)
    expect({ status: answer.status, body: await answer.text() }).toEqual({ status: 500, body: '' })
    expect(reported).toEqual([new Error('no such thing')])
    const problem = await fetch(`http://127.0.0.1:${port}/api/v1/me`)
    expect(problem.headers.get('content-type')).toBe('application/problem+json')
    expect(await problem.json()).toMatchObject({ status: 500, code: 'internal_error' })
  })

  test('a wire route that throws answers a 500 with what protects the answers to captures', async () => {
    const port = await start({
      capture: () => {
        throw new Error('no such thing')
      },
    })
    const answer = await fetch(`http://127.0.0.1:${port}/hook/x`, { method: 'POST', body: '{}' })
    expect(answer.status).toBe(500)
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
  })
})

const FAST = {
  tickSeconds: 0.05,
  headSeconds: 0.3,
  bodyGraceSeconds: 0.3,
  bodyWindowSeconds: 0.2,
  bodyBytesPerSecondMin: 5,
}
const NOBODY = { onData: () => {}, onEnd: () => {}, onAbort: () => {} }

describe('senders', () => {
  test('one that stalls within its body is cut off', async () => {
    const port = await start({ limits: FAST, capture: (exchange) => exchange.receive(NOBODY) })
    await dial(port, 'POST /hook/t HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nab').closed
    await dial(port, 'POST /api HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n').closed
  })

  test('one that stalls within its body after it was answered is cut off, whoever had paused the body', async () => {
    const port = await start({
      limits: FAST,
      fetch: async () => new Response('refused', { status: 401 }),
      capture: (exchange) =>
        exchange.receive({
          ...NOBODY,
          onData() {
            exchange.pause()
            exchange.answer(textAnswer('refused'))
          },
        }),
    })
    for (const path of ['/api', '/hook/t']) {
      const head = `POST ${path} HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n`
      for (const bytes of ['{', 'x'.repeat(999)]) {
        const client = dial(port, head + bytes)
        await client.until('refused')
        await client.closed
      }
    }
  })

  test('one that stalls within its headers is cut off, on a new connection and on a kept one', async () => {
    const port = await start({ limits: FAST })
    await dial(port, 'POST /hook/t HTTP/1.1\r\nHost:').closed
    const kept = dial(port, 'GET / HTTP/1.1\r\nHost: h\r\n\r\n')
    await kept.until('from fetch')
    kept.socket.write('GET / HTTP/1.1\r\nHo')
    await kept.closed
  })

  test('one that keeps sending, and one that waits for its answer, are not', async () => {
    const sent = Promise.withResolvers<void>()
    const port = await start({
      limits: FAST,
      fetch: async () => {
        await sent.promise
        return new Response('took its time')
      },
      capture: whole((exchange) => exchange.answer(textAnswer('all of it'))),
    })
    const waiting = dial(port, 'POST /api HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab')
    const slow = dial(port, 'POST /hook/t HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n')
    const trickle = setInterval(() => slow.socket.write('x'), 100)
    await slow.until('all of it')
    clearInterval(trickle)
    sent.resolve()
    await waiting.until('took its time')
  })

  test('an expectation that nobody knows is no reason to refuse one', async () => {
    const port = await start({ capture: answering('from capture') })
    for (const expectation of ['', 'a-miracle']) {
      const head = `POST /hook/t HTTP/1.1\r\nHost: h\r\nExpect: ${expectation}\r\nContent-Length: 2\r\n\r\nhi`
      expect(await dial(port, head).until('from capture')).toStartWith('HTTP/1.1 200 ')
    }
  })

  test('garbage gets 400, a head that is too long or of too many fields 431, a large one passes', async () => {
    const refused: unknown[] = []
    const port = await start({ onRefused: ({ status, reason }) => refused.push([status, reason]) })
    await dial(port, 'GARBAGE\r\n\r\n').until('HTTP/1.1 400 Bad Request')
    const fields = (count: number) => Array.from({ length: count }, (_, n) => `X-${n}: v\r\n`).join('')
    await dial(port, `GET / HTTP/1.1\r\nHost: h\r\n${fields(900)}\r\n`).until('from fetch')
    await dial(port, `GET / HTTP/1.1\r\nHost: h\r\n${fields(1000)}\r\n`).until('HTTP/1.1 431 ')
    const field = (length: number) => `X-Large: ${'v'.repeat(length)}\r\n`
    await dial(port, `GET / HTTP/1.1\r\nHost: h\r\n${field(150_000)}\r\n`).until('from fetch')
    await dial(port, `GET / HTTP/1.1\r\nHost: h\r\n${field(170_000)}\r\n`).until('HTTP/1.1 431 ')
    expect(refused).toEqual([
      [400, 'no request line'],
      [431, 'the head has too many fields'],
      [431, 'the head is too long'],
    ])
  })
})

describe('close', () => {
  test('lets what is in flight end, drops idle connections and refuses new ones', async () => {
    const arrived = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const port = await start({
      fetch: async () => {
        arrived.resolve()
        await release.promise
        return new Response('finished')
      },
      capture: answering('idle now'),
    })
    const idle = dial(port, 'GET /hook/t HTTP/1.1\r\nHost: h\r\n\r\n')
    await idle.until('idle now')
    const busy = dial(port, 'GET / HTTP/1.1\r\nHost: h\r\n\r\n')
    await arrived.promise
    const closed = listener?.close(10_000)
    await idle.closed
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow()
    release.resolve()
    await busy.until('finished')
    await closed
  })

  test('cuts off after the grace what will not end', async () => {
    const arrived = Promise.withResolvers<void>()
    const port = await start({ capture: () => arrived.resolve() })
    const stuck = dial(port, 'GET /hook/t HTTP/1.1\r\nHost: h\r\n\r\n')
    await arrived.promise
    await listener?.close(50)
    await stuck.closed
  })
})

describe('former hosts', () => {
  const options = {
    formerHosts: formerHosts(['old.example.com', 'older.example.com:8080'], 'https://api.example.com'),
    capture: () => {
      throw new Error('a capture reached a former host')
    },
  }

  test.each([
    'GET /api/v1/me?x=%zz&y=1',
    'DELETE /api/v1/endpoints/../1',
    'OPTIONS /',
    'POST /hook/token/a//b',
  ])('%s is moved to the same path and query of the base URL', async (line) => {
    const port = await start(options)
    const client = dial(port, `${line} HTTP/1.1\r\nHost: OLD.example.com:4400\r\nContent-Length: 2\r\n\r\n{}`)
    const answer = await client.until('\r\n\r\n')
    expect(answer).toStartWith('HTTP/1.1 301 ')
    expect(answer).toContain(`Location: https://api.example.com${line.split(' ')[1]}\r\n`)
    expect(answer).toContain('X-Content-Type-Options: nosniff\r\n')
    expect(answer).toContain("Content-Security-Policy: sandbox; default-src 'none'\r\n")
  })

  test('the connection takes further requests', async () => {
    const port = await start(options)
    const moved = 'POST /a HTTP/1.1\r\nHost: old.example.com\r\nContent-Length: 2\r\n\r\n{}'
    const client = dial(port, moved + moved.replace('/a', '/b'))
    expect(await client.until('.com/b\r\n')).toContain('.com/a\r\n')
  })

  test('a port that is named counts, and every other host is served', async () => {
    const port = await start(options)
    const get = (host: string) => dial(port, `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`).until('\r\n\r\n')
    expect(await get('older.example.com:8080')).toStartWith('HTTP/1.1 301 ')
    expect(await get('older.example.com:8081')).toStartWith('HTTP/1.1 200 ')
    expect(await get('api.example.com')).toStartWith('HTTP/1.1 200 ')
  })
})

test.each(['/hook/at-once', '/in-pieces'])(
  'who leaves most unread of %s is hung up on when all together leave too much',
  async (path) => {
    const text = 'x'.repeat(20_000_000)
    const refused = Promise.withResolvers<string>()
    const port = await start({
      capture: answering(text),
      fetch: async () => answerOfText([text], 'utf8', {}),
      limits: { tickSeconds: 0.05, unsentTotalBytesMax: 1_000_000 },
      onRefused: ({ reason }) => refused.resolve(reason),
    })
    const { socket, closed } = dial(port, `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
    socket.pause()
    expect(await refused.promise).toBe('too much is unread')
    socket.resume()
    expect((await closed).length).toBeLessThan(20_000_000)
  },
)

describe('a client that is gone', () => {
  test('by a half-close behind a part of a further request ends the connection with its answers', async () => {
    const asked = Promise.withResolvers<WireExchange>()
    const port = await start({ capture: (exchange) => asked.resolve(exchange) })
    const client = dial(port, 'GET /hook/t HTTP/1.1\r\nHost: h\r\n\r\nGET /hook/t HT')
    const exchange = await asked.promise
    await new Promise<void>((resolve) => client.socket.end(resolve))
    // After this, no event of the socket is left that would make the listener check again.
    await fetch(`http://127.0.0.1:${port}/`)
    exchange.answer(textAnswer('the only one'))
    expect(await client.closed).toEndWith('the only one')
  })

  test('by a half-close behind its next request has that one cancelled', async () => {
    const asked = Promise.withResolvers<WireExchange>()
    const cancelled = Promise.withResolvers<boolean>()
    const port = await start({
      capture: (exchange) => asked.resolve(exchange),
      fetch: async ({ url, signal }) => {
        if (!url.endsWith('/stream')) return new Response()
        cancelled.resolve(signal.aborted)
        return new Response(new ReadableStream(), { headers: { 'Content-Type': 'text/event-stream' } })
      },
    })
    const client = dial(
      port,
      'GET /hook/t HTTP/1.1\r\nHost: h\r\n\r\nGET /stream HTTP/1.1\r\nHost: h\r\n\r\n',
    )
    const exchange = await asked.promise
    await new Promise<void>((resolve) => client.socket.end(resolve))
    await fetch(`http://127.0.0.1:${port}/`)
    exchange.answer(textAnswer('the only one'))
    expect(await cancelled.promise).toBe(true)
    expect(await client.closed).toEndWith('the only one')
  })

  describe('from a stream', () => {
    /** Serves endless streams, each of which says once whether it is cancelled. */
    async function startStreams() {
      const cancelled = Promise.withResolvers<void>()
      const port = await start({
        fetch: async ({ signal }) => {
          signal.addEventListener('abort', () => cancelled.resolve())
          const body = new ReadableStream({ start: (events) => events.enqueue(Buffer.from(': begun')) })
          return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } })
        },
      })
      const client = dial(port, 'GET /stream HTTP/1.1\r\nHost: h\r\n\r\n')
      await client.until(': begun')
      return { client, cancelled: cancelled.promise }
    }
    const ahead = `GET / HTTP/1.1\r\nHost: h\r\nX-Long: ${'x'.repeat(8000)}\r\n\r\n`

    test('is noticed behind more requests than may wait', async () => {
      const { client, cancelled } = await startStreams()
      client.socket.end(ahead.repeat(100))
      await cancelled
      await client.closed
    })

    test('ends the connection if it sends on without end', async () => {
      const { client, cancelled } = await startStreams()
      client.socket.write(ahead.repeat(400))
      await cancelled
      await client.closed
    })
  })

  test('by a half-close behind a body that is not read yet has its request cancelled', async () => {
    const asked = Promise.withResolvers<Request>()
    const port = await start({
      fetch: async (request) => {
        if (request.method === 'POST') asked.resolve(request)
        return request.method === 'POST' ? new Promise<Response>(() => {}) : new Response()
      },
    })
    const client = dial(port, 'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nfirst')
    const { body, signal } = await asked.promise
    await new Promise<void>((resolve) => client.socket.end('other', resolve))
    await fetch(`http://127.0.0.1:${port}/`)
    expect(signal.aborted).toBe(false)
    expect(await new Response(body).text()).toBe('firstother')
    expect(signal.aborted).toBe(true)
  })

  test.each([
    ['text/csv', 'breaks off', false],
    ['text/event-stream', 'ends', true],
  ])('by a half-close within an answer of %s, of which it has a part: it %s', async (type, _, isWhole) => {
    const cancelled = Promise.withResolvers<void>()
    const port = await start({
      fetch: async () => {
        const body = new ReadableStream({
          start: (parts) => parts.enqueue(Buffer.from('first')),
          cancel: () => cancelled.resolve(),
        })
        return new Response(body, { headers: { 'Content-Type': type } })
      },
    })
    const client = dial(port, 'GET /export HTTP/1.1\r\nHost: h\r\n\r\n')
    await client.until('first')
    client.socket.end()
    await cancelled.promise
    expect((await client.closed).endsWith('0\r\n\r\n')).toBe(isWhole)
  })

  test('by a reset while its connection is not read from is noticed when it is answered', async () => {
    const asked = Promise.withResolvers<WireExchange>()
    const port = await start({
      capture: (exchange) => asked.resolve(exchange),
      limits: { tickSeconds: 0.01 },
    })
    const request = 'GET /hook/t HTTP/1.1\r\nHost: h\r\n\r\n'
    const client = dial(port, request.repeat(1000))
    const exchange = await asked.promise
    // Once this answer is read, the reset that was sent before it has arrived, too.
    const other = dial(port, 'GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n')
    await other.until('from fetch')
    client.socket.resetAndDestroy()
    await client.closed
    exchange.answer(textAnswer('for nobody'))
    other.socket.destroy()
    await listener?.close(NEVER_MS)
    listener = undefined
  })
})
