import { registry } from '@creel/core/platform/metrics'
import { within } from '@creel/core/platform/time'
import type { Logger } from 'pino'
import type { FetchHandler } from './fetchHandler.ts'

/** What the process's owner tells those who watch over it. */
export interface Operations {
  /** What must answer for the process to be ready, by name: `database`, `queue`. Each throws when it is not. */
  readonly checks: Readonly<Record<string, () => Promise<unknown>>>
  /** What is worth a line on `/readyz` and decides nothing: one short text each. */
  readonly notes?: Readonly<Record<string, () => Promise<string>>>
  /** Brings up to date what is read rather than counted (queue depth). Its failure costs those figures only. */
  readonly beforeScrape?: () => Promise<void>
}

/** A check that has not answered by then counts as failed: whoever asks has a timeout of their own. */
const CHECK_MS = 2000

/** Alive: the process answers. Says nothing about what it depends on, so that nobody restarts it in vain. */
export function healthz(): Response {
  return json(200, { status: 'ok' })
}

/** Ready for calls: 200 when every check passes, else 503, with the state of each, and what else is worth knowing. */
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

/** Everything that the process counts, in Prometheus' text format. */
export async function metrics({ beforeScrape }: Operations, log: Logger): Promise<Response> {
  try {
    if (beforeScrape !== undefined) await inTime(beforeScrape())
  } catch (error) {
    log.warn({ err: error }, 'metrics without queue figures')
  }
  return new Response(await registry.metrics(), { headers: { 'Content-Type': registry.contentType } })
}

/** The three of them alone: for a port of their own, and for a process that serves no API. */
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
