import { connect, createServer, type Socket } from 'node:net'

/** A network path that can be cut. Connections to its port go to its present target. */
export interface CuttableProxy extends AsyncDisposable {
  readonly url: string
  /** Sets the target of new connections; undefined: they are refused. */
  leadTo(port: number | undefined): void
  /** Breaks every connection that is open. */
  cut(): void
}

/** Opens a proxy on a free port. */
export async function startCuttableProxy(): Promise<CuttableProxy> {
  const sockets = new Set<Socket>()
  let target: number | undefined
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
  }
  const server = createServer((client) => {
    keep(client)
    if (target === undefined) return void client.destroy()
    const upstream = connect(target, '127.0.0.1')
    keep(upstream)
    client.pipe(upstream).pipe(client)
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port.')
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${address.port}`,
    leadTo: (port) => {
      target = port
    },
    cut,
    async [Symbol.asyncDispose]() {
      target = undefined
      cut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
