import { registry } from '@creel/core/platform/metrics'
import { within } from '@creel/core/platform/time'
import type { Logger } from 'pino'
import type { FetchHandler } from './http/fetchAnswer.ts'

/** Checks and figures of the process, for monitoring. */
export interface Operations {
  /**
   * Dependencies that must work for the process to be ready, by name: `database`, `queue`. A check throws when its
   * dependency fails.
   */
  readonly checks: Readonly<Record<string, () => Promise<unknown>>>
  /** Aborted when the process stops: from then on it is not ready. */
  readonly stopping?: AbortSignal
  /** Information for `/readyz` that does not affect its status: one short text each. */
  readonly notes?: Readonly<Record<string, () => Promise<string>>>
  /**
   * Updates the figures that are read rather than counted (queue depth). If it fails, only those figures are missing.
   */
  readonly beforeScrape?: () => Promise<void>
  /**
   * Metrics of all processes of the program, in Prometheus' text format. Default: metrics of this process.
   *
   * @throws Error when a process does not answer
   */
  readonly metricsOfProgram?: () => Promise<string>
}

/** Timeout of a check, below the timeouts of monitoring systems. */
const CHECK_MS = 2000

/** Liveness: 200 whenever the process answers. Does not check dependencies, because a restart would not repair them. */
export function healthz(): Response {
  return json(200, { status: 'ok' })
}

export async function runChecks(
  checks: Operations['checks'],
  log: Logger,
): Promise<Readonly<Record<string, 'ok' | 'unavailable'>>> {
  const states = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      try {
        await inTime(check())
        return [name, 'ok'] as const
      } catch (error) {
        log.warn({ err: error, check: name }, 'not ready')
        return [name, 'unavailable'] as const
      }
    }),
  )
  return Object.fromEntries(states)
}

/** The text of each note, or `unknown` after the time of a check. */
async function takeNotes(notes: NonNullable<Operations['notes']>): Promise<Readonly<Record<string, string>>> {
  const noted = await Promise.all(
    Object.entries(notes).map(async ([name, note]) => {
      try {
        return [name, (await within(note(), CHECK_MS)) ?? 'unknown'] as const
      } catch {
        return [name, 'unknown'] as const
      }
    }),
  )
  return Object.fromEntries(noted)
}

/** Readiness: 200 when every check passes and the process does not drain, else 503, with the state of each check, and the notes. */
export async function readyz({ checks, stopping, notes = {} }: Operations, log: Logger): Promise<Response> {
  const [states, noted] = await Promise.all([runChecks(checks, log), takeNotes(notes)])
  const worst = Object.values(states).every((state) => state === 'ok') ? 'ready' : 'unavailable'
  const status = stopping?.aborted === true ? 'draining' : worst
  return json(status === 'ready' ? 200 : 503, {
    status,
    checks: states,
    ...noted,
  })
}

/** Updates the figures that are read at each scrape. A failure is logged. */
export async function readFigures({ beforeScrape }: Operations, log: Logger): Promise<void> {
  try {
    if (beforeScrape !== undefined) await inTime(beforeScrape())
  } catch (error) {
    log.warn({ err: error }, 'metrics without queue figures')
  }
}

/** All metrics of the program, in Prometheus' text format; 503 when one of its processes does not answer. */
export async function metrics(operations: Operations, log: Logger): Promise<Response> {
  await readFigures(operations, log)
  try {
    const text = await (operations.metricsOfProgram?.() ?? registry.metrics())
    return new Response(text, { headers: { 'Content-Type': registry.contentType } })
  } catch (error) {
    // The sum of the others would look as if counters had been reset.
    log.warn({ err: error }, 'no metrics: a process of the program does not answer')
    return new Response('A process of the program does not answer.\n', { status: 503 })
  }
}

/** These three routes only: for a port of their own, and for a process that serves no API. */
export function operationsHandler(operations: Operations, log: Logger): FetchHandler {
  return async (request) => {
    switch (new URL(request.url).pathname) {
      case '/healthz':
        return healthz()
      case '/readyz':
        return readyz(operations, log)
      case '/metrics':
        return metrics(operations, log)
      default:
        return new Response('Not Found', { status: 404 })
    }
  }
}

async function inTime(check: Promise<unknown>): Promise<void> {
  const answered = await within(
    check.then(() => true),
    CHECK_MS,
  )
  if (answered === undefined) throw new Error(`no answer within ${CHECK_MS} ms`)
}

function json(status: number, value: unknown): Response {
  return Response.json(value, { status, headers: { 'Cache-Control': 'no-store' } })
}
