import { applyChangedPlans, type Services, type Urls } from '@creel/core'
import { CHANNEL_KIND_NAMES } from '@creel/core/alertChannels'
import { createCaptures } from '@creel/core/capture'
import type { FirstAttempts } from '@creel/core/deliveries'
import { startMetrics } from '@creel/core/platform/metrics'
import {
  type Gateway,
  type Listener,
  readFigures,
  runChecks,
  startGateway,
  startOperationsListener,
} from '@creel/gateway'
import { type RunningWorkers, startWorkers } from '@creel/jobs'
import type { PgBoss } from 'pg-boss'
import { freePort } from './freePort.ts'
import { PortTaken, whenListening } from './listening.ts'
import { operationsOf, ownChecks } from './operations.ts'
import type { ServiceOptions } from './options.ts'
import { publicUrls } from './publicUrls.ts'
import { type OpenServices, openServices } from './services.ts'

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
  startMetrics(options.version, ['email', ...CHANNEL_KIND_NAMES])
  const hasGateway = options.parts.has('gateway')
  const port = hasGateway ? await portToOpen(options) : options.port
  const urls = publicUrls(options, port)
  const opened = await openServices(options, urls, hasGateway ? { host: options.host, port } : undefined)
  let gateway: Gateway | undefined
  let metricsListener: Listener | undefined
  let workers: RunningWorkers | undefined
  try {
    await applyChangedPlans(opened.services)
    // The gateway starts first. Until the workers run, deliveries wait in the queue.
    const firstAttempts: FirstAttempts = { hold: (one) => workers?.firstAttempts.hold(one) }
    if (hasGateway) gateway = await openGateway(options, opened, { port, firstAttempts })
    metricsListener = await openMetrics(options, opened)
    if (options.parts.has('jobs')) {
      workers = await startWorkers(opened.boss, opened.services, {
        dispatches: opened.dispatches,
        processes: options.processes?.counts.processes ?? 1,
      })
    }
  } catch (error) {
    await Promise.all([gateway?.close(0), metricsListener?.close(0)])
    await opened.close()
    throw error
  }
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
      const states = await runChecks(ownChecks(opened), options.log)
      return Object.values(states).every((state) => state === 'ok')
    },
    readFigures: () => readFigures(operationsOf(opened, options.processes), options.log),
    stop: async () => {
      opened.beginStopping()
      await Promise.all([gateway?.close(DRAIN_SECONDS * 1000), workers?.stop(DRAIN_SECONDS * 1000)])
      await opened.boss.stop({ graceful: true, timeout: DRAIN_SECONDS * 1000 })
      await metricsListener?.close(0)
      await opened.close()
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
  opened: OpenServices,
  { port, firstAttempts }: { readonly port: number; readonly firstAttempts: FirstAttempts },
): Promise<Gateway> {
  const { host, version, formerHosts = [], trustedProxies = [], metricsPort } = options
  const { hasConsole = true, hasOAuth = true, consolePack } = options
  const captures = createCaptures(opened.services, options.database.pool, { firstAttempts })
  opened.takeCaptures(captures)
  const opening = startGateway(opened.services, {
    host,
    port,
    version,
    captures,
    formerHosts,
    trustedProxies,
    limits: options.connectionLimits ?? {},
    ...(options.processes !== undefined && { counts: options.processes.counts }),
    operations: operationsOf(opened, options.processes),
    // Strangers must not read the figures of a relay.
    servesMetrics: metricsPort === undefined && options.isRelay !== true,
    warmsUp: options.warmsUp ?? false,
    hasConsole,
    hasOAuth,
    consolePack,
    isRelay: options.isRelay ?? false,
  })
  const listener = await whenListening(opening, { host, port, variable: 'CREEL_PORT' })
  return {
    ...listener,
    async close(graceMs) {
      await listener.close(graceMs)
      await captures.close()
    },
  }
}

async function openMetrics(
  { host, metricsPort, processes }: ServiceOptions,
  opened: OpenServices,
): Promise<Listener | undefined> {
  // One process answers for all.
  if (metricsPort === undefined || processes?.isFirst === false) return undefined
  const operations = operationsOf(opened, processes)
  const opening = startOperationsListener(opened.services, { host, port: metricsPort, operations })
  return await whenListening(opening, { host, port: metricsPort, variable: 'CREEL_METRICS_PORT' })
}
