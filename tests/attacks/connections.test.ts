import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { createTestDatabase } from '../support/database.ts'
import { PROGRAM, type RunningProcess, startProcess } from '../support/process.ts'

/** Limit for open files of the service, and connections of the attacker: more than a third above it. */
const FILES = 1536
const ATTACKERS = 2100
/** Its connections have no limit of their own. */
const PROXY = '127.0.0.1'

let creel: RunningProcess

beforeAll(async () => {
  const database = await createTestDatabase()
  creel = await startProcess({
    database,
    program: ['/bin/sh', '-c', `ulimit -n ${FILES}; exec "$0" "$@"`, ...PROGRAM],
    env: {
      CREEL_LOG_LEVEL: 'error',
      CREEL_TRUSTED_PROXIES: PROXY,
      CREEL_CONNECTIONS_PER_ADDRESS: '100000',
    },
  })
})
afterAll(() => creel.stop())

const ASK = 'GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n'

function dial(localAddress: string, bytes: string): Socket {
  const { port } = new URL(creel.baseUrl)
  const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress })
  socket.on('error', () => {})
  socket.resume()
  socket.write(bytes)
  return socket
}

/** Opens connections in steps, so that the backlog of the system holds them. */
async function open(count: number, localAddress: string, bytes: string): Promise<Socket[]> {
  const sockets: Socket[] = []
  while (sockets.length < count) {
    const step = Array.from({ length: Math.min(200, count - sockets.length) }, () =>
      dial(localAddress, bytes),
    )
    sockets.push(...step)
    await Promise.all(
      step.map(
        (socket) =>
          new Promise<void>((resolve) => {
            socket.once('connect', resolve)
            socket.once('close', () => resolve())
          }),
      ),
    )
  }
  return sockets
}

test.each([
  ['unused', '127.0.0.2', ''],
  ['used', '127.0.0.2', ASK],
  ['with heads that never end', '127.0.0.2', ASK.slice(0, -2)],
  ['of a proxy, with heads that never end', PROXY, ASK.slice(0, -2)],
])('thousands of connections of one address, %s, leave those that others keep', async (_, address, bytes) => {
  const kept = Array.from({ length: 20 }, () => dial('127.0.0.9', ASK))
  const answered = (socket: Socket) =>
    new Promise<'answered' | 'reset'>((resolve) => {
      if (socket.destroyed) return resolve('reset')
      socket.once('data', () => resolve('answered'))
      socket.once('close', () => resolve('reset'))
    })
  await Promise.all(kept.map(answered))
  const attackers = await open(ATTACKERS, address, bytes)
  const second = kept.map(answered)
  for (const socket of kept) socket.write(ASK)
  expect(new Set(await Promise.all(second))).toEqual(new Set(['answered']))
  for (const socket of [...kept, ...attackers]) socket.destroy()
})
