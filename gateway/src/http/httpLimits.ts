import { readFileSync } from 'node:fs'
import type { HeadLimits } from './requestReader.ts'

/** What a connection may take of the service: memory, descriptors and time. */
export interface HttpLimits extends HeadLimits {
  /** In all. */
  readonly connectionsMax: number
  /** Of one address; an IPv6 network of 64 bits counts as one. */
  readonly connectionsPerAddressMax: number
  /** From the first byte of a head to its last. */
  readonly headSeconds: number
  /** A body may come as slowly as it likes for so long. */
  readonly bodyGraceSeconds: number
  /** From then on it must come as fast as this, within each window of `bodyWindowSeconds`. */
  readonly bodyBytesPerSecondMin: number
  readonly bodyWindowSeconds: number
  /** From the head of a request to the end of its body. */
  readonly bodySeconds: number
  /** Between requests. Longer than proxies keep idle connections to us, so that they never send into one that we close. */
  readonly idleSeconds: number
  /** For so long an answer may wait for a client that reads nothing, or that leaves much unread. */
  readonly unsentSeconds: number
  /** So much of an answer is much. */
  readonly unsentBytesMax: number
  /** So much may wait for all clients together; then those who leave most unread are hung up on. */
  readonly unsentTotalBytesMax: number
  /** After an answer that came before the end of its request: so long the rest is awaited, that the client sees the answer. */
  readonly lingerSeconds: number
  /** How often the clock of all this ticks: its precision. */
  readonly tickSeconds: number
}

/** For connections to PostgreSQL, sends, files and whoever asks for the service's health. */
const RESERVED_DESCRIPTORS_MAX = 2048
/** Where nobody can tell the limit: what systems allow at least. */
const DESCRIPTORS_DEFAULT = 1024

/** The limits that hold unless a setting says otherwise. */
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

/** @returns the descriptors that are not kept back for other things: at least three in four */
export function connectionsAllowed(descriptors: number): number {
  return descriptors - Math.min(RESERVED_DESCRIPTORS_MAX, Math.ceil(descriptors / 4))
}

/** How many descriptors this process may have open. */
function descriptorLimit(): number {
  try {
    const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    if (limit !== undefined) return Number(limit)
  } catch {
    // No Linux.
  }
  const { stdout } = Bun.spawnSync(['/bin/sh', '-c', 'ulimit -n'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const limit = Number(stdout.toString().trim())
  return Number.isSafeInteger(limit) && limit > 0 ? limit : DESCRIPTORS_DEFAULT
}
