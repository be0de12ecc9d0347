/**
 * Sends as fast as the answers come, on a fixed number of connections, each with one request in flight. It is a
 * separate process on bare sockets, since it must cost less than what it measures. The first argument is its order, as
 * JSON. It prints its result as JSON after the last answer.
 */
import { isWholeAnswer } from './httpAnswer.ts'
import type { LoadOrder, LoadResult } from './load.ts'

const order: LoadOrder = JSON.parse(process.argv[2] ?? '')
const { hostname, port, pathname, search } = new URL(order.url)
const { body, ids } = order
/** Replaced by the number of the id, in the buffer of each connection. */
const ID_DIGITS = '0000000000'
const requests = (order.paths ?? [`${pathname}${search}`]).map((path) =>
  Buffer.from(
    [
      `${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1`,
      `Host: ${hostname}:${port}`,
      'User-Agent: creel-bench/1',
      'Accept: */*',
      ...(body === undefined
        ? []
        : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]),
      ...(ids === undefined ? [] : [`${ids.header}: ${ids.prefix}${ID_DIGITS}`]),
      ...Object.entries(order.headers ?? {}).map(([name, value]) => `${name}: ${value}`),
      '',
      body ?? '',
    ].join('\r\n'),
  ),
)

const warmUntil = performance.now() + order.warmupSeconds * 1000
const until = warmUntil + order.seconds * 1000
const latencies: number[] = []
let acknowledged = 0
let refused = 0
let open = order.connections
let lastAnswerAt = warmUntil
const GAP_MS = 20
let longestGapMs = 0
let gaps = 0

let sent = 0

/** Writes the next id into a request. */
function numbered(request: Buffer): Buffer {
  if (ids === undefined) return request
  const digits = String(Math.floor(sent / ids.timesEach)).padStart(ID_DIGITS.length, '0')
  sent += 1
  request.write(digits, request.indexOf(ids.prefix) + ids.prefix.length, 'latin1')
  return request
}

/** A connection with its current request. */
interface Connection {
  readonly request: Buffer
  sentAt: number
  received: string
}

for (let index = 0; index < order.connections; index += 1) {
  const request = Buffer.from(requests[index % requests.length] ?? '')
  await Bun.connect<Connection>({
    hostname,
    port: Number(port),
    socket: {
      open(socket) {
        socket.data = { request, sentAt: performance.now(), received: '' }
        socket.write(numbered(request))
      },
      data(socket, chunk) {
        const text = socket.data.received + chunk.toString('latin1')
        if (!isWholeAnswer(text)) {
          socket.data.received = text
          return
        }
        socket.data.received = ''
        const now = performance.now()
        if (text.startsWith('HTTP/1.1 2')) acknowledged += 1
        else refused += 1
        if (socket.data.sentAt >= warmUntil) latencies.push(now - socket.data.sentAt)
        const gapMs = now - lastAnswerAt
        if (gapMs > GAP_MS) gaps += 1
        if (gapMs > longestGapMs) longestGapMs = gapMs
        lastAnswerAt = Math.max(now, warmUntil)
        if (now >= until) {
          socket.end()
          return
        }
        socket.data.sentAt = now
        socket.write(numbered(socket.data.request))
      },
      close: finish,
      error: (_, error) => {
        process.stderr.write(`${error}\n`)
      },
    },
  })
}

function finish(): void {
  open -= 1
  if (open > 0) return
  latencies.sort((a, b) => a - b)
  const at = (share: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0
  const result: LoadResult = {
    acknowledged,
    refused,
    perSecond: latencies.length / ((lastAnswerAt - warmUntil) / 1000),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    p999Ms: at(0.999),
    longestGapMs,
    gaps,
  }
  process.stdout.write(JSON.stringify(result))
  process.exit(0)
}
