import { availableParallelism } from 'node:os'
import type { Config } from '../config/index.ts'
import type { ServicePart } from '../service/index.ts'

/** The first gateway process, the jobs and PostgreSQL share these. */
const FIRST_CORES = 2
/** Cores of each further gateway process, and of the work that it makes for PostgreSQL. */
const CORES_EACH = 4

interface Machine {
  readonly cores: number
  readonly platform: NodeJS.Platform
}

/**
 * The number of gateway processes: the configured one, else one for each four cores beyond the first two, at least one.
 * Only Linux gives connections to several listeners in turn; elsewhere there is one process.
 *
 * @returns a warning, too, when the configured number has no effect
 */
export function gatewayCount(
  configured: Config['CREEL_GATEWAYS'],
  parts: ReadonlySet<ServicePart>,
  machine: Machine = { cores: availableParallelism(), platform: process.platform },
): { readonly count: number; readonly warning?: string } {
  if (!parts.has('gateway')) {
    if (configured === undefined || configured === 1) return { count: 1 }
    return { count: 1, warning: 'CREEL_GATEWAYS has no effect with --only jobs' }
  }
  if (machine.platform !== 'linux') {
    if (configured === undefined || configured === 1) return { count: 1 }
    return { count: 1, warning: 'CREEL_GATEWAYS has an effect on Linux only: there is one gateway process' }
  }
  return {
    count: configured ?? Math.max(1, Math.floor((machine.cores - FIRST_CORES) / CORES_EACH)),
  }
}

/** The fewest connections that a process works with. */
const LEAST = { database: 4, searches: 2, queue: 2 } as const

/** Database connections of one of several gateway processes, which divide those of the program. */
export function connectionsEach(
  inAll: { readonly database: number; readonly searches: number; readonly queue: number },
  processes: number,
): typeof inAll {
  const part = (count: number, least: number) => Math.max(least, Math.floor(count / processes))
  if (processes === 1) return inAll
  return {
    database: part(inAll.database, LEAST.database),
    searches: part(inAll.searches, LEAST.searches),
    queue: part(inAll.queue, LEAST.queue),
  }
}
