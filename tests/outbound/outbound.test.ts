import { afterEach, describe, expect, test } from 'bun:test'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import net from 'node:net'
import tls from 'node:tls'
import { gzipSync } from 'node:zlib'
import {
  createOutbound,
  type Outbound,
  type OutboundOptions,
  type OutboundRequest,
} from '@creel/core/platform/outbound'
import { eventually } from '../support/eventually.ts'

const open: (() => unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

/** A receiver on a bare socket. The test writes the answer; the request is kept. */
async function receiver(answer: (socket: net.Socket, received: string) => void, secure?: tls.TlsOptions) {
  const sockets = new Set<net.Socket>()
  const seen = { bytes: '', connections: 0, open: 0 }
  const serve = (socket: net.Socket) => {
    seen.connections++
    seen.open++
    sockets.add(socket)
    socket.on('close', () => seen.open--)
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      seen.bytes += chunk.toString('latin1')
      answer(socket, seen.bytes)
    })
  }
  const server = secure === undefined ? net.createServer(serve) : tls.createServer(secure, serve)
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { port: address.port, seen }
}

function client(options: Partial<OutboundOptions> = {}): Outbound {
  const outbound = createOutbound({ allowDestinations: ['127.0.0.0/8'], ownHosts: () => [], ...options })
  open.push(() => outbound.close())
  return outbound
}

const post = (url: string, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  method: 'POST',
  url,
  headers: [],
  body: Buffer.from('{}'),
  ...more,
})

const ok = (socket: net.Socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')

test('receivers that ask to keep their connections for long keep a thousand of them, and busy ones stay', async () => {
  const { port, seen } = await receiver((socket) =>
    socket.write('HTTP/1.1 200 OK\r\nKeep-Alive: timeout=9999\r\nContent-Length: 2\r\n\r\nok'),
  )
  const outbound = client({ resolve: async () => ['127.0.0.1'] })
  const sendTo = async (host: string) =>
    expect(await outbound.send(post(`http://${host}.invalid:${port}/`))).toMatchObject({ statusCode: 200 })
  await sendTo('busy')
  for (let n = 0; n < 1100; n += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, at) => sendTo(`host-${n + at}`)))
    await sendTo('busy')
  }
  expect(seen.connections).toBe(1101)
  await eventually('the end of the oldest connections', () => seen.open === 1024)
})

test.each(['\r\n', 'HTTP/1.1 100 Continue\r\n\r\n'])(
  'a kept connection that sends %j without end is closed',
  async (junk) => {
    const flood = Buffer.alloc(1024 * 1024, junk)
    const { port, seen } = await receiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nKeep-Alive: timeout=9999\r\nContent-Length: 2\r\n\r\nok')
      // Less than is read for an answer, and more than the system keeps on the way.
      for (let n = 0; n < 24; n++) setTimeout(() => socket.write(flood), 50)
    })
    const outbound = client()
    expect(await outbound.send(post(`http://127.0.0.1:${port}/`))).toMatchObject({ statusCode: 200 })
    await eventually('the end of the connection', () => seen.open === 0)
    expect(await outbound.send(post(`http://127.0.0.1:${port}/`))).toMatchObject({ statusCode: 200 })
  },
)

