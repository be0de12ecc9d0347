import { beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { Problem } from '@creel/core'
import { type RawAnswer, sendRaw } from '../support/rawSender.ts'
import { startService, type TestService } from '../support/service.ts'

/** Fields that are also in answers without a handler: of the listener, and for unknown routes. */

const PROTECTION = [
  'X-Content-Type-Options: nosniff',
  "Content-Security-Policy: sandbox; default-src 'none'",
  'Cache-Control: no-store',
]
const LONG = 'x'.repeat(170 * 1024)

let service: TestService
let hook = ''
beforeAll(async () => {
  service = await startService({
    parts: ['gateway'],
    trustedProxies: ['127.0.0.1'],
    connectionLimits: { connectionsPerAddressMax: 1 },
  })
  hook = new URL((await service.alice.endpoint()).url).pathname
})

const send = (bytes: string) => sendRaw(service.baseUrl, bytes)

/** Requests that no handler sees, with their status. */
const BAD: readonly (readonly [status: number, bytes: (path: string) => string])[] = [
  [400, (path) => `POST ${path} HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`],
  [400, (path) => `POST ${path} HTTP/1.1\r\nHost: a\r\nBad Field\r\n\r\n`],
  [400, (path) => `POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`],
  [400, (path) => `P@ST ${path} HTTP/1.1\r\nHost: a\r\n\r\n`],
  [400, (path) => `POST  ${path} HTTP/1.1\r\nHost: a\r\n\r\n`],
  [431, (path) => `POST ${path} HTTP/1.1\r\nHost: a\r\nX-Long: ${LONG}\r\n\r\n`],
  [431, (path) => `POST ${path}${LONG} HTTP/1.1\r\nHost: a\r\n\r\n`],
  [505, (path) => `POST ${path} HTTP/2.0\r\nHost: a\r\n\r\n`],
]

/** Sends a request while another one of the same address is in flight, which is one too many. */
async function sendBeside(path: string): Promise<RawAnswer> {
  const forwarded = 'Host: h\r\nX-Forwarded-For: 203.0.113.77\r\n'
  const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1')
  const isHeld = new Promise<string>((resolve) =>
    socket.on('data', (bytes) => resolve(bytes.toString('latin1'))),
  )
  socket.write(`POST ${hook} HTTP/1.1\r\n${forwarded}Expect: 100-continue\r\nContent-Length: 3\r\n\r\n`)
  expect(await isHeld).toStartWith('HTTP/1.1 100 ')
  const answer = await send(`GET ${path} HTTP/1.1\r\n${forwarded}Connection: close\r\n\r\n`)
  socket.destroy()
  return answer
}

const fieldOf = ({ fields }: RawAnswer, name: string) =>
  fields.find((field) => field.toLowerCase().startsWith(`${name}: `))?.slice(name.length + 2)

describe('below /hook/', () => {
  const expectProtected = (answer: RawAnswer) => {
    expect(answer.fields).toEqual(expect.arrayContaining(PROTECTION))
    expect(answer.body).toBe('')
  }

  for (const [index, [status, bytes]] of BAD.entries()) {
    test(`a ${status} of the listener is protected (${index})`, async () => {
      const answer = await send(bytes(hook))
      expect(answer.status).toBe(status)
      expectProtected(answer)
    })
  }

  test('a 503 of the listener is protected', async () => {
    const answer = await sendBeside(hook)
    expect(answer.status).toBe(503)
    expect(fieldOf(answer, 'retry-after')).toBe('1')
    expectProtected(answer)
  })
})

describe('below /api/', () => {
  const expectProblem = (answer: RawAnswer, code: string) => {
    expect(fieldOf(answer, 'content-type')).toBe('application/problem+json')
    const problem = Problem.parse(JSON.parse(answer.body))
    expect(problem).toMatchObject({ type: 'about:blank', status: answer.status, code })
    expect(problem.traceId).toBe(fieldOf(answer, 'creel-trace-id') ?? '')
  }

  for (const [index, [status, bytes]] of BAD.entries()) {
    test(`a ${status} of the listener is a problem (${index})`, async () => {
      const answer = await send(bytes('/api/v1/endpoints'))
      expect(answer.status).toBe(status)
      expectProblem(answer, 'request_invalid')
    })
  }

  test('a 503 of the listener is a problem', async () => {
    const answer = await sendBeside('/api/v1/me')
    expect(answer.status).toBe(503)
    expect(fieldOf(answer, 'retry-after')).toBe('1')
    expectProblem(answer, 'unavailable')
  })

  for (const method of ['BREW', 'get', 'CONNECT', 'TRACE', 'OPTIONS', 'PROPFIND', 'PATCH']) {
    test(`${method} is 404 where no route has it, and 401 without a key`, async () => {
      for (const path of ['/api/v1', '/api/v1/me', '/api/v1/nothing', '/api/v1/%zz']) {
        const head = `${method} ${path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n`
        const known = await send(`${head}Authorization: Bearer ${service.alice.key}\r\n\r\n`)
        expect([path, known.status]).toEqual([path, 404])
        expectProblem(known, 'not_found')
        const unknown = await send(`${head}\r\n`)
        expect([path, unknown.status]).toEqual([path, 401])
        expectProblem(unknown, 'unauthorized')
      }
    })
  }

  test('a path outside of version 1 is 404, with a key and without', async () => {
    for (const path of ['/api/', '/api/v2/me', '/api/v10', '/api/%zz']) {
      const answer = await send(`BREW ${path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`)
      expect([path, answer.status]).toEqual([path, 404])
      expectProblem(answer, 'not_found')
    }
  })

  test('a path that cannot be decoded is a problem', async () => {
    for (const path of [
      '/api/v1/endpoints/%zz',
      '/api/v1/endpoints/%ff/requests',
      '/api/v1/%00',
      '/api/v1/\xe9',
    ]) {
      const head = `GET ${path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n`
      const answer = await send(`${head}Authorization: Bearer ${service.alice.key}\r\n\r\n`)
      expect([path, answer.status]).toEqual([path, 404])
      expectProblem(answer, 'not_found')
    }
  })
})

test('elsewhere an odd method is 405', async () => {
  for (const target of ['BREW /docs', 'POST /docs', 'POST /docs/', 'POST /share/any']) {
    const answer = await send(`${target} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`)
    expect([target, answer.status]).toEqual([target, 405])
  }
})
