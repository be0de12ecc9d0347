import { registry } from '@creel/core/platform/metrics'
import { within } from '@creel/core/platform/time'
import type { Logger } from 'pino'
import type { FetchHandler } from './fetchHandler.ts'

/** Checks and figures of the process, for monitoring. */
export interface Operations {
  /**
   * Dependencies that must work for the process to be ready, by name: `database`, `queue`. A check throws when its
   * dependency fails.
   */
  readonly checks: Readonly<Record<string, () => Promise<unknown>>>
  /** Information for `/readyz` that does not affect its status: one short text each. */
  readonly notes?: Readonly<Record<string, () => Promise<string>>>
  /**
   * Updates the figures that are read rather than counted (queue depth). If it fails, only those figures are missing.
   */
  readonly beforeScrape?: () => Promise<void>
}

/** Timeout of a check, below the timeouts of monitoring systems. */
const CHECK_MS = 2000

/** Liveness: 200 whenever the process answers. Does not check dependencies, because a restart would not repair them. */
export function healthz(): Response {
  return json(200, { status: 'ok' })
}

/** Readiness: 200 when every check passes, else 503, with the state of each check, and the notes. */
export async function readyz({ checks, notes = {} }: Operations, log: Logger): Promise<Response> {
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
  const noted = await Promise.all(
    Object.entries(notes).map(async ([name, note]) => {
      try {
        return [name, await within(note(), CHECK_MS)] as const
      } catch {
        return [name, 'unknown'] as const
      }
    }),
  )
  const ready = states.every(([, state]) => state === 'ok')
  return json(ready ? 200 : 503, {
    status: ready ? 'ready' : 'unavailable',
    checks: Object.fromEntries(states),
    ...Object.fromEntries(noted),
  })
}

/** All metrics of the process, in Prometheus' text format. */
export async function metrics({ beforeScrape }: Operations, log: Logger): Promise<Response> {
  try {
    if (beforeScrape !== undefined) await inTime(beforeScrape())
  } catch (error) {
    log.warn({ err: error }, 'metrics without queue figures')
  }
  return new Response(await registry.metrics(), { headers: { 'Content-Type': registry.contentType } })
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
