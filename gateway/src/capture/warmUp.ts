import type { Services } from '@creel/core'
import { resetCaptureMetrics, WARM_UP_ID, warmUpCaptures } from '@creel/core/capture'
import { within } from '@creel/core/platform/time'
import { Connection } from '../http/connection.ts'
import type { ConnectionOwner } from '../http/connectionTable.ts'
import { defaultHttpLimits } from '../http/httpLimits.ts'
import type { ConnectionSocket } from '../http/socketWriter.ts'
import { TurnQueue } from '../http/turnQueue.ts'
import { createStrangers } from '../strangers/strangers.ts'
import { createCaptureHandler } from './captureHandler.ts'

/** Longest warm-up, in milliseconds. */
const WARM_UP_MS = 120
/** The most rounds: further ones make captures little faster. */
const ROUNDS_MAX = 64
/** Longest time of one round, in milliseconds. */
const ROUND_MS = 500
/** Senders at once, so that batches are as large as under load. */
const SENDERS = 32
/** Address of the senders, from a network reserved for documentation (RFC 5737). */
const ADDRESS = '192.0.2.1'

/** Requests as providers send them, short and long. */
const REQUESTS: readonly Buffer[] = [200, 1000, 4000].map((bytes) => {
  const body = JSON.stringify({
    id: 'evt_warm_up',
    type: 'warm-up',
    data: { text: 'x'.repeat(bytes), count: 1 },
  })
  return Buffer.from(
    `POST /hook/${WARM_UP_ID} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: creel\r\nAccept: */*\r\nContent-Type: application/json\r\n` +
      `X-Signature: sha256=0\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
})

/**
 * Sends captures through this process that store nothing: from the bytes of the request to those of the answer, without
 * sockets and database. Meanwhile the engine compiles the code. Without this, the first thousand captures take several
 * times as long as later ones. To be called before the port is open: it resets the metrics of captures.
 */
export async function warmUp(services: Services): Promise<void> {
  const captures = warmUpCaptures(services)
  const handle = createCaptureHandler({
    captures,
    clock: services.clock,
    strangers: createStrangers(services.clock, { trustsProxies: false }),
    processes: 1,
    log: services.log,
    onError: (err) => services.log.debug({ err }, 'a warm-up capture failed'),
  })
  const owner: ConnectionOwner = {
    limits: defaultHttpLimits(),
    ticks: { idle: 1, head: 1, linger: 1 },
    tick: 0,
    isDraining: false,
    serve(_connection, exchange) {
      exchange.address = ADDRESS
      handle(exchange)
    },
    onIdle: () => {},
    onRefused: () => {},
    onFault: () => {},
    turns: new TurnQueue(),
  }
  const senders = Array.from({ length: SENDERS }, () => new Sender(owner))
  const until = performance.now() + WARM_UP_MS
  for (let round = 0; performance.now() < until && round < ROUNDS_MAX; round += 1) {
    const sent = senders.map((sender, at) => sender.send(REQUESTS[(round + at) % REQUESTS.length]))
    // A start does not wait for a warm-up that hangs.
    if ((await within(Promise.all(sent), ROUND_MS)) === undefined) break
  }
  await captures.close()
  resetCaptureMetrics()
}

/** A client whose connection has no socket. */
class Sender {
  #answered = Promise.withResolvers<void>()
  readonly #connection: Connection

  constructor(owner: ConnectionOwner) {
    const socket: ConnectionSocket = {
      remoteAddress: ADDRESS,
      write: (bytes) => {
        this.#answered.resolve()
        return bytes.length
      },
      shutdown: () => {},
      end: () => {},
      terminate: () => this.#answered.resolve(),
      pause: () => {},
      resume: () => {},
    }
    this.#connection = new Connection(socket, owner)
  }

  send(bytes: Buffer | undefined): Promise<void> {
    this.#answered = Promise.withResolvers()
    this.#connection.receive(Buffer.from(bytes ?? []))
    return this.#answered.promise
  }
}
