import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { type AttackedService, forwarded, startAttackedService } from './attackedService.ts'

/** Connections that end at once, and connections that read as fast as they can, all without a key. */

let service: AttackedService

beforeAll(async () => {
  service = await startAttackedService()
})

afterAll(() => service.stop())

/** Resets a connection as soon as the system has made it, which is before the service accepts it. */
function reset(port: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.resetAndDestroy())
    socket.on('error', () => {})
    socket.on('close', () => resolve())
  })
}

async function resets(count: number): Promise<void> {
  for (let begun = 0; begun < count; begun += 100) {
    await Promise.all(Array.from({ length: 100 }, () => reset(service.port)))
  }
}

const faults = async () => {
  const text = await (await fetch(`${service.creel.baseUrl}/metrics`)).text()
  return /^creel_connection_faults_total (\d+)$/m.exec(text)?.[1]
}

/** Counts answers as they come, without keeping them. */
function countAnswers(socket: Socket): { readonly count: () => number } {
  let count = 0
  socket.on('data', (bytes) => {
    count += bytes.toString('latin1').split('HTTP/1.1 200').length - 1
  })
  return { count: () => count }
}

describe('an innocent bystander notices nothing of', () => {
  test('connections that are reset before they are accepted', () =>
    service.attackedBy(async () => {
      // While the service is busy with this, it accepts no connection: later ones are reset in the queue of the system.
      const call = `GET /openapi/v1.json HTTP/1.1\r\n${forwarded}\r\n`
      for (let round = 0; round < 10; round += 1) {
        for (const socket of service.many(10, call)) socket.resume()
        await resets(200)
      }
    }))

  test('connections over the limit of an address, each with a request under way', () =>
    service.attackedBy(async () => {
      const post = `POST ${service.attackedPath} HTTP/1.1\r\n${forwarded}Content-Length: 9\r\n\r\nx`
      for (let round = 0; round < 4; round += 1) {
        const sockets = service.many(400, post)
        await service.rounds(3)
        for (const socket of sockets) socket.resetAndDestroy()
      }
    }))

  test('connections over the limit of all, each with a request under way', () =>
    service.attackedBy(async () => {
      const sockets = service.many(1200, `GET /hook/${randomUUID()} HTTP/1.1\r\nHost: h\r\nX-Slow: `)
      await service.rounds(6)
      for (const socket of sockets) socket.resetAndDestroy()
    }))

  test('pipelined requests for a ready answer that are read at once', () =>
    service.attackedBy(async () => {
      const call = `GET /openapi/v1.json HTTP/1.1\r\n${forwarded}\r\n`
      const counts = service.many(8, call.repeat(2000)).map(countAnswers)
      await service.rounds(14)
      expect(Math.min(...counts.map(({ count }) => count()))).toBeGreaterThan(0)
    }))
})

test('nothing of it is an error of the service', async () => {
  expect(await faults()).toBe('0')
})
