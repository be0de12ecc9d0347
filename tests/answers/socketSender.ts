import { connect } from 'node:net'

/** A sender on a bare socket. */
export interface SocketSender {
  /** Half-closes: it sends nothing more, and still reads. */
  end(): void
  /** Resets the connection. */
  reset(): void
  readonly connected: Promise<void>
  /** The status of the answer; null if the connection ended without one. */
  readonly status: Promise<number | null>
  /** The code of the error that ended the connection; null without one. */
  readonly failure: Promise<string | null>
}

/** Sends a capture, and leaves the connection open. */
export function sendBySocket(url: string, body = '{}'): SocketSender {
  const { hostname, port, pathname, search } = new URL(url)
  const status = Promise.withResolvers<number | null>()
  const failure = Promise.withResolvers<string | null>()
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
  const connected = Promise.withResolvers<void>()
  socket.on('connect', () => connected.resolve())
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1')
    const [, answered] = /^HTTP\/1\.1 (\d{3}) [\s\S]*\r\n\r\n/.exec(text) ?? []
    if (answered !== undefined) status.resolve(Number(answered))
  })
  socket.on('error', (error: NodeJS.ErrnoException) => failure.resolve(error.code ?? error.message))
  socket.on('end', () => socket.end())
  socket.on('close', () => {
    status.resolve(null)
    failure.resolve(null)
  })
  socket.write(
    `POST ${pathname}${search} HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
  return {
    end: () => void socket.end(),
    reset: () => void socket.resetAndDestroy(),
    connected: connected.promise,
    status: status.promise,
    failure: failure.promise,
  }
}
