import { type ClientAddress, clientAddressOf } from './clientAddress.ts'
import type { FetchHandler } from './fetchHandler.ts'
import type { FormerHosts } from './formerHosts.ts'
import { lengthenBacklog } from './http/backlog.ts'
import { Connection } from './http/connection.ts'
import type { ConnectionOwner } from './http/connectionOwner.ts'
import { ConnectionTable } from './http/connectionTable.ts'
import type { RequestHandler } from './http/exchange.ts'
import { answerWithFetch } from './http/fetchAnswer.ts'
import type { HttpExchange } from './http/httpExchange.ts'
import { defaultHttpLimits, type HttpLimits } from './http/httpLimits.ts'
import { type OwnStatus, ownAnswer } from './http/ownAnswers.ts'
import { pathOf, type Refusal } from './http/requestHead.ts'
import { socketHandlers } from './http/socketHandlers.ts'
import { TurnQueue } from './http/turnQueue.ts'
import { shedUnsent } from './http/unsentTotal.ts'

/** Requests whose path begins with `prefix`, which are served as they arrive. */
export interface DirectRoute {
  readonly prefix: string
  readonly handle: RequestHandler
}

/** Where to listen and what answers. */
export interface ListenerOptions {
  readonly host: string
  /** 0 = any free one. */
  readonly port: number
  /** Comes before anything else, captures included. */
  readonly formerHosts?: FormerHosts
  /** Routes that are served on the request as it arrives; none by default. */
  readonly direct?: readonly DirectRoute[]
  /** Answers everything else. */
  readonly fetch: FetchHandler
  /** Whose word counts about where a request comes from; nobody's by default. */
  readonly clientAddress?: ClientAddress
  /** Hears of what handlers throw, whose clients get a 500. */
  readonly onError: (error: unknown) => void
  /** Receives an error of the service that ended a connection. Must not throw. */
  readonly onFault: (error: unknown) => void
  /** Hears of requests that are refused before anybody serves them, and of connections that there is no room for. */
  readonly onRefused?: (refusal: ListenerRefusal) => void
  /** Laid over the usual limits. */
  readonly limits?: Partial<HttpLimits>
}

/** A request that was no good HTTP, or a connection too many or that left too much unread (`503`). */
export interface ListenerRefusal {
  readonly status: Refusal['status'] | 503
  readonly reason: string
  readonly address: string | null
}

/** An open port. `port` is the actual number, also where 0 was asked for; `close` resolves when no connection is left. */
export interface Listener {
  readonly port: number
  /**
   * Stops accepting at once and lets what is in flight end.
   *
   * @param graceMs after which whatever is still open is cut off
   */
  close(graceMs: number): Promise<void>
}

/**
 * Opens the gateway's port on bare TCP: servers with fetch semantics join, sort and lower headers, fold dot segments and drop
 * the bodies of GETs. What may be sent and how long it may take is in {@link HttpLimits}; bodies have no size limit here (each
 * handler has its own).
 *
 * @throws what the system says when the port cannot be had
 */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const limits = { ...defaultHttpLimits(), ...options.limits }
  const clientAddress = options.clientAddress ?? clientAddressOf([])
  const direct = options.direct ?? []
  const connections = new ConnectionTable(limits)
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
      unsent: inTicks(limits.unsentSeconds),
    },
    get tick() {
      return tick
    },
    get isDraining() {
      return isDraining
    },
    serve(connection, exchange) {
      exchange.address = clientAddress(connection.peer, exchange.head.forwardedFor)
      // A proxy's connection is for now that of whom it speaks for.
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
    refuse({ status: 503, reason: 'too many connections', address: clientAddress(peer, []) })
    connection.terminate()
  }

  const server = Bun.listen<Connection | undefined>({
    hostname: options.host,
    port: options.port,
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
    for (const { peer } of shedUnsent(connections, limits.unsentTotalBytesMax)) {
      refuse({ status: 503, reason: 'too much is unread', address: clientAddress(peer, []) })
    }
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
        // The system need not tell of every end.
        allGone.resolve()
      }, graceMs)
      await allGone.promise
      clearTimeout(cut)
      clearInterval(timer)
    },
  }
}
