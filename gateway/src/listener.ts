import { type ClientAddress, clientAddressOf } from './clientAddress.ts'
import type { FormerHosts } from './formerHosts.ts'
import { lengthenBacklog } from './http/backlog.ts'
import { Connection } from './http/connection.ts'
import { type ConnectionOwner, ConnectionTable } from './http/connectionTable.ts'
import type { RequestHandler } from './http/exchange.ts'
import { answerWithFetch, type FetchHandler } from './http/fetchAnswer.ts'
import type { HttpExchange } from './http/httpExchange.ts'
import { defaultHttpLimits, type HttpLimits } from './http/httpLimits.ts'
import { type OwnStatus, ownAnswer } from './http/ownAnswers.ts'
import { pathOf, type Refusal } from './http/requestHead.ts'
import { socketHandlers } from './http/socketHandlers.ts'
import { TurnQueue } from './http/turnQueue.ts'
import { shedUnsent, unsentTotal } from './http/unsentTotal.ts'
import { ALONE, type SharedCounts } from './sharedCounts/index.ts'

/** Route for paths that begin with `prefix`. Its requests are served from the wire, without a `Request`. */
export interface DirectRoute {
  readonly prefix: string
  readonly handle: RequestHandler
}

/** Address of a listener, and its handlers. */
export interface ListenerOptions {
  readonly host: string
  /** 0 = any free port. */
  readonly port: number
  /** Checked before any handler, also for captures. */
  readonly formerHosts?: FormerHosts
  /** Routes that are served from the wire as the request arrives; none by default. */
  readonly direct?: readonly DirectRoute[]
  /** Answers all other requests. */
  readonly fetch: FetchHandler
  /** Trusted proxies. Their `X-Forwarded-For` is believed. Empty by default. */
  readonly clientAddress?: ClientAddress
  /** Receives errors that handlers throw; their clients get a 500. */
  readonly onError: (error: unknown) => void
  /** Receives an error of the service that ended a connection. Must not throw. */
  readonly onFault: (error: unknown) => void
  /** Called for requests that are refused before they reach a handler, and for connections beyond the limit. */
  readonly onRefused?: (refusal: ListenerRefusal) => void
  /** Overrides of the usual limits. Limits for all clients hold for all processes of {@link counts} together. */
  readonly limits?: Partial<HttpLimits>
  /** Counts of other processes on the same port; none by default. With them the port is shared. */
  readonly counts?: SharedCounts
}

/**
 * A request that is not valid HTTP, or a connection that exceeds the limit of connections or of unread bytes (`503`).
 */
export interface ListenerRefusal {
  readonly status: Refusal['status'] | 503
  readonly reason: string
  readonly address: string | null
}

/** An open port. `port` is the actual number, also where 0 was requested. */
export interface Listener {
  readonly port: number
  /**
   * Stops accepting at once and lets requests in flight end. Resolves when no connection is left.
   *
   * @param graceMs time after which open connections are terminated
   */
  close(graceMs: number): Promise<void>
}