describe('the address that was checked is the one that is dialled', () => {
  test('the resolver is asked, and its answer is dialled', async () => {
    const { port, seen } = await receiver(ok)
    const asked: string[] = []
    const resolve = async (host: string) => {
      asked.push(host)
      return ['127.0.0.1']
    }
    // Only the given resolver knows this name, so a client that ignored it could not connect.
    const result = await client({ resolve }).send(post(`http://only-ours-knows.invalid:${port}/x`))
    expect(result).toMatchObject({ outcome: 'response', statusCode: 200 })
    expect(asked).toEqual(['only-ours-knows.invalid'])
    expect(seen.bytes).toStartWith(`POST /x HTTP/1.1\r\nhost: only-ours-knows.invalid:${port}\r\n`)
  })

  test('a name that answers public first and private later reaches nothing private', async () => {
    const { port, seen } = await receiver(ok)
    const answers = [['8.8.8.8'], ['127.0.0.1'], ['127.0.0.1', '::1']]
    const outbound = client({ allowDestinations: [], resolve: async () => answers.shift() ?? ['127.0.0.1'] })
    const url = `http://rebinding.test:${port}/`

    expect(await outbound.checkDestination(url)).toEqual([])
    expect(await outbound.send(post(url))).toMatchObject({ outcome: 'blocked_address' })
    expect(await outbound.send(post(url))).toMatchObject({ outcome: 'blocked_address' })
    expect(seen.connections).toBe(0)
  })

  test('of a mixed answer only the allowed addresses are dialled', async () => {
    const { port, seen } = await receiver(ok)
    const resolve = async () => ['10.0.0.1', '127.0.0.2', '127.0.0.1']
    // 127.0.0.2 refuses the connection: the next allowed address is tried.
    const result = await client({ resolve, allowDestinations: ['127.0.0.0/8'] }).send(
      post(`http://mixed.test:${port}/`),
    )
    expect(result).toMatchObject({ outcome: 'response', statusCode: 200 })
    expect(seen.connections).toBe(1)
  })

  test.each([
    'http://127.0.0.1:PORT/',
    'http://2130706433:PORT/',
    'http://0x7f.0.0.1:PORT/',
    'http://017700000001:PORT/',
    'http://127.1:PORT/',
    'http://localhost:PORT/',
    'http://localhost.:PORT/',
    'http://[::ffff:127.0.0.1]:PORT/',
    'http://[::ffff:7f00:1]:PORT/',
    'http://[::1]:PORT/',
    'http://0.0.0.0:PORT/',
  ])('%s is refused when it is dialled too', async (url) => {
    const { port, seen } = await receiver(ok)
    const result = await client({ allowDestinations: [] }).send(post(url.replace('PORT', String(port))))
    expect(result).toMatchObject({ outcome: 'blocked_address' })
    expect(seen.connections).toBe(0)
  })

  test('an IPv6 scope is no URL, and no answer of a resolver', async () => {
    const outbound = client({ resolve: async () => ['fe80::1%eth0'] })
    expect(await outbound.send(post('http://[fe80::1%25eth0]/'))).toMatchObject({ outcome: 'unsendable' })
    expect(await outbound.send(post('http://scoped.test/'))).toMatchObject({ outcome: 'blocked_address' })
  })

  test('our own host and port end as a loop, whatever is allowed', async () => {
    const { port, seen } = await receiver(ok)
    const outbound = client({
      allowDestinations: ['0.0.0.0/0', 'us.test'],
      ownHosts: () => [{ host: '0.0.0.0', port }],
      resolve: async () => ['127.0.0.3'],
    })
    expect(await outbound.send(post(`http://us.test:${port}/`))).toMatchObject({ outcome: 'loop' })
    expect(seen.connections).toBe(0)
  })
})

