import { connect, createServer, type Socket } from 'node:net'
import { atEnd } from './atEnd.ts'

/** A fixed address with a changing target, like a load balancer. */
export interface Front {
  readonly origin: string
  /** Target of new connections; undefined: they are closed at once. */
  target: string | undefined
}

/** Opens one on a free port; closed when the test file ends. */
export async function openFront(): Promise<Front> {
  const open = new Set<Socket>()
  const front: { origin: string; target: string | undefined } = { origin: '', target: undefined }
  const server = createServer((client) => {
    if (front.target === undefined) {
      client.destroy()
      return
    }
    const { hostname, port } = new URL(front.target)
    const service = connect(Number(port), hostname)
    for (const [socket, other] of [
      [client, service],
      [service, client],
    ] as const) {
      open.add(socket)
      socket.pipe(other)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        open.delete(socket)
        other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The front has no port.')
  front.origin = `http://127.0.0.1:${address.port}`
  atEnd('borrowers', async () => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return front
}