/**
 * Opens the gateway's port on bare TCP. Servers with fetch semantics join, sort and lower headers, fold dot segments
 * and drop the bodies of GETs. {@link HttpLimits} bound size and time. Bodies have no size limit here; each handler has
 * its own.
 *
 * @throws the system's error when the port cannot be opened
 */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const limits = { ...defaultHttpLimits(), ...options.limits }
  const clientAddress = options.clientAddress ?? clientAddressOf([])
  const direct = options.direct ?? []
  const counts = options.counts ?? ALONE
  const connections = new ConnectionTable(limits, {
    counts,
    // Descriptors are limited for each process.
    connectionsMax: options.limits?.connectionsMax ?? limits.connectionsMax * counts.processes,
    onShed: ({ peer }) => refusePeer(peer, 'too many connections'),
  })
  const shed = (bytesMax: number) => {
    for (const { peer } of shedUnsent(connections, bytesMax)) refusePeer(peer, 'too much is unread')
  }
  const unsent = counts.share('unsent bytes', {
    max: limits.unsentTotalBytesMax,
    read: () => unsentTotal(connections),
    shed: (_, most) => shed(most),
  })
  const allGone = Promise.withResolvers<void>()
  const inTicks = (seconds: number) => Math.ceil(seconds / limits.tickSeconds)
  let tick = 0
  let isDraining = false

  const owner: ConnectionOwner = {
    limits,
    ticks: {
      idle: inTicks(limits.idleSeconds),
      head: inTicks(limits.headSeconds),
      linger: inTicks(limits.lingerSeconds),
    },
    get tick() {
      return tick
    },
    get isDraining() {
      return isDraining
    },
    serve(connection, exchange) {
      exchange.address = clientAddress(connection.peer, exchange.head.forwardedFor)
      // The connection of a proxy counts for the client of its current request.
      if (clientAddress.isTrusted(connection.peer) && !connections.assign(connection, exchange.address)) {
        refuse({ status: 503, reason: 'too many connections', address: exchange.address })
        return refuseExchange(exchange, 503, true)
      }
      route(exchange)
    },
    onIdle(connection) {
      if (clientAddress.isTrusted(connection.peer)) connections.assign(connection, null)
    },
    onRefused: (connection, refusal) => refuse({ ...refusal, address: clientAddress(connection.peer, []) }),
    onFault: options.onFault,
    turns: new TurnQueue(),
  }

  const refuse = (refusal: ListenerRefusal) => options.onRefused?.(refusal)
  const refusePeer = (peer: string, reason: string) =>
    refuse({ status: 503, reason, address: clientAddress(peer, []) })
  const refuseExchange = (exchange: HttpExchange, status: OwnStatus, closes = false) =>
    exchange.answer(ownAnswer(status, exchange.head.target, exchange.traceId), closes)

  const route = (exchange: HttpExchange) => {
    const moved = options.formerHosts?.(exchange.head)
    if (moved !== undefined) return exchange.answer(moved)
    const path = pathOf(exchange.head.target)
    const served = direct.find(({ prefix }) => path.startsWith(prefix))
    if (served !== undefined) {
      try {
        return served.handle(exchange)
      } catch (error) {
        options.onError(error)
        return refuseExchange(exchange, 500, true)
      }
    }
    answerWithFetch(options.fetch, exchange).catch((error: unknown) => {
      options.onError(error)
      refuseExchange(exchange, 500)
    })
  }

  const accept = (connection: Connection) => {
    const { peer } = connection
    if (connections.add(connection, clientAddress.isTrusted(peer) ? null : peer)) return
    refusePeer(peer, 'too many connections')
    connection.terminate()
  }

  const server = Bun.listen<Connection | undefined>({
    hostname: options.host,
    port: options.port,
    // Bun takes it, and its types do not name it.
    ...(counts.processes > 1 && { reusePort: true }),
    allowHalfOpen: true,
    socket: socketHandlers<Connection>({
      create: (socket) => new Connection(socket, owner),
      onOpen: accept,
      onClosed(connection) {
        connections.remove(connection)
        if (isDraining && connections.size === 0) allGone.resolve()
      },
      onFault: options.onFault,
    }),
  })
  lengthenBacklog(server)
  const timer = setInterval(() => {
    tick += 1
    for (const connection of connections) {
      try {
        connection.checkDeadlines()
      } catch (error) {
        connection.fail(error)
      }
    }
    shed(limits.unsentTotalBytesMax)
    if (counts.processes > 1) unsent.changed('', unsentTotal(connections))
  }, limits.tickSeconds * 1000)
  timer.unref()

  return {
    port: server.port,
    async close(graceMs) {
      isDraining = true
      server.stop()
      for (const connection of connections) if (connection.isIdle) connection.end()
      if (connections.size === 0) allGone.resolve()
      const cut = setTimeout(() => {
        for (const connection of connections) connection.terminate()
        // The system may not report every close.
        allGone.resolve()
      }, graceMs)
      await allGone.promise
      clearTimeout(cut)
      clearInterval(timer)
    },
  }
}
