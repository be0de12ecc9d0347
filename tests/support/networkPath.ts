import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net'
import { atEnd } from './atEnd.ts'

/** Bytes that a path takes in one direction before its reader has got them. */
const WINDOW_BYTES = 4 * 1024 * 1024

/** A fixed port of this machine whose connections lead to a changing target, over a network that can fail. */
export interface NetworkPath extends AsyncDisposable {
  readonly port: number
  readonly origin: string
  /** Target of new connections; undefined: they are closed at once. */
  target: NetConnectOpts | undefined
  /** Delay of all that is sent from now on, in milliseconds each way. */
  delayMs: number
  /** Pieces that its clients have sent: about as many as they have waited for answers. */
  readonly sent: number
  /**
   * While true, nothing arrives on any connection, and neither end notices, as in a partition of a network. New
   * connections are accepted, and are silent, too. Data that was sent meanwhile arrives afterwards.
   */
  isSilent: boolean
  /** Breaks the open connections. New ones work. */
  cut(): void
  /** Loses the open connections: they carry nothing more, and neither end notices. New ones work. */
  lose(): void
}

/** Opens a path on a free port; closed when the test file ends at the latest. */
export async function openNetworkPath(target?: NetConnectOpts, delayMs = 0): Promise<NetworkPath> {
  const sockets = new Set<Socket>()
  const lost = new Set<Socket>()
  let isSilent = false
  let sent = 0
  let silenceEnds = Promise.withResolvers<void>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => {
      sockets.delete(socket)
      lost.delete(socket)
    })
    socket.on('error', () => socket.destroy())
  }
  /** Passes one direction on. A chunk is bytes, or how the direction ended. */
  const carry = (from: Socket, to: Socket) => {
    const waiting: { readonly dueAt: number; readonly chunk: Buffer | 'end' | 'close' }[] = []
    let waitingBytes = 0
    let isPassing = false
    const pass = async () => {
      if (isPassing) return
      isPassing = true
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const early = next.dueAt - performance.now()
        if (early > 0) await Bun.sleep(early)
        while (isSilent) await silenceEnds.promise
        if (lost.has(from) || lost.has(to)) break
        if (next.chunk === 'end') to.end()
        else if (next.chunk === 'close') to.destroy()
        else {
          waitingBytes -= next.chunk.length
          await new Promise((resolve) => to.write(next.chunk, resolve))
        }
        if (from.isPaused() && waitingBytes < WINDOW_BYTES) from.resume()
      }
      isPassing = false
    }
    const take = (chunk: Buffer | 'end' | 'close') => {
      waiting.push({ dueAt: performance.now() + path.delayMs, chunk })
      void pass()
    }
    from.on('data', (chunk) => {
      const bytes = Buffer.from(chunk)
      waitingBytes += bytes.length
      if (waitingBytes > WINDOW_BYTES) from.pause()
      take(bytes)
    })
    from.on('end', () => take('end'))
    from.on('close', () => take('close'))
  }
  const server = createServer({ allowHalfOpen: true }, (client) => {
    keep(client)
    if (path.target === undefined) return void client.destroy()
    const upstream = connect({ ...path.target, allowHalfOpen: true })
    keep(upstream)
    client.on('data', () => {
      sent += 1
    })
    carry(client, upstream)
    carry(upstream, client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The path has no port.')
  const path: NetworkPath = {
    port: address.port,
    origin: `http://127.0.0.1:${address.port}`,
    target,
    delayMs,
    get sent() {
      return sent
    },
    get isSilent() {
      return isSilent
    },
    set isSilent(next) {
      isSilent = next
      silenceEnds.resolve()
      silenceEnds = Promise.withResolvers()
    },
    cut() {
      for (const socket of sockets) socket.destroy()
    },
    lose() {
      for (const socket of sockets) lost.add(socket)
    },
    async [Symbol.asyncDispose]() {
      forget()
      path.target = undefined
      path.isSilent = false
      path.cut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  // The users of a path end before it, whatever they are.
  const forget = atEnd('databases', async () => await path[Symbol.asyncDispose]())
  return path
}
