import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { get } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { TestEndpoint } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { startService, type TestService } from '../support/service.ts'

/** Input on the bare socket, without a key. */

/** As many as the limit of open files allows: both ends of each connection are in this process. */
const IDLE_CONNECTIONS = Math.min(10_000, Math.floor((openFilesMax() - 1000) / 2))
const PARALLEL_AWAITS = 1000

let service: TestService
let endpoint: TestEndpoint
const sockets: Socket[] = []

beforeAll(async () => {
  service = await startService({
    parts: ['gateway'],
    limits: {
      apiRatePerMinute: 1_000_000,
      captureRatePerMinute: 1_000_000,
      parallelAwaitsMax: PARALLEL_AWAITS,
    },
  })
  endpoint = await service.alice.endpoint()
})

afterAll(() => {
  for (const socket of sockets) socket.destroy()
})

function openFilesMax(): number {
  const limits = existsSync('/proc/self/limits') ? readFileSync('/proc/self/limits', 'utf8') : ''
  return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? 2000)
}

/** Sends bytes. Resolves with the received text when it contains a head, or the socket is closed. */
function exchange(bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let received = ''
    const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1')
    sockets.push(socket)
    socket.on('error', () => resolve(received))
    socket.on('close', () => resolve(received))
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
      if (received.includes('\r\n\r\n')) resolve(received)
    })
    socket.write(bytes, 'latin1')
  })
}

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0)

/** Checks that other callers are served. */
async function isWell(): Promise<void> {
  expect((await service.alice.get('/api/v1/me')).status).toBe(200)
  expect((await endpoint.send()).status).toBe(200)
}

describe('methods that fetch does not know', () => {
  test.each(['TRACE', 'CONNECT', 'PROPFIND', 'PURGE'])(
    '%s under the API is a 401 or 404, never a 500',
    async (method) => {
      const head = (key: string) => `${method} /api/v1/me HTTP/1.1\r\nHost: x\r\n${key}\r\n`
      const status = statusOf(await exchange(head('')))
      // The parser refuses CONNECT, whose target is not a path.
      expect(method === 'CONNECT' ? [0, 400, 401, 404, 405].includes(status) : status === 401).toBe(true)
      const known = statusOf(await exchange(head(`Authorization: Bearer ${service.alice.key}\r\n`)))
      expect(method === 'CONNECT' ? [0, 400, 404, 405].includes(known) : known === 404).toBe(true)
      await isWell()
    },
  )
})

