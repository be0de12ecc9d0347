import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { listen } from '../listener.ts'

const CROWD = 700

/** Connections to a port that the system has begun and not made: it has dropped their first attempt. */
function waitingTo(port: number): number {
  const remote = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = readFileSync('/proc/net/tcp', 'latin1').split('\n').slice(1)
  return rows.filter((row) => {
    const [, , to, state] = row.trim().split(/\s+/)
    return to?.endsWith(remote) === true && state === '02'
  }).length
}

test.skipIf(process.platform !== 'linux')(
  'a crowd that comes while the process is busy is accepted at once',
  async () => {
    const listener = await listen({
      host: '127.0.0.1',
      port: 0,
      fetch: async () => new Response(''),
      onError: () => {},
      onFault: () => {},
    })
    try {
      let opened = 0
      const count = () => {
        opened += 1
      }
      const crowd = Array.from({ length: CROWD }, () =>
        Bun.connect({
          hostname: '127.0.0.1',
          port: listener.port,
          socket: { open: count, data() {} },
        }),
      )
      // No connection is accepted yet: this process accepts them itself, and was busy opening the clients.
      expect(opened).toBe(0)
      expect(waitingTo(listener.port)).toBe(0)
      for (const socket of await Promise.all(crowd)) socket.end()
      expect(opened).toBe(CROWD)
    } finally {
      await listener.close(0)
    }
  },
)
