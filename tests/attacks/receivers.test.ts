import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import net from 'node:net'
import { z } from 'zod'
import { eventually } from '../support/eventually.ts'
import { type AttackedService, startAttackedService } from './attackedService.ts'

/** Receivers that answer deliveries with much that is cheap to write and dear to read. */

/** Limit for the processor time of one turn of the service's event loop. */
const BUSY_MS = 200
const DELIVERIES = 3

const ANSWERS = {
  'fields of one character': { head: 'HTTP/1.1 200 OK\r\n', more: 'x:\r\n' },
  'trailers of one character': {
    head: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n',
    more: 'x:\r\n',
  },
  'interim responses': { head: '', more: 'HTTP/1.1 103 Early Hints\r\n\r\n' },
  'chunks of one byte': { head: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', more: '1\r\na\r\n' },
} as const

let service: AttackedService
let server: net.Server
let answer: (typeof ANSWERS)[keyof typeof ANSWERS]
/** Answers that the service has ended. */
let ended = 0

beforeAll(async () => {
  server = net.createServer((socket) => {
    const { head, more } = answer
    const many = Buffer.from(more.repeat(2_000))
    const flood = () => {
      while (!socket.destroyed && socket.write(many));
    }
    socket.on('error', () => {})
    socket.on('drain', flood)
    socket.once('data', () => {
      socket.once('close', () => {
        ended += 1
      })
      socket.write(head)
      flood()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  service = await startAttackedService({ env: { CREEL_ALLOW_DESTINATIONS: '127.0.0.0/8' }, words: [] })
})

afterAll(async () => {
  await service.stop()
  server.close()
})

describe('an innocent bystander notices nothing of receivers that answer', () => {
  for (const [what, pieces] of Object.entries(ANSWERS))
    test(`${what} without end`, async () => {
      answer = pieces
      ended = 0
      const { port } = z.object({ port: z.int() }).parse(server.address())
      const made = await service.call('POST', '/api/v1/endpoints', {})
      const { id } = z.looseObject({ id: z.string() }).parse(await made.json())
      const captureUrl = `${service.creel.captureUrl}/hook/${id}`
      // The service ends the answer by its length, long before this time is over.
      const delivery = { timeoutSeconds: 300 }
      const action = { kind: 'forward', name: 'A', url: `http://127.0.0.1:${port}/`, delivery }
      expect((await service.call('POST', `/api/v1/endpoints/${id}/actions`, action)).status).toBe(201)
      await service.attackedBy(async () => {
        for (let sent = 1; sent <= DELIVERIES; sent += 1) {
          expect((await fetch(captureUrl, { method: 'POST', body: '{}' })).status).toBe(200)
          await eventually('the end of the answer', () => ended >= sent)
        }
      }, BUSY_MS)
    })
})
