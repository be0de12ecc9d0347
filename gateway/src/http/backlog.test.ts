import { expect, test } from 'bun:test'
import { listen } from '../listener.ts'

const CROWD = 700
/** The system repeats a dropped connection attempt after a second. */
const RETRY_MS = 1_000

test('a crowd that comes while the process is busy is accepted at once', async () => {
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    fetch: async () => new Response(''),
    onError: () => {},
    onFault: () => {},
  })
  try {
    const opened: number[] = []
    const crowd = Array.from({ length: CROWD }, () =>
      Bun.connect({
        hostname: '127.0.0.1',
        port: listener.port,
        socket: { open: () => void opened.push(performance.now()), data() {} },
      }),
    )
    // No connection is accepted yet: this process accepts them itself, and was busy opening the clients.
    expect(opened).toEqual([])
    const cameAt = performance.now()
    for (const socket of await Promise.all(crowd)) socket.end()
    expect(Math.max(...opened) - cameAt).toBeLessThan(RETRY_MS)
  } finally {
    await listener.close(0)
  }
})
