import type { ConnectionSocket } from './socketWriter.ts'

/** A socket as Bun passes it. It has no address if its client reset it before it was accepted. */
export interface AcceptedSocket<Accepted> extends Omit<ConnectionSocket, 'remoteAddress'> {
  readonly remoteAddress: string | undefined
  data: Accepted | undefined
}

export interface SocketEvents {
  receive(bytes: Buffer): void
  drain(): void
  peerEnd(): void
  closed(): void
  /** Ends the connection because of an error of the service. Must not throw. */
  fail(error: unknown): void
}

/** The listener's side of the callbacks. */
export interface SocketHandlersOptions<Accepted> {
  readonly create: (socket: ConnectionSocket) => Accepted
  /** Called once the socket has its connection. Either may be ended within. */
  readonly onOpen: (connection: Accepted) => void
  /** Called once for each connection that was created, after its last event. */
  readonly onClosed: (connection: Accepted) => void
  /** Receives an error of the service for which there is no connection. */
  readonly onFault: (error: unknown) => void
}

/**
 * Makes every callback of a socket total. An error that a callback throws ends its connection and nothing else. Without
 * this, Bun would pass it to `error`, and an error in `error` ends the process. A socket without a connection is an
 * ordinary case: its client has reset it before it was accepted, as port scanners do.
 *
 * There is no callback for timeouts: Bun reports some for sockets in use, of which none was asked for, when the process
 * gets little processor time. The connection keeps its own deadlines.
 */
export function socketHandlers<Accepted extends SocketEvents>({
  create,
  onOpen,
  onClosed,
  onFault,
}: SocketHandlersOptions<Accepted>) {
  const fail = (socket: AcceptedSocket<Accepted>, error: unknown) => {
    if (socket.data === undefined) {
      onFault(error)
      socket.terminate()
    } else socket.data.fail(error)
  }
  const total =
    (handle: (socket: AcceptedSocket<Accepted>) => void) => (socket: AcceptedSocket<Accepted>) => {
      try {
        handle(socket)
      } catch (error) {
        fail(socket, error)
      }
    }

  return {
    open: total((socket) => {
      if (!hasAddress(socket)) return socket.terminate()
      const connection = create(socket)
      // Set before anything else, because a refused connection is closed within this call.
      socket.data = connection
      onOpen(connection)
    }),
    data(socket: AcceptedSocket<Accepted>, bytes: Buffer): void {
      try {
        socket.data?.receive(bytes)
      } catch (error) {
        fail(socket, error)
      }
    },
    drain: total((socket) => socket.data?.drain()),
    end: total((socket) => {
      if (socket.data === undefined) socket.terminate()
      else socket.data.peerEnd()
    }),
    error(socket: AcceptedSocket<Accepted>): void {
      socket.terminate()
    },
    close(socket: AcceptedSocket<Accepted>): void {
      const connection = socket.data
      if (connection === undefined) return
      try {
        connection.closed()
      } catch (error) {
        fail(socket, error)
      } finally {
        onClosed(connection)
      }
    },
  }
}

function hasAddress<Accepted>(
  socket: AcceptedSocket<Accepted>,
): socket is AcceptedSocket<Accepted> & ConnectionSocket {
  return socket.remoteAddress !== undefined
}
