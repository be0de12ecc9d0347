import { createServer } from 'node:net'
import type { Services, Urls } from '@creel/core'
import { WaitingAnswers } from '@creel/core/capture'
import type { CellPlace } from '@creel/core/cells'
import { startMetrics } from '@creel/core/platform/metrics'
import {
  type Gateway,
  type Listener,
  type Operations,
  readFigures,
  runChecks,
  startGateway,
  startOperationsListener,
  waitingAnswersMax,
} from '@creel/gateway'
import type { PgBoss } from 'pg-boss'
import { hostInUrl } from '../serviceFile.ts'
import { StartupError } from '../startupError.ts'
import { type CellState, createCellStates, operationsOf } from './operations.ts'
import type { ServiceOptions } from './options.ts'
import { type RunningCell, runCell } from './runningCell.ts'

/**
 * A port of the host that was free a moment ago: the given one, or any. Many parts need the public addresses, which contain the port, so it
 * must be known before anything listens.
 *
 * @param wanted 0 = any
 * @throws the system's error when the port is not free
 */
function freePort(host: string, wanted = 0): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(wanted, host, () => {
      const address = server.address()
      const port = address !== null && typeof address === 'object' ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}

/** Limit of the drain when the service stops: longer than the longest send (15 s). */
const DRAIN_SECONDS = 20

/** Attempts to find a free port, in case another program takes it between finding and listening. */
const PORT_TRIES = 5

/** A running service: its ports are open and its workers take jobs, depending on its parts. */
export interface RunningService {
  readonly services: Services
  readonly boss: PgBoss
  readonly urls: Urls
  /** Undefined without the gateway. */
  readonly port: number | undefined
  /** Undefined unless `/metrics` has a port of its own. */
  readonly metricsPort: number | undefined
  /**
   * Answers a request in the process, captures included, without a connection.
   *
   * @throws Error when this process runs no gateway
   */
  handle(request: Request): Promise<Response>
  /** Whether this process alone is ready. */
  isReady(): Promise<boolean>
  /** Reads the figures that `/metrics` shows of the database, unless another process of the program does. */
  readFigures(): Promise<void>
  /**
   * Runs another cell, too: serves its workspaces, takes its jobs, or both. Its opener closes its database.
   *
   * @throws StartupError when the secret key or the name of the cell does not match the database
   */
  addCell(database: Pick<ServiceOptions, 'cell' | 'database' | 'databaseUrl' | 'replica'>): Promise<void>
  /** Notes the state of a cell. Unless it is `ok`, requests of its workspaces are answered 503 at once. */
  noteCell(place: CellPlace, state: CellState): void
  /**
   * Drains: stops accepting, answers awaits, lets captures and sends in flight end, up to 20 s, and closes everything
   * that the service opened. The database stays open.
   */
  stop(): Promise<void>
}

/**
 * Runs gateway, jobs or both on an open, migrated database. Used by the program and by the test suite.
 *
 * @throws StartupError when a port cannot be opened or the secret key does not match the database
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(options)
    } catch (error) {
      const mayTryAnother = error instanceof PortTaken && options.port === 0 && attempt < PORT_TRIES
      if (!mayTryAnother) throw error
    }
  }
}

async function startOnce(options: ServiceOptions): Promise<RunningService> {
  startMetrics(options.version)
  const hasGateway = options.parts.has('gateway')
  const port = hasGateway ? await portToOpen(options) : options.port
  const urls = publicUrls(options, port)
  const listensOn = hasGateway ? { host: options.host, port } : undefined
  const processes = options.processes?.counts.processes ?? 1
  const waitingAnswers = new WaitingAnswers(waitingAnswersMax(options.connectionLimits ?? {}, processes))
  const home = await runCell(options, urls, { listensOn, waitingAnswers })
  const running: [RunningCell, ...RunningCell[]] = [home]
  const cells = options.cells === undefined ? undefined : createCellStates(options.cells)
  const operations = operationsOf(running, { processes: options.processes, cells })
  const own = operationsOf(running, { cells })
  let gateway: Gateway | undefined
  let metricsListener: Listener | undefined
  try {
    // The gateway starts first. Until the workers run, deliveries wait in the queue.
    gateway = await openGateway(options, home, { port, operations })
    metricsListener = await openMetrics(options, home, operations)
    await home.startWorkers()
  } catch (error) {
    await Promise.all([gateway?.close(0), metricsListener?.close(0)])
    await home.stopWorkers(0)
    await home.close(0)
    throw error
  }
  const { opened } = home
  return {
    services: opened.services,
    boss: opened.boss,
    urls,
    port: gateway?.port,
    handle: (request) => {
      if (gateway === undefined) throw new Error('This process runs no gateway.')
      return gateway.handle(request)
    },
    metricsPort: metricsListener?.port,
    isReady: async () => {
      const states = await runChecks(own.checks, options.log)
      return Object.values(states).every((state) => state === 'ok')
    },
    readFigures: () => readFigures(operations, options.log),
    async addCell(database) {
      const ofCell = { ...options, replica: undefined, ...database }
      const cell = await runCell(ofCell, urls, { listensOn, waitingAnswers })
      try {
        await cell.startWorkers()
        if (cell.captures !== undefined) await gateway?.addCell(cell.services, cell.captures)
      } catch (error) {
        await cell.stopWorkers(0)
        await cell.close(0)
        throw error
      }
      running.push(cell)
    },
    noteCell(place, state) {
      cells?.note(place, state)
      gateway?.setReach(place, state === 'ok')
    },
    stop: async () => {
      for (const cell of running) cell.opened.beginStopping()
      const graceMs = DRAIN_SECONDS * 1000
      const until = performance.now() + graceMs
      await Promise.all([gateway?.close(graceMs), ...running.map((cell) => cell.stopWorkers(graceMs))])
      await Promise.all(running.map((cell) => cell.close(Math.max(0, until - performance.now()))))
      await metricsListener?.close(0)
    },
  }
}

/**
 * The port for the gateway: the requested one, or a free one. A port that processes share opens beside a listener of
 * another program that shares it, too, so the first process looks whether it is free.
 */
async function portToOpen({ host, port, processes }: ServiceOptions): Promise<number> {
  if (port !== 0 && processes?.isFirst !== true) return port
  return await whenListening(freePort(host, port), { host, port, variable: 'CREEL_PORT' })
}

async function openGateway(
  options: ServiceOptions,
  { services, captures }: RunningCell,
  { port, operations }: { readonly port: number; readonly operations: Operations },
): Promise<Gateway | undefined> {
  if (captures === undefined) return undefined
  const { cells, consolePack, formerHosts, hasConsole, hasOAuth, host, isRelay, version } = options
  const { metricsPort, metricsToken, processes, trustedProxies, warmsUp } = options
  const opening = startGateway(services, {
    captures,
    cells,
    consolePack,
    counts: processes?.counts,
    formerHosts,
    hasConsole,
    hasOAuth,
    host,
    isRelay,
    limits: options.connectionLimits,
    metricsToken,
    operations,
    port,
    // Strangers must not read the figures of a relay.
    servesMetrics: metricsPort === undefined && isRelay !== true,
    trustedProxies,
    version,
    warmsUp,
  })
  return await whenListening(opening, { host, port, variable: 'CREEL_PORT' })
}

async function openMetrics(
  { host, port, metricsPort, processes }: ServiceOptions,
  { services }: RunningCell,
  operations: Operations,
): Promise<Listener | undefined> {
  // One process answers for all.
  if (metricsPort === undefined || processes?.isFirst === false) return undefined
  const opening = startOperationsListener(services, { host, port: metricsPort, operations })
  const holder = metricsPort === port ? 'the gateway itself' : undefined
  return await whenListening(opening, { host, port: metricsPort, variable: 'CREEL_METRICS_PORT', holder })
}

/**
 * {base_url} and {capture_url}: as configured, else derived from the gateway's address.
 *
 * @param port the actual port, also when 0 was requested
 */
function publicUrls(options: Pick<ServiceOptions, 'host' | 'baseUrl' | 'captureUrl'>, port: number): Urls {
  const baseUrl = options.baseUrl ?? `http://${hostInUrl(options.host)}:${port}`
  return { baseUrl, captureUrl: options.captureUrl ?? baseUrl }
}

export class PortTaken extends StartupError {}

/** Address to listen on, and the variable that configures it. */
interface Place {
  readonly host: string
  readonly port: number
  readonly variable: 'CREEL_PORT' | 'CREEL_METRICS_PORT'
  /** Holder of the port if it is taken; another program unless it is known. */
  readonly holder?: string | undefined
}

/**
 * Waits for a port to open, and explains a failure.
 *
 * @throws PortTaken; StartupError for an address that is not this machine's and for a port without permission
 */
async function whenListening<Listener>(opening: Promise<Listener>, place: Place): Promise<Listener> {
  const { host, port, variable, holder = 'another program' } = place
  try {
    return await opening
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    if (code === 'EADDRINUSE') {
      throw new PortTaken(
        `Port ${port} of ${host} is in use by ${holder}. Set ${variable} to a free port (0 picks one).`,
        { cause },
      )
    }
    // Bun gives no code when the host name is unknown.
    const isUnknownName = cause instanceof Error && cause.message.startsWith('Failed to listen')
    if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || isUnknownName) {
      throw new StartupError(
        `Cannot listen on port ${port} of ${host} (${code ?? 'unknown host'}). Change CREEL_HOST or ${variable}.`,
        {
          cause,
        },
      )
    }
    throw cause
  }
}
