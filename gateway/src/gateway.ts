import { type Services, startLoops } from '@creel/core'
import type { Captures } from '@creel/core/capture'
import type { CellPlace } from '@creel/core/cells'
import { type AppOptions, createApp } from './app.ts'
import { createCaptureHandler } from './capture/captureHandler.ts'
import { warmUp } from './capture/warmUp.ts'
import { createCells, knownInCells, routedCaptures, routedFetch } from './cells/index.ts'
import { clientAddressOf } from './clientAddress.ts'
import { formerHosts } from './formerHosts.ts'
import type { FetchHandler } from './http/fetchAnswer.ts'
import type { HttpLimits } from './http/httpLimits.ts'
import { type Listener, type ListenerRefusal, listen } from './listener.ts'
import { connectionFaults, refusedRequests } from './metrics.ts'
import { type Operations, operationsHandler } from './operations.ts'
import { ALONE, type SharedCounts } from './sharedCounts/index.ts'
import { undeclaredProxyWarning } from './strangers/forwarding.ts'
import { createStrangers } from './strangers/strangers.ts'
import { throttledFetch } from './strangers/throttledFetch.ts'
import { wireAdapter } from './wireAdapter.ts'

export interface GatewayOptions extends Omit<AppOptions, 'capture' | 'adapter'> {
  readonly host: string
  /** 0 = any free port. */
  readonly port: number
  /** Stores captures. Its opener closes it, after the listener. */
  readonly captures: Captures
  /** Hosts that answer 301 to {base_url}; none by default. */
  readonly formerHosts?: readonly string[] | undefined
  /** CIDRs of proxies whose `X-Forwarded-For` is believed; none by default. */
  readonly trustedProxies?: readonly string[] | undefined
  /** Overrides of the usual limits of connections. */
  readonly limits?: Partial<HttpLimits> | undefined
  /** Compiles the path of captures before the port opens; false by default. Resets the metrics of captures. */
  readonly warmsUp?: boolean | undefined
  /** The cells of the installation, with that of the services; none by default. */
  readonly cells?: readonly CellPlace[] | undefined
  /** Counts of the program's other gateway processes, which share the port; none by default. */
  readonly counts?: SharedCounts | undefined
}

export interface Gateway extends Listener {
  /** Answers a request in the process, captures included, without a connection. Calls are not throttled. */
  handle(request: Request): Promise<Response>
  /** Serves another cell, too. Its opener closes its captures. */
  addCell(services: Services, captures: Captures): Promise<void>
  /** Notes whether a cell can be reached. Until it can, its requests are answered 503 at once. */
  setReach(place: CellPlace, isReachable: boolean): void
}

/** The only database of an installation without cells. */
const ONLY: CellPlace = { name: 'only', number: 0 }

/**
 * Opens the port, serves the app on it, and starts the heartbeat that watchdogs read.
 *
 * @throws the system's error when the port cannot be opened
 */
export async function startGateway(services: Services, options: GatewayOptions): Promise<Gateway> {
  const { host, port, captures, counts = ALONE } = options
  const home = services.cell ?? ONLY
  const cells = createCells(options.cells ?? [home])
  const hasCells = options.cells !== undefined
  const routed = (fetch: FetchHandler) => (hasCells ? routedFetch(fetch, services, cells) : fetch)
  const trustedProxies = options.trustedProxies ?? []
  const onUndeclared = undeclaredProxyWarning(services.log)
  const clientAddress = clientAddressOf(trustedProxies, onUndeclared)
  const strangers = createStrangers(services.clock, {
    trustsProxies: trustedProxies.length > 0,
    onUndeclared,
    counts,
  })
  const onError = (error: unknown) => services.log.error({ err: error }, 'unexpected error')
  const { adapter, listener: opened } = wireAdapter({
    formerHosts: formerHosts(options.formerHosts ?? [], services.urls.baseUrl),
    clientAddress,
    limits: options.limits ?? {},
    counts,
    around: (fetch) => throttledFetch(routed(fetch), services, { strangers, known: knownInCells(cells) }),
    onError,
    onFault: (error) => noteFault(services.log, error),
    onRefused: (refusal) => noteRefusal(services.log, refusal),
  })
  if (options.warmsUp === true) {
    await warmUp(services)
    // A busy machine needs seconds for it, and the first sender would be answered 503.
    await captures.connect()
  }
  const capture = createCaptureHandler({
    captures: hasCells ? routedCaptures(cells) : captures,
    clock: services.clock,
    strangers,
    processes: counts.processes,
    log: services.log,
    onError,
  })
  const handle = (request: Request): Promise<Response> => app.handle(request)
  const routedHandle = routed(handle)
  // A stream of an agent goes on when its workspace moves to another cell.
  const serve = async (request: Request) => await routedHandle(request)
  const app = createApp(services, { ...options, capture, adapter, serve })
  cells.add(home.number, { services, captures, handle })
  app.listen({ hostname: host, port })
  const listener = await opened
  const loops = [await startLoops(services, 'gateway')]
  return {
    port: listener.port,
    handle: serve,
    async addCell(other, ofOther) {
      const place = other.cell ?? ONLY
      // Captures reach it through the routes of the first app, which has the listener.
      const otherApp = createApp(other, { ...options, serve })
      loops.push(await startLoops(other, 'gateway'))
      if (options.warmsUp === true) void ofOther.connect()
      cells.add(place.number, {
        services: other,
        captures: ofOther,
        handle: (request) => otherApp.handle(request),
      })
    },
    setReach: ({ number }, isReachable) => cells.setReach(number, isReachable),
    async close(graceMs) {
      await Promise.all([listener.close(graceMs), ...loops.map((each) => each.stop(graceMs))])
    },
  }
}

/**
 * Opens a port that serves `/metrics`, `/healthz` and `/readyz` only: for CREEL_METRICS_PORT, also of a process
 * that serves no API.
 */
export async function startOperationsListener(
  { log }: Pick<Services, 'log'>,
  { host, port, operations }: { host: string; port: number; operations: Operations },
): Promise<Listener> {
  return await listen({
    host,
    port,
    fetch: operationsHandler(operations, log),
    onError: (error) => log.error({ err: error }, 'unexpected error'),
    onFault: (error) => noteFault(log, error),
    onRefused: (refusal) => noteRefusal(log, refusal),
  })
}

/** Malformed requests of unknown clients are counted, and logged at debug. */
function noteRefusal(log: Services['log'], { status, reason, address }: ListenerRefusal): void {
  refusedRequests.labels(String(status)).inc()
  log.debug({ status, reason, address }, 'refused')
}

/** An error of the service ended one connection. Other connections are unaffected, so the service goes on. */
function noteFault(log: Services['log'], error: unknown): void {
  connectionFaults.inc()
  log.error({ err: error }, 'a connection was closed by an error of the service')
}
