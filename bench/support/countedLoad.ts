/** Captures to send, an exact number of them. */
export interface CountedLoad {
  readonly url: string
  readonly count: number
  readonly connections: number
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

/** First byte of the status in an answer. */
const STATUS_AT = 'HTTP/1.1 '.length
const TWO = 0x32

/**
 * Sends captures over kept connections, one at a time on each, from this process.
 *
 * @throws Error when an answer is not 2xx
 */
export async function sendCounted({
  url,
  count,
  connections,
  body,
  headers = {},
}: CountedLoad): Promise<void> {
  const { hostname, port, pathname } = new URL(url)
  const fields = Object.entries({
    Host: 'bench',
    ...headers,
    'Content-Length': String(Buffer.byteLength(body)),
  })
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const bytes = Buffer.from(`POST ${pathname} HTTP/1.1\r\n${lines}\r\n${body}`)
  let left = count - connections
  const ended = Array.from({ length: connections }, () => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const opening = Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        open: (socket) => void socket.write(bytes),
        data(socket, answer) {
          if (answer[STATUS_AT] !== TWO) reject(new Error(`A capture was answered ${answer.subarray(0, 80)}`))
          left -= 1
          if (left >= 0) socket.write(bytes)
          else {
            socket.end()
            resolve()
          }
        },
        close: () => resolve(),
      },
    })
    opening.catch(reject)
    return promise
  })
  await Promise.all(ended)
}