describe('what goes over the wire', () => {
  test.each(['POST', 'GET', 'DELETE', 'HEAD', 'OPTIONS'])(
    '%s: sentHeaders are the fields as on the wire',
    async (method) => {
      const { port, seen } = await receiver((socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n'))
      const result = await client().send({
        method,
        url: `http://127.0.0.1:${port}/a/../b?x=1`,
        headers: [
          ['X-Twice', '1'],
          ['x-bytes', 'caf\xc3\xa9 \xff'],
          ['X-TWICE', '2'],
          ['X-Empty', ''],
          ['User-Agent', 'creel/1'],
        ],
        body: method === 'HEAD' ? null : Buffer.from([0, 255, 10]),
      })
      const [head = '', body] = seen.bytes.split('\r\n\r\n')
      const [line, ...fields] = head.split('\r\n')
      expect(line).toBe(`${method} /a/../b?x=1 HTTP/1.1`)
      expect(result.sentHeaders.map(([name, value]) => `${name}: ${value}`)).toEqual(fields)
      expect(body).toBe(method === 'HEAD' ? '' : '\x00\xff\n')
    },
  )

  const LONG = Buffer.alloc(3_000_000, 'long')

  test.each(['POST', 'GET'])('%s: a long body is sent in pieces, with its length', async (method) => {
    const { port, seen } = await receiver((socket, received) => {
      if (received.endsWith('THE END')) socket.write('HTTP/1.1 204 No Content\r\n\r\n')
    })
    const body = Buffer.concat([LONG, Buffer.from('THE END')])
    const result = await client().send({ method, url: `http://127.0.0.1:${port}/`, headers: [], body })
    expect(result).toMatchObject({ outcome: 'response', statusCode: 204 })
    const [head = '', sent] = seen.bytes.split('\r\n\r\n')
    expect(result.sentHeaders.map(([name, value]) => `${name}: ${value}`)).toEqual(
      head.split('\r\n').slice(1),
    )
    expect(sent === body.toString('latin1')).toBeTrue()
  })

  test('a long body that is answered before it has arrived has that answer', async () => {
    const { port, seen } = await receiver((socket, received) => {
      if (received.length > 500_000) return
      socket.write('HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno')
      socket.pause()
    })
    const result = await client().send(post(`http://127.0.0.1:${port}/`, { body: LONG }))
    expect(result).toMatchObject({ outcome: 'response', statusCode: 413, bodyTruncated: false })
    expect(seen.connections).toBe(1)
  })

  test('a long body that a receiver does not read ends with the time, or with its connection', async () => {
    const body = Buffer.alloc(30_000_000, 'long')
    const stuck = await receiver((socket) => void socket.pause())
    const late = await client().send(post(`http://127.0.0.1:${stuck.port}/`, { body, totalTimeoutMs: 500 }))
    expect(late).toMatchObject({ outcome: 'timeout' })
    const rude = await receiver((socket) => void socket.resetAndDestroy())
    expect(await client().send(post(`http://127.0.0.1:${rude.port}/`, { body }))).toMatchObject({
      outcome: 'reset',
    })
  })

  test('a redirect to the metadata address is an answer, not an order', async () => {
    const { port, seen } = await receiver((socket) =>
      socket.write(
        'HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest/\r\nContent-Length: 0\r\n\r\n',
      ),
    )
    const asked: string[] = []
    const resolve = async (host: string) => {
      asked.push(host)
      return ['127.0.0.1']
    }
    const result = await client({ resolve }).send(post(`http://moved.test:${port}/`))
    expect(result).toMatchObject({ outcome: 'response', statusCode: 302 })
    expect(asked).toEqual(['moved.test'])
    expect(seen.connections).toBe(1)
  })

  test('a compressed answer stays compressed, and headers keep order, case and repeats', async () => {
    const packed = gzipSync('x'.repeat(100_000))
    const { port } = await receiver((socket) => {
      socket.write(
        `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nSet-Cookie: a=1\r\nset-cookie: b=\xe9\r\nContent-Length: ${packed.length}\r\n\r\n`,
        'latin1',
      )
      socket.write(packed)
    })
    const result = await client().send(post(`http://127.0.0.1:${port}/`))
    if (result.outcome !== 'response') throw new Error(result.outcome)
    expect(Buffer.from(result.body)).toEqual(packed)
    expect(result.headers).toEqual([
      ['Content-Encoding', 'gzip'],
      ['Set-Cookie', 'a=1'],
      ['set-cookie', 'b=\xe9'],
      ['Content-Length', String(packed.length)],
    ])
  })
})

describe('hostile receivers', () => {
  test('a response without end is cut at the limit, and the connection is dropped', async () => {
    const { port } = await receiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      const more = () => {
        while (!socket.destroyed && socket.write(Buffer.alloc(65_536, 120))) {}
      }
      socket.on('drain', more)
      more()
    })
    const result = await client().send(post(`http://127.0.0.1:${port}/`, { maxResponseBytes: 262_144 }))
    if (result.outcome !== 'response') throw new Error(result.outcome)
    expect(result.body.length).toBe(262_144)
    expect(result.bodyTruncated).toBe(true)
  })

  test('a body in very many pieces is cut there', async () => {
    const { port } = await receiver((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\na\r\n'.repeat(20_000)}`),
    )
    const result = await client().send(post(`http://127.0.0.1:${port}/`))
    expect(result).toMatchObject({ outcome: 'response', bodyTruncated: true, statusCode: 200 })
    if (result.outcome === 'response') expect(result.body.length).toBeLessThan(20_000)
  })

  test('a body in some pieces is whole', async () => {
    const pieces = Array.from({ length: 300 }, (_, at) => `<${at}>`)
    const { port } = await receiver((socket) =>
      socket.write(
        `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('')}0\r\n\r\n`,
      ),
    )
    const result = await client().send(post(`http://127.0.0.1:${port}/`))
    expect(result).toMatchObject({ outcome: 'response', bodyTruncated: false })
    if (result.outcome === 'response') expect(Buffer.from(result.body).toString()).toBe(pieces.join(''))
  })

  test('a body of exactly the limit is whole', async () => {
    const { port } = await receiver((socket) =>
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfour'),
    )
    const result = await client().send(post(`http://127.0.0.1:${port}/`, { maxResponseBytes: 4 }))
    expect(result).toMatchObject({ outcome: 'response', bodyTruncated: false })
  })

  test('a body that never ends after a 2xx is a 2xx, cut when the time is up', async () => {
    const { port } = await receiver((socket) =>
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf'),
    )
    const result = await client().send(post(`http://127.0.0.1:${port}/`, { totalTimeoutMs: 3_000 }))
    expect(result).toMatchObject({ outcome: 'response', statusCode: 200, bodyTruncated: true })
    if (result.outcome === 'response') expect(Buffer.from(result.body).toString()).toBe('half')
  })

  test('a response that drips its headers byte by byte is a timeout', async () => {
    const { port } = await receiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nX-Slow: ')
      const drip = setInterval(() => (socket.destroyed ? clearInterval(drip) : socket.write('a')), 10)
      open.push(() => clearInterval(drip))
    })
    const result = await client().send(post(`http://127.0.0.1:${port}/`, { totalTimeoutMs: 150 }))
    // The header never ends.
    expect(result).toMatchObject({ outcome: 'timeout' })
  })

  test.each([
    ['one huge field', `X-Bomb: ${'a'.repeat(1 << 20)}\r\n`],
    ['very many fields', 'X-Bomb: a\r\n'.repeat(100_000)],
    ['many fields of one character', 'x:\r\n'.repeat(5_000)],
  ])('a header bomb of %s is refused', async (_, fields) => {
    const { port } = await receiver((socket) => socket.write(`HTTP/1.1 200 OK\r\n${fields}\r\n`))
    const result = await client().send(post(`http://127.0.0.1:${port}/`, { totalTimeoutMs: 60_000 }))
    expect(result).toMatchObject({ outcome: 'reset', detail: 'the response headers are too long' })
  })

  test.each([
    ['closes without a word', '', 'reset'],
    ['speaks something else', 'SSH-2.0-OpenSSH_9.9\r\n', 'reset'],
    [
      'switches protocols',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
      'reset',
    ],
  ])('one that %s is a reset', async (_, words, outcome) => {
    const { port } = await receiver((socket) => socket.end(words))
    expect(await client().send(post(`http://127.0.0.1:${port}/`, { totalTimeoutMs: 60_000 }))).toMatchObject({
      outcome,
    })
  })

  const NOT_HTTP = 'the response is not HTTP/1.1'
  test.each([
    ['that is not HTTP', 'SSH-2.0-OpenSSH_9.9\r\n', NOT_HTTP],
    ['with a status below 100', 'HTTP/1.1 099 Early\r\nContent-Length: 0\r\n\r\n', NOT_HTTP],
    [
      'of two lengths',
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      NOT_HTTP,
    ],
    [
      'that switches protocols',
      'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
      'the receiver switched protocols',
    ],
  ])('an answer %s is called so', async (_, words, detail) => {
    const { port } = await receiver((socket) => socket.write(words))
    expect(await client().send(post(`http://127.0.0.1:${port}/`))).toMatchObject({ outcome: 'reset', detail })
  })

  test.each([
    [
      'interim responses',
      '',
      `HTTP/1.1 103 Early Hints\r\nX-Hint: ${'x'.repeat(16_000)}\r\n\r\n`,
      'reset' as const,
    ],
    [
      'an extension of a chunk',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;',
      'x'.repeat(16_000),
      'response' as const,
    ],
  ])('%s without end are cut long before the time is up', async (_, start, part, outcome) => {
    const { port } = await receiver((socket) => {
      socket.write(start)
      const more = () => {
        while (!socket.destroyed && socket.write(part)) {}
      }
      socket.on('drain', more)
      more()
    })
    const result = await client().send(post(`http://127.0.0.1:${port}/`, { totalTimeoutMs: 600_000 }))
    expect(result.outcome).toBe(outcome)
  })

  test.each(['100 Continue', '102 Processing', '103 Early Hints\r\nLink: </x>'])(
    '%j before the answer is not the answer',
    async (interim) => {
      const { port } = await receiver((socket) =>
        socket.write(`HTTP/1.1 ${interim}\r\n\r\nHTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n`),
      )
      expect(await client().send(post(`http://127.0.0.1:${port}/`))).toMatchObject({ statusCode: 202 })
    },
  )

  test('nobody listens: connect; no such name: dns', async () => {
    const { port } = await receiver(ok)
    expect(await client().send(post(`http://127.0.0.9:${port}/`))).toMatchObject({ outcome: 'connect' })
    const outbound = client({ resolve: () => Promise.reject(new Error('ENOTFOUND')) })
    expect(await outbound.send(post('http://nowhere.test/'))).toMatchObject({ outcome: 'dns' })
  })

  test('a resolver that never answers is cut off by the connect timeout', async () => {
    const outbound = client({ resolve: () => new Promise(() => {}), connectTimeoutMs: 100 })
    expect(await outbound.send(post('http://silent.test/'))).toMatchObject({ outcome: 'dns' })
  })

  test('a sender that is told to stop stops', async () => {
    const stop = new AbortController()
    const { port } = await receiver(() => stop.abort())
    expect(await client().send(post(`http://127.0.0.1:${port}/`, { signal: stop.signal }))).toMatchObject({
      outcome: 'aborted',
    })
  })

  test('a dead receiver does not hold up a live one', async () => {
    const dead = await receiver(() => {})
    const live = await receiver(ok)
    const outbound = client()
    const stop = new AbortController()
    let ended = 0
    const waiting = Array.from({ length: 50 }, async () => {
      const result = await outbound.send(
        post(`http://127.0.0.1:${dead.port}/`, { totalTimeoutMs: 60_000, signal: stop.signal }),
      )
      ended += 1
      return result
    })
    const result = await outbound.send(post(`http://127.0.0.1:${live.port}/`))
    expect(result).toMatchObject({ outcome: 'response', statusCode: 200 })
    expect(ended).toBe(0)
    stop.abort()
    expect((await Promise.all(waiting)).every(({ outcome }) => outcome === 'aborted')).toBe(true)
  })
})

