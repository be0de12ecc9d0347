import { readFileSync } from 'node:fs'
import type { HeadLimits } from './requestReader.ts'

/** Limits of connections: memory, descriptors and time. */
export interface HttpLimits extends HeadLimits {
  readonly connectionsMax: number
  /** Connections of one address; an IPv6 network of 64 bits counts as one. */
  readonly connectionsPerAddressMax: number
  /** From the first byte of a head to its last. */
  readonly headSeconds: number
  /** Grace period of a body, during which any speed is allowed. */
  readonly bodyGraceSeconds: number
  /** Minimum rate after the grace period, within each window of `bodyWindowSeconds`. */
  readonly bodyBytesPerSecondMin: number
  readonly bodyWindowSeconds: number
  /** From the head of a request to the end of its body. */
  readonly bodySeconds: number
  /**
   * Between requests. Longer than proxies keep idle connections to us, so that they never send into one that we are
   * closing.
   */
  readonly idleSeconds: number
  /**
   * Maximum wait for a client that reads nothing, or that leaves more than `unsentBytesMax` unread without progress.
   */
  readonly unsentSeconds: number
  /** Above this many unread bytes, the client must make progress. */
  readonly unsentBytesMax: number
  /**
   * Limit of unread bytes of all clients together. Beyond it, the clients with the most unread bytes are disconnected.
   */
  readonly unsentTotalBytesMax: number
  /** Wait for the rest of a request that was answered before its end, so that the client can read the answer. */
  readonly lingerSeconds: number
  /** Interval at which deadlines are checked. */
  readonly tickSeconds: number
}

/** Descriptors for connections to PostgreSQL, sends, files and health checks. */
const RESERVED_DESCRIPTORS_MAX = 2048
/** Default where the limit is unknown: the minimum that systems allow. */
const DESCRIPTORS_DEFAULT = 1024

/**
 * Limits of an installation without settings. The number of connections depends on the system's limit of descriptors.
 */
export function defaultHttpLimits(): HttpLimits {
  return {
    headBytesMax: 160 * 1024,
    fieldsMax: 1000,
    connectionsMax: connectionsAllowed(descriptorLimit()),
    connectionsPerAddressMax: 2000,
    headSeconds: 10,
    bodyGraceSeconds: 10,
    bodyBytesPerSecondMin: 1024,
    bodyWindowSeconds: 5,
    bodySeconds: 600,
    idleSeconds: 75,
    unsentSeconds: 30,
    unsentBytesMax: 1024 * 1024,
    unsentTotalBytesMax: 128 * 1024 * 1024,
    lingerSeconds: 2,
    tickSeconds: 0.5,
  }
}

/** @returns the descriptors minus those reserved for other things: at least three in four */
export function connectionsAllowed(descriptors: number): number {
  return descriptors - Math.min(RESERVED_DESCRIPTORS_MAX, Math.ceil(descriptors / 4))
}

/**
 * Answers that may wait at once in one process: they take half of its connections, so that other clients find room.
 *
 * @param limits overrides of the usual limits, for all processes together
 */
export function waitingAnswersMax(limits: Partial<HttpLimits>, processes: number): number {
  const ofProcess =
    limits.connectionsMax === undefined
      ? defaultHttpLimits().connectionsMax
      : limits.connectionsMax / processes
  return Math.floor(ofProcess / 2)
}

/** The limit of open descriptors of this process. */
function descriptorLimit(): number {
  try {
    const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    if (limit !== undefined) return Number(limit)
  } catch {
    // Not Linux.
  }
  const { stdout } = Bun.spawnSync(['/bin/sh', '-c', 'ulimit -n'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const limit = Number(stdout.toString().trim())
  return Number.isSafeInteger(limit) && limit > 0 ? limit : DESCRIPTORS_DEFAULT
}
