import { afterEach, describe, expect, spyOn, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { type Listener, type ListenerOptions, listen } from '../listener.ts'
import { Connection } from './connection.ts'
import type { RequestHandler } from './exchange.ts'
import { ReadyAnswer } from './readyAnswer.ts'

/** Errors of our own code within the callbacks of a socket. They are injected, because none is known. */

let listener: Listener
const faults: unknown[] = []
const sockets: Socket[] = []
let injected: { mockRestore(): void } | undefined

afterEach(async () => {
  injected?.mockRestore()
  for (const socket of sockets.splice(0)) socket.destroy()
  await listener.close(0)
  faults.length = 0
})

async function start({
  capture,
  ...options
}: Partial<ListenerOptions> & { readonly capture?: RequestHandler } = {}): Promise<void> {
  listener = await listen({
    host: '127.0.0.1',
    port: 0,
    fetch: async () => new Response('answered'),
    onError: (error) => faults.push(error),
    onFault: (error) => faults.push(error),
    ...(capture === undefined ? {} : { direct: [{ prefix: '/hook/', handle: capture }] }),
    ...options,
  })
}

/** A connection that records what it receives and when it is closed. */
function dial(bytes: string) {
  let received = ''
  const socket = connect(listener.port, '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => {})
  socket.on('data', (piece) => {
    received += piece.toString('latin1')
  })
  socket.write(bytes)
  const closed = new Promise<string>((resolve) => socket.on('close', () => resolve(received)))
  return { socket, closed }
}

const failure = new Error('injected')
const CALL = 'GET / HTTP/1.1\r\nHost: h\r\n\r\n'

async function expectNeighbourServed(): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${listener.port}/`)
  expect(await answer.text()).toBe('answered')
}

describe('an error in a callback ends its connection, is reported once, and harms no other:', () => {
  for (const callback of ['receive', 'peerEnd', 'closed'] as const) {
    test(callback, async () => {
      await start()
      injected = spyOn(Connection.prototype, callback).mockImplementationOnce(() => {
        throw failure
      })
      const { socket, closed } = dial(CALL)
      if (callback !== 'receive') socket.end()
      await closed
      await expectNeighbourServed()
      expect(faults).toEqual([failure])
    })
  }

  test('a deadline', async () => {
    await start({ limits: { tickSeconds: 0.02 } })
    injected = spyOn(Connection.prototype, 'checkDeadlines').mockImplementationOnce(() => {
      throw failure
    })
    await dial('GET / HTTP/1.1\r\n').closed
    await expectNeighbourServed()
    expect(faults).toEqual([failure])
  })

  test('an answer that is given later', async () => {
    const answer = new ReadyAnswer(200, ['Content-Length', '0'], '')
    await start({ capture: (exchange) => void setImmediate(() => exchange.answer(answer)) })
    injected = spyOn(Connection.prototype, 'endAnswer').mockImplementationOnce(() => {
      throw failure
    })
    await dial('GET /hook/x HTTP/1.1\r\nHost: h\r\n\r\n').closed
    await expectNeighbourServed()
    expect(faults).toEqual([failure])
  })

  test('the handler of captures, whose sender gets a 500', async () => {
    await start({
      capture: () => {
        throw failure
      },
    })
    const received = await dial('POST /hook/x HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nx').closed
    expect(received).toStartWith('HTTP/1.1 500 ')
    await expectNeighbourServed()
    expect(faults).toEqual([failure])
  })
})

test('the connections that are left when a connection failed are counted right', async () => {
  await start()
  injected = spyOn(Connection.prototype, 'closed').mockImplementationOnce(() => {
    throw failure
  })
  const { socket, closed } = dial('')
  socket.end()
  await closed
  // Resolves when no connection is left. One that is still counted would delay it until the end of the grace period, and
  // the test would not end in time.
  await listener.close(60_000)
})

test('a timeout that Bun reports for a socket in use ends no connection', async () => {
  const accepted: { timeout(seconds: number): void }[] = []
  const { listen: bunListen } = Bun
  injected = spyOn(Bun, 'listen').mockImplementation(((options: Parameters<typeof bunListen>[0]) =>
    bunListen({
      ...options,
      socket: {
        ...options.socket,
        open(socket) {
          accepted.push(socket)
          return options.socket.open?.(socket)
        },
      },
    })) as typeof bunListen)
  await start()
  const { socket, closed } = dial(CALL)
  await new Promise((resolve) => socket.once('data', resolve))
  // Bun looks for timeouts of all sockets together. The other one has them reported.
  const reported = Promise.withResolvers<void>()
  using other = bunListen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { data() {}, open: (one) => one.timeout(1), timeout: () => reported.resolve() },
  })
  for (const one of accepted) one.timeout(1)
  const beside = connect(other.port, '127.0.0.1')
  sockets.push(beside)
  beside.write('x')
  await reported.promise
  socket.write('GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n')
  expect((await closed).match(/answered/g)).toHaveLength(2)
})
