import type { z } from 'zod'
import type { Context } from '../api/context.ts'
import { notFound } from '../api/errors.ts'
import { gathering } from '../api/gathering.ts'
import { takeSlot } from '../api/slots.ts'
import { type EndpointRow, findEndpoint } from '../endpoints/index.ts'
import { awaitsWaiting } from '../platform/metrics/index.ts'
import { requestView } from './find.ts'
import { findAwaited } from './queries.ts'
import { readRequest } from './reads.ts'
import { scanRequests } from './scan.ts'
import type { RequestDetail, RequestFilters } from './schema.ts'

/** The bounds of a wait; part of the API. */
export const AWAIT_SECONDS = { min: 1, max: 60, default: 30 } as const

type Awaited = z.input<typeof RequestDetail>

/**
 * Blocks until a request matches: one that is stored already counts. Holds no database connection
 * while it waits, and ends at once when the client hangs up or the service stops.
 *
 * @returns null when the time is up
 * @throws DomainError `rate_limited` over the key's parallel awaits; `not_found` as soon as the endpoint is deleted
 */
export async function awaitRequest(
  ctx: Context,
  endpoint: EndpointRow,
  { filters, timeoutSeconds }: { filters: RequestFilters; timeoutSeconds: number },
): Promise<Awaited | null> {
  const slot = await takeSlot(ctx, {
    scope: `await:${ctx.callerId}`,
    max: ctx.plan.limits.parallelAwaitsMax,
    longestMs: timeoutSeconds * 1000,
    noun: 'awaits of this key',
  })
  const ended = AbortSignal.any([ctx.signal, ctx.stopping, AbortSignal.timeout(timeoutSeconds * 1000)])
  // Listening starts before the first look: what arrives in between is not missed.
  const changes = changesOf(ctx, endpoint.id, ended)
  const key = JSON.stringify([ctx.workspace.id, endpoint.id, filters])
  let isWaiting = false
  try {
    while (!ended.aborted) {
      const found = await lookTogether(ctx.db, key, { ctx, endpointId: endpoint.id, filters })
      if (found !== null) return found
      if (!isWaiting) awaitsWaiting.inc()
      isWaiting = true
      await changes.next()
    }
    return null
  } finally {
    if (isWaiting) awaitsWaiting.dec()
    changes.stop()
    await slot.free()
  }
}

/** Change by change: `next` resolves at once when one came since it was last called, or when `ended` aborts. */
function changesOf(ctx: Context, endpointId: string, ended: AbortSignal) {
  let changed = false
  let wake: () => void = () => {}
  const notice = () => {
    changed = true
    wake()
  }
  const stop = ctx.endpointChanges.onEndpoint(endpointId, notice)
  ended.addEventListener('abort', notice, { once: true })
  return {
    stop,
    async next(): Promise<void> {
      if (!changed) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      changed = false
    },
  }
}

interface Look {
  readonly ctx: Context
  readonly endpointId: string
  readonly filters: RequestFilters
}

/** Waiters who ask the same share a look: a change wakes a thousand of them in one tick, and a thousand may come at once. */
const lookTogether = gathering<Look, Awaited | null>(async (_db, looks) => {
  const found = await lookFor(looks[0])
  return looks.map(() => found)
})

/** A text is looked for from the newest request down for as long as a search may take, so that a long history ends no await. */
async function findId(
  ctx: Context,
  endpointId: string,
  filters: RequestFilters,
): Promise<number | undefined> {
  if (filters.q === undefined) return await findAwaited(ctx.db, endpointId, filters)
  if (filters.afterId !== undefined) return await findAwaited(ctx.searches, endpointId, filters)
  const wanted = { filters, skip: 0, take: 1, countsAll: false }
  const { ids } = await scanRequests(ctx.searches, endpointId, wanted, {})
  return ids[0]
}

async function lookFor({ ctx, endpointId, filters }: Look): Promise<Awaited | null> {
  // The look is shared, so it outlives the caller who began it; PostgreSQL bounds its time.
  const id = await findId(ctx, endpointId, filters)
  if (id === undefined) {
    if ((await findEndpoint(ctx.db, ctx.workspace.id, endpointId)) === undefined) throw notFound('endpoint')
    return null
  }
  const request = await readRequest(ctx.db, ctx.workspace.id, endpointId, {
    id,
    bodyBytesMax: Number.MAX_SAFE_INTEGER,
  })
  if (request === undefined || request === null) return null
  return await requestView(ctx, { id: endpointId, captureId: request.captureId }, request)
}
