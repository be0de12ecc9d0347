import { afterAll, beforeAll, describe, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { type AttackedService, forwarded, startAttackedService } from './attackedService.ts'

let service: AttackedService

beforeAll(async () => {
  service = await startAttackedService()
})

afterAll(() => service.stop())

const attackedBy = (attack: () => Promise<void>) => service.attackedBy(attack)
const many = (count: number, bytes: string | Buffer) => service.many(count, bytes)
const closed = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()))
/** Waits for rounds of the bystander's calls. */
const rounds = (count: number) => service.rounds(count)

describe('an innocent bystander notices nothing of', () => {
  test('long paths that a log would have to search for secrets', () =>
    attackedBy(async () => {
      const call = `GET /api/v1/${'a.'.repeat(70_000)} HTTP/1.1\r\n${forwarded}\r\n`
      many(10, call.repeat(3))
      await rounds(12)
    }))

  test('pipelined requests for large files whose answers nobody reads', () =>
    attackedBy(async () => {
      const call = `GET /docs/swagger-ui-bundle.js HTTP/1.1\r\n${forwarded}\r\n`
      for (const socket of many(20, call.repeat(2000))) socket.pause()
      await rounds(14)
    }))

  test('bodies that drip, to nobody and to somebody', () =>
    attackedBy(async () => {
      const post = (path: string) => `POST ${path} HTTP/1.1\r\n${forwarded}Content-Length: 1000000\r\n\r\nx`
      const toNobody = many(200, post(`/hook/${randomUUID()}`))
      const gone = toNobody.map((socket) => closed(socket.resume()))
      const dripping = many(100, post(service.attackedPath))
      for (let drip = 0; drip < 4; drip += 1) {
        await rounds(5)
        for (const socket of dripping) socket.write('x')
      }
      // The service does not wait for bodies that it refuses.
      await Promise.all(gone)
    }))

  test('more connections than an address may have, and than there may be', () =>
    attackedBy(async () => {
      // The proxy itself may open as many as there may be in all; the oldest idle ones are closed.
      many(1200, '')
      await rounds(12)
      // A request in flight counts for the address that the proxy forwards for.
      many(400, `POST ${service.attackedPath} HTTP/1.1\r\n${forwarded}Content-Length: 9\r\n\r\nx`)
      await rounds(12)
    }))

  test('half a gigabyte of bodies that lack their last byte', () =>
    attackedBy(async () => {
      const length = 10_000_000
      const head = `POST ${service.attackedPath} HTTP/1.1\r\n${forwarded}Content-Length: ${length}\r\n\r\n`
      const body = Buffer.concat([Buffer.from(head), Buffer.alloc(length - 1, 'x')])
      many(52, body)
      await rounds(14)
    }))

  test('a flood of calls without a key, and of captures for nobody', () =>
    attackedBy(async () => {
      const call = `GET /api/v1/me HTTP/1.1\r\n${forwarded}X-Api-Key: creel_live_nobody\r\n\r\n`
      const toNobody = `POST /hook/${randomUUID()} HTTP/1.1\r\n${forwarded}Content-Length: 2\r\n\r\n{}`
      for (const socket of many(20, call.repeat(500))) socket.resume()
      for (const socket of many(20, toNobody.repeat(500))) socket.resume()
      await rounds(14)
    }))

  test('heads that never end, and bytes that are no HTTP', () =>
    attackedBy(async () => {
      many(200, `GET / HTTP/1.1\r\n${forwarded}${'X-A: 1\r\n'.repeat(900)}`)
      many(200, Buffer.alloc(10_000, 0x16))
      await rounds(12)
    }))

  test('JSON that nests, on every way in', () =>
    attackedBy(async () => {
      const deep = '['.repeat(400_000)
      for (const path of ['/trpc/endpoints.create', '/api/v1/endpoints', service.attackedPath]) {
        const head = `POST ${path} HTTP/1.1\r\n${forwarded}Authorization: Bearer ${service.attackersKey}\r\nContent-Type: application/json\r\n`
        many(10, `${head}Content-Length: ${deep.length}\r\n\r\n${deep}`)
      }
      await rounds(12)
    }))

  test('bodies of many megabytes on every way that reads them whole', () =>
    attackedBy(async () => {
      const piece = `10000\r\n${'x'.repeat(0x10000)}\r\n`
      for (const path of ['/trpc/endpoints.create', '/mcp', '/api/v1/endpoints']) {
        const head = `POST ${path} HTTP/1.1\r\n${forwarded}${service.credentials}Transfer-Encoding: chunked\r\n\r\n`
        many(10, head + piece.repeat(80))
      }
      await rounds(12)
    }))

  test('previews of rules that compute for long', () =>
    attackedBy(async () => {
      const step = {
        op: 'compute',
        path: 'headers.X-Digest',
        fn: 'sha512',
        args: [{ fn: 'concat', args: ['body', { literal: 'more' }] }],
      }
      const rule = { version: 1, name: 'Long', steps: Array.from({ length: 50 }, () => step) }
      const body = JSON.stringify({ rule, sample: { body: 'x'.repeat(900_000) } })
      const head = `POST /api/v1/transformations/preview HTTP/1.1\r\n${forwarded}${service.credentials}`
      for (const socket of many(20, `${head}Content-Length: ${body.length}\r\n\r\n${body}`)) socket.resume()
      await rounds(14)
    }))

  test('previews of many rules beside a sample of many values', () =>
    attackedBy(async () => {
      const rules = Array.from({ length: 100 }, (_, index) => ({
        version: 1,
        name: `Rule ${index}`,
        steps: [],
      }))
      const body = JSON.stringify({ rules, sample: { body: Array.from({ length: 300_000 }, () => ({})) } })
      const endpointId = service.attackedPath.split('/').at(-1)
      const path = `/api/v1/endpoints/${endpointId}/transformations/preview-set`
      const head = `POST ${path} HTTP/1.1\r\n${forwarded}${service.credentials}`
      for (const socket of many(4, `${head}Content-Length: ${body.length}\r\n\r\n${body}`)) socket.resume()
      await rounds(14)
    }))
})
