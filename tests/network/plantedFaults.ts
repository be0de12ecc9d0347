/**
 * Preloaded into a service that is to fail: plants one fault between Bun's sockets and the listener, which the property
 * test must find. The file replaces `Bun.listen` and does not change the service.
 */
import { openSync } from 'node:fs'
import type { Socket, SocketHandler, TCPSocketListenOptions } from 'bun'

/** Variable that names the fault. */
export const FAULT = 'CREEL_TEST_FAULT'

/** Names of the faults. */
export type FaultName = keyof typeof FAULTS

type Handlers = SocketHandler<unknown>

/** Faults. Each turns the callbacks of a sound listener into those of a broken one. */
const FAULTS = {
  'callbacks without a guard': (handlers: Handlers): Handlers => ({
    ...handlers,
    end(socket) {
      if (isNth()) throw new TypeError('A callback failed.')
      return handlers.end?.(socket)
    },
    // Bun calls it with errors of the other callbacks.
    error(_socket, error) {
      throw error
    },
  }),
  'answers of other connections': (handlers: Handlers) => {
    let kept: Uint8Array = new Uint8Array()
    return writing(handlers, (bytes, write) => {
      const other = kept
      kept = bytes.slice()
      if (!isNth() || other.length === 0) return write(bytes)
      write(other)
      return bytes.length
    })
  },
  'descriptors that are not closed': (handlers: Handlers): Handlers => ({
    ...handlers,
    close(socket, error) {
      if (isNth()) openSync('/dev/null', 'r')
      return handlers.close?.(socket, error)
    },
  }),
  'connections whose end is not heard': (handlers: Handlers): Handlers => ({
    ...handlers,
    close: (socket, error) => (isNth() ? undefined : handlers.close?.(socket, error)),
  }),
}

const EVERY = 40
let count = 0

/** Whether the fault applies to this call. */
function isNth(): boolean {
  count += 1
  return count % EVERY === 0
}

type Write = (bytes: Uint8Array) => number

function writing(handlers: Handlers, writeOf: (bytes: Uint8Array, write: Write) => number): Handlers {
  return {
    ...handlers,
    open(socket: Socket<unknown>) {
      const write = socket.write.bind(socket)
      Object.defineProperty(socket, 'write', { value: (bytes: Uint8Array) => writeOf(bytes, write) })
      return handlers.open?.(socket)
    },
  }
}

const isFault = (name: string | undefined): name is FaultName => name !== undefined && name in FAULTS

const fault = process.env[FAULT]
if (isFault(fault)) {
  const { listen } = Bun
  Object.defineProperty(Bun, 'listen', {
    value: (options: TCPSocketListenOptions<unknown>) =>
      listen({ ...options, socket: FAULTS[fault](options.socket ?? {}) }),
  })
}