describe('TLS', () => {
  const subject = ['-subj', '/CN=good.test', '-addext', 'subjectAltName=DNS:good.test']
  const algorithm = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  // Key and certificate go to stdout, so that no key is left in a folder.
  const options = ['req', '-x509', ...algorithm, ...subject, '-keyout', '-', '-out', '-']
  const pem = execFileSync('openssl', options, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  const [key = '', cert = ''] = pem.match(/-----BEGIN .*?-----END [A-Z ]*-----/gs) ?? []
  const certificate = { key, cert }
  const resolve = async () => ['127.0.0.1']
  const trusting = { resolve, certificateAuthorities: cert }

  test('a certificate for the name of the URL is accepted, though an address is dialled', async () => {
    const { port } = await receiver(ok, certificate)
    expect(await client(trusting).send(post(`https://good.test:${port}/`))).toMatchObject({ statusCode: 200 })
  })

  test.each([
    ['for another name', trusting, 'https://other.test'],
    ['that nobody vouches for', { resolve }, 'https://good.test'],
    ['that does not name the address of the URL', trusting, 'https://127.0.0.1'],
  ])('a certificate %s is refused', async (_, options, origin) => {
    const { port, seen } = await receiver(ok, certificate)
    expect(await client(options).send(post(`${origin}:${port}/`))).toMatchObject({ outcome: 'tls' })
    expect(seen.bytes).toBe('')
  })

  test('a receiver that does not speak TLS is a tls failure', async () => {
    const { port } = await receiver((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    expect(await client({ resolve }).send(post(`https://good.test:${port}/`))).toMatchObject({
      outcome: 'tls',
    })
  })

  test('a receiver that never finishes the handshake is cut off by the connect timeout', async () => {
    const { port } = await receiver(() => {})
    const outbound = client({ resolve, connectTimeoutMs: 150 })
    expect(await outbound.send(post(`https://good.test:${port}/`))).toMatchObject({ outcome: 'tls' })
  })
})
