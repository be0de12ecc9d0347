import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import fc from 'fast-check'
import { openOutbound } from '../../../../creel/src/lent/outbound.ts'
import { wholeRequest } from '../../../../tests/support/wholeRequest.ts'
import { createLocalSender, type LocalSender } from './localSender.ts'

/** A server that records every byte, answers requests, and redirects its clients. */
interface Wire {
  readonly port: number
  /** Bytes received since the last call, as latin1. */
  taken(): string
  connectionCount(): number
}

const servers: { server: Server; sockets: Set<Socket> }[] = []

async function startWire(answer: (port: number) => string): Promise<Wire> {
  let bytes = ''
  let connectionCount = 0
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    connectionCount += 1
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk) => {
      bytes += chunk.toString('latin1')
      // One answer a chunk: a request of these tests fits into one chunk.
      socket.write(answer(port))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port }: Pick<AddressInfo, 'port'> = Object(server.address())
  servers.push({ server, sockets })
  return {
    port,
    taken() {
      const all = bytes
      bytes = ''
      return all
    },
    connectionCount: () => connectionCount,
  }
}

let trap: Wire
let local: Wire
const senders: LocalSender[] = []

beforeAll(async () => {
  trap = await startWire(() => 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
  local = await startWire(
    () => `HTTP/1.1 307 Moved\r\nlocation: http://127.0.0.1:${trap.port}/\r\ncontent-length: 0\r\n\r\n`,
  )
})
afterAll(async () => {
  for (const sender of senders) await sender.close()
  for (const { server, sockets } of servers) {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
})

const senderTo = (target: string): LocalSender => {
  const sender = createLocalSender({
    target,
    skipVerify: false,
    answerMilliseconds: 2_000,
    openOutbound: (trustsAny) => Promise.resolve(openOutbound(trustsAny)),
  })
  senders.push(sender)
  return sender
}

/** Parses the bytes, which must be exactly one request: its line, and the lines of its head. */
function onlyRequest(wire: string): { target: string; head: readonly string[]; body: string } {
  const end = wire.indexOf('\r\n\r\n')
  const [line = '', ...head] = wire.slice(0, end).split('\r\n')
  const [method, target = '', version, ...more] = line.split(' ')
  expect({ method, version, more }).toEqual({ method: 'POST', version: 'HTTP/1.1', more: [] })
  return { target, head, body: wire.slice(end + 4) }
}

/** The path as the most lenient server would read it. */
function asRead(target: string): string {
  let path = target.split('?')[0] ?? ''
  for (let layer = 0; layer < 12; layer += 1) {
    path = path.replace(/%([0-9a-f]{2})/gi, (_whole, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
  }
  // The URL parser removes tabs and line breaks, turns backslashes into slashes, and folds dots.
  return new URL(`http://local${path.replace(/;[^/\\]*/g, '').replace(/[?#]/g, '_')}`).pathname
}

const pieces = (port: number) =>
  fc.constantFrom(
    ...[
      '/',
      '//',
      '\\',
      '..',
      '.',
      '/../',
      '/..;x/',
      '%2e%2e',
      '%2E',
      '%252e',
      '%25252e%2e',
      '%2f',
      '%5c',
      '%255c',
    ],
    ...[
      '@',
      ':',
      '?',
      '#',
      ' ',
      '\t',
      '\r\n',
      '\n',
      '\u0000',
      'zoë',
      '\ud800',
      '漢',
      '%',
      '%0d%0a',
      '%c0%ae',
      '%u002e',
    ],
    ...['a', 'hooks', ' HTTP/1.1\r\nHost: trap\r\n\r\n', `127.0.0.1:${port}`, `http://127.0.0.1:${port}/`],
    ...[
      `@127.0.0.1:${port}/`,
      `//127.0.0.1:${port}/`,
      `\\\\127.0.0.1:${port}\\`,
      `:${port}`,
      '.127.0.0.1',
      '[::1]',
    ],
  )

const text = (port: number) =>
  fc.oneof(
    fc.array(pieces(port), { maxLength: 8 }).map((parts) => parts.join('')),
    fc.string({ unit: 'binary', maxLength: 20 }),
  )

const RUNS = { numRuns: 400 }

describe('a local sender', () => {
  test.each([
    ['', ''],
    ['/hooks', '/hooks'],
    ['/hooks?token=1', '/hooks'],
  ])(
    'reaches host, port and base path of http://…%s and nothing else, whatever was captured',
    async (suffix, base) => {
      const sender = senderTo(`http://127.0.0.1:${local.port}${suffix}`)
      const sentCount = { plain: 0, refused: 0 }
      await fc.assert(
        fc.asyncProperty(text(trap.port), fc.option(text(trap.port)), async (path, queryString) => {
          for (const prefix of ['', '/']) {
            local.taken()
            const answer = await sender.send(wholeRequest({ path: prefix + path, queryString }))
            expect(trap.connectionCount()).toBe(0)
            const wire = local.taken()
            if (answer.isUnsendable) {
              sentCount.refused += 1
              expect(wire).toBe('')
              continue
            }
            sentCount.plain += 1
            // A redirect counts as an answer.
            expect(answer.statusCode).toBe(307)
            const { target, head, body } = onlyRequest(wire)
            expect(body).toBe('')
            expect(head.filter((line) => /^host:/i.test(line))).toEqual([`host: 127.0.0.1:${local.port}`])
            expect(target).toMatch(/^\/[!-~]*$/)
            expect(target).toStartWith(base)
            const read = asRead(target)
            expect(read === base || read.startsWith(`${base}/`)).toBe(true)
            expect(answer.url).toBe(`http://127.0.0.1:${local.port}${target}`)
          }
        }),
        RUNS,
      )
      expect(Math.min(sentCount.plain, sentCount.refused)).toBeGreaterThan(0)
    },
  )

  test('sends a request that breaks off again only where the connection had been kept from an earlier one', async () => {
    let requestCount = 0
    let answers = 0
    /** What it sends before it ends; null to end late, undefined at once. */
    let ending: string | null | undefined
    const server = createServer((socket) => {
      socket.on('error', () => socket.destroy())
      socket.on('data', () => {
        requestCount += 1
        answers -= 1
        if (answers >= 0) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
        else if (ending === null) setTimeout(() => socket.destroy(), 400)
        else if (ending === undefined) socket.destroy()
        else socket.end(ending)
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    servers.push({ server, sockets: new Set() })
    const { port }: Pick<AddressInfo, 'port'> = Object(server.address())
    const sender = senderTo(`http://127.0.0.1:${port}`)
    const sent = async () => {
      const before = requestCount
      const { error } = await sender.send(wholeRequest({}))
      return { error, times: requestCount - before }
    }
    const brokenOff = 'reset: the connection was closed before a response arrived'
    expect(await sent()).toEqual({ error: brokenOff, times: 1 })
    answers = 1
    expect(await sent()).toEqual({ error: null, times: 1 })
    expect(await sent()).toEqual({ error: brokenOff, times: 2 })
    expect(await sent()).toEqual({ error: brokenOff, times: 1 })
    // It has read the request if it answers a part, or ends later than a connection that it had closed.
    for (const begun of ['SMTP\r\n\r\n', 'HTTP/1.1 101 Switching Protocols\r\n\r\n', null]) {
      ending = begun
      answers = 1
      expect(await sent()).toEqual({ error: null, times: 1 })
      expect(await sent()).toEqual({ error: expect.stringMatching(/^reset: /), times: 1 })
    }
  })

  test('writes one request, whatever its fields, method and body hold', async () => {
    const sender = senderTo(`http://127.0.0.1:${local.port}`)
    const often = <Value>(arbitrary: fc.Arbitrary<Value>) => ({ weight: 5, arbitrary })
    const name = fc.oneof(
      often(
        fc.constantFrom(
          ...['Host', 'hOST', 'Content-Length', 'Transfer-Encoding', 'Connection', 'Upgrade', 'Keep-Alive'],
          ...['TE', 'Trailer', 'Expect', 'Proxy-Connection', 'X'],
        ),
      ),
      fc.constantFrom('X\r\nHost', 'X: a\r\nHost', 'Host ', '', 'X Y', 'Ho\u017ft'),
      fc.string({ unit: 'binary', maxLength: 8 }),
    )
    const value = fc.oneof(
      often(fc.constantFrom('chunked', '0', '5', 'close', 'upgrade, x', 'trap', '100-continue')),
      // The last four contain a CR or LF, some only if a writer keeps just the low byte of a character.
      fc.constantFrom(
        'a\u0000b',
        'a\nHost: trap',
        'a\rb',
        'a\u010d\u010aHost: trap',
        'a\u560d\u560aHost: trap',
      ),
      fc.string({ unit: 'binary', maxLength: 12 }),
    )
    const field = fc.record(
      { name, value, encoding: fc.constant('latin1' as const) },
      { requiredKeys: ['name', 'value'] },
    )
    const method = fc.constantFrom(
      ...Array.from({ length: 6 }, () => 'POST'),
      'CONNECT',
      'POST /x',
      'G\r\n',
      '',
    )
    const body = fc.constantFrom(null, 'x', '0\r\n\r\nPOST /trap HTTP/1.1\r\n\r\n')
    let sentCount = 0
    await fc.assert(
      fc.asyncProperty(method, fc.array(field, { maxLength: 4 }), body, async (word, rawHeaders, bytes) => {
        local.taken()
        const answer = await sender.send(wholeRequest({ method: word, path: '/a', rawHeaders, body: bytes }))
        const wire = local.taken()
        const isWellFormed = rawHeaders.every(
          (one) => /^[\w-]+$/.test(one.name) && /^[ -~]*$/.test(one.value),
        )
        // Fields of the capture's own connection must not make the request unsendable.
        if (isWellFormed && word === 'POST') expect(answer.isUnsendable).toBe(false)
        if (answer.isUnsendable) return expect(wire).toBe('')
        sentCount += 1
        const { target, head, body: received } = onlyRequest(wire)
        expect(target).toBe('/a')
        const valuesOf = (wanted: string) =>
          head.flatMap((line) =>
            line.toLowerCase().startsWith(`${wanted}:`) ? [line.slice(wanted.length + 2)] : [],
          )
        expect(valuesOf('host')).toEqual([`127.0.0.1:${local.port}`])
        expect(valuesOf('transfer-encoding')).toEqual([])
        expect(valuesOf('connection')).toEqual(['keep-alive'])
        expect(valuesOf('upgrade')).toEqual([])
        expect(valuesOf('content-length')).toEqual([String(Buffer.byteLength(bytes ?? ''))])
        expect(received).toBe(bytes ?? '')
        expect(head.join('')).not.toMatch(/[\r\n]/)
      }),
      RUNS,
    )
    expect(sentCount).toBeGreaterThan(0)
    expect(trap.connectionCount()).toBe(0)
  })
})