describe('framing', () => {
  test.each<[string, string]>([
    ['two lengths', 'Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc'],
    ['length and chunks', 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['an unknown coding', 'Transfer-Encoding: chunked, cow\r\n\r\n0\r\n\r\n'],
    ['a negative length', 'Content-Length: -1\r\n\r\n'],
    ['a length that is no number', 'Content-Length: 1e3\r\n\r\n'],
    ['a chunk size that is no number', 'Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n'],
    ['a folded header', 'X-A: 1\r\n folded\r\nContent-Length: 0\r\n\r\n'],
    ['a space before the colon', 'Content-Length : 0\r\n\r\n'],
    ['a header name with a newline', 'X\nA: 1\r\n\r\n'],
  ])('%s cannot smuggle a second request', async (_, rest) => {
    const smuggled = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'
    const answer = await exchange(
      `POST /hook/${endpoint.id} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${rest}${smuggled}`,
    )
    expect(answer).not.toContain('"status":"ok"')
    await isWell()
  })
})

describe('targets under /hook/', () => {
  const ID = '00000000-0000-0000-0000-000000000000'

  test.each([
    `/hook/${ID}/../../api/v1/me`,
    '/hook/../api/v1/me',
    '/hook/%2e%2e/api/v1/me',
    '/hook//',
    '/hook/',
    '/hook',
    `/hook/${ID}%00`,
    `/hook/%00${ID}`,
    `/hook/{${ID}}`,
    `/hook/${ID}x/a`,
    `/hook/${'a'.repeat(8000)}`,
    '/hook/__proto__',
    '/hook/constructor/prototype',
    `/hook/${ID};a=b`,
  ])('%s is nobody', async (target) => {
    const answer = await exchange(`POST ${target} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`)
    expect(statusOf(answer)).toBe(404)
    expect(answer).not.toContain('set-cookie')
  })

  test.each([
    '/../../etc/passwd',
    '/%2e%2e%2f',
    '/a//b/./c',
    '/%00',
    '/%C3%A9',
    '/<script>',
    '/{{body}}',
    '/a;b=c',
  ])('the path %s of a known endpoint is kept as it was sent', async (path) => {
    const target = `/hook/${endpoint.id}${path}`
    expect(statusOf(await exchange(`POST ${target} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`))).toBe(
      200,
    )
    const [newest] = await endpoint.requests('pageSize=1')
    expect(newest?.path).toBe(path)
  })

  test('what a sender sends never turns into a header of an answer', async () => {
    const answer = await exchange(
      `POST /hook/${endpoint.id}/%0d%0aSet-Cookie:%20a=b?x=%0d%0aX-Evil:%201 HTTP/1.1\r\nHost: x\r\nX-A: %0d%0aX-Evil: 1\r\nContent-Length: 0\r\n\r\n`,
    )
    expect(statusOf(answer)).toBe(200)
    expect(answer.toLowerCase()).not.toMatch(/\r\n(set-cookie|x-evil)/)
  })
})

describe('JSON bombs', () => {
  test.each<[string, string]>([
    ['deep lists', `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
    ['deep objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['a long number', `{"type":${'9'.repeat(500_000)}}`],
    ['duplicate keys', `{${'"type":"a",'.repeat(50_000)}"type":"b"}`],
    ['__proto__', '{"__proto__":{"type":"x","polluted":true},"constructor":{"prototype":{"polluted":true}}}'],
    ['a lone surrogate', '{"type":"\\ud800"}'],
    ['NUL in a label', '{"type":"a\\u0000b"}'],
  ])('%s is captured like anything else', async (_, body) => {
    await service.alice.post(endpoint.at('/actions'), {
      kind: 'forward',
      url: 'http://127.0.0.1:9/',
      condition: { all: [{ path: 'body.a.b[0].c', op: 'eq', value: 1 }] },
    })
    expect((await endpoint.send({ body })).status).toBe(200)
    const [newest] = await endpoint.requests('pageSize=1')
    expect((await service.alice.get(endpoint.at(`/requests/${newest?.id}`))).body).toMatchObject({ body })
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })

  test.each<[string, string]>([
    ['deep lists', `{"name":"x","responseHeaders":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    [
      'a condition that nests',
      `{"kind":"forward","url":"https://example.com","condition":${'{"not":'.repeat(5000)}{}${'}'.repeat(5000)}}`,
    ],
    ['__proto__', '{"__proto__":{"isActive":false},"name":"x"}'],
  ])('%s in a body of the API does no harm', async (_, body) => {
    const options = { rawBody: body, headers: { 'Content-Type': 'application/json' } }
    for (const path of ['/api/v1/endpoints', endpoint.at('/actions')]) {
      expect((await service.alice.post(path, undefined, options)).status).toBeOneOf([201, 400])
    }
    await isWell()
  })
})

describe('many at once', () => {
  test(`${PARALLEL_AWAITS} awaits of one key are all woken by one capture`, async () => {
    const quiet = await service.alice.endpoint()
    const url = service.baseUrl + quiet.at('/requests/await?timeoutSeconds=60')
    let isSent = false
    // One whose time is over before the last one has come asks again.
    const wait = async (): Promise<number | undefined> => {
      const status = await statusOfCall(url, service.alice.key)
      return status === 204 && !isSent ? await wait() : status
    }
    const waiting = Array.from({ length: PARALLEL_AWAITS }, wait)
    await eventually('every await at the service', async () => (await waitingAwaits()) >= PARALLEL_AWAITS)
    isSent = true
    await quiet.send()
    const statuses = new Set(await Promise.all(waiting))
    expect([...statuses]).toEqual([200])
  })

  // This test is the last one: the service may close an idle connection that the calls of this file would reuse.
  test(`${IDLE_CONNECTIONS} idle connections hold nobody up`, async () => {
    const port = Number(new URL(service.baseUrl).port)
    const idle = Array.from({ length: IDLE_CONNECTIONS }, () => connect(port, '127.0.0.1'))
    sockets.push(...idle)
    // The service closes the oldest connections of an address when there are too many.
    for (const socket of idle) socket.on('error', () => {})
    const settled = (socket: Socket) =>
      new Promise((resolve) => socket.once('connect', resolve).once('close', resolve))
    await Promise.all(idle.map(settled))
    await isWell()
    for (const socket of idle) socket.destroy()
  })
})

/** Uses node:http, since Bun's fetch makes at most 256 calls at once. */
function statusOfCall(url: string, key: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false, headers: { Authorization: `Bearer ${key}` } }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode))
    }).on('error', reject)
  })
}

/** Number of waiting awaits, by the service's metrics. */
async function waitingAwaits(): Promise<number> {
  const metrics = await (await fetch(`${service.baseUrl}/metrics`)).text()
  return Number(/^creel_awaits_waiting (\d+)$/m.exec(metrics)?.[1] ?? 0)
}
