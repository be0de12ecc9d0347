import { afterEach, describe, expect, test } from 'bun:test'
import { createServer, type Server } from 'node:http'
import { connect } from 'node:net'
import { type BodyBudget, type CapturedBody, createBodyBudget, receiveBody } from './capturedBody.ts'

let server: Server | undefined

afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

/** A server that keeps every body, and gives its budget back only when told. */
async function receiver(bytesMax: number, budget: BodyBudget) {
  const bodies: (CapturedBody | undefined)[] = []
  const releases: (() => void)[] = []
  let ended = Promise.withResolvers<void>()
  server = createServer((request, response) => {
    const release = receiveBody(request, { bytesMax, budget }, (body) => {
      bodies.push(body)
      releases.push(release)
      response.end()
      ended.resolve()
      ended = Promise.withResolvers()
    })
  })
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = address !== null && typeof address === 'object' ? address.port : 0
  const send = async (body: string) => {
    const next = ended.promise
    await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body })
    await next
    return bodies.at(-1)
  }
  return { send, port, bodies, releases }
}

const text = (body: CapturedBody | undefined) =>
  body && { ...body, bytes: Buffer.from(body.bytes).toString() }

describe('receiveBody', () => {
  test('keeps a body up to the cap, and of a larger one a prefix and its size', async () => {
    const { send } = await receiver(5, createBodyBudget(1_000_000))
    expect(text(await send('12345'))).toEqual({ bytes: '12345', sizeBytes: 5, truncated: false })
    expect(text(await send('123456'))).toEqual({ bytes: '12345', sizeBytes: 6, truncated: true })
    expect(text(await send(''))).toEqual({ bytes: '', sizeBytes: 0, truncated: false })
  })

  test('keeps no more than 65536 bytes of an oversize body, however large the cap', async () => {
    const { send } = await receiver(100_000, createBodyBudget(1_000_000))
    const body = await send('x'.repeat(150_000))
    expect(body).toMatchObject({ sizeBytes: 150_000, truncated: true })
    expect(body?.bytes).toHaveLength(65_536)
  })

  test('refuses what the budget has no room for, until room is given back', async () => {
    const { send, releases } = await receiver(100, createBodyBudget(10))
    expect(text(await send('12345678'))).toMatchObject({ sizeBytes: 8 })
    expect(await send('12345')).toBeUndefined()
    releases[0]?.()
    expect(text(await send('1234567890'))).toMatchObject({ sizeBytes: 10 })
  })

  test('a sender that hangs up leaves nothing, and takes nothing of the budget', async () => {
    const budget = createBodyBudget(10)
    const { send, port, bodies } = await receiver(100, budget)
    const taken = Promise.withResolvers<void>()
    const given = Promise.withResolvers<void>()
    const { take, give } = budget
    budget.take = (bytes) => {
      taken.resolve()
      return take(bytes)
    }
    budget.give = (bytes) => {
      give(bytes)
      given.resolve()
    }
    const socket = connect(port, '127.0.0.1')
    socket.write('POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\n12345678')
    await taken.promise
    socket.destroy()
    await given.promise
    expect(bodies).toEqual([])
    expect(text(await send('1234567890'))).toMatchObject({ sizeBytes: 10 })
  })
})
