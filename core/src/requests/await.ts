import type { z } from 'zod'
import type { Context } from '../api/context.ts'
import { notFound } from '../api/errors.ts'
import { gathering } from '../api/gathering.ts'
import { type EndpointRow, findEndpoint } from '../endpoints/index.ts'
import { waitForChanges } from '../streams/index.ts'
import { awaitsWaiting } from './declarations.ts'
import { requestView } from './find.ts'
import { findAwaited } from './queries.ts'
import { readRequest } from './reads.ts'
import { scanRequests } from './scan.ts'
import type { RequestDetail, RequestFilters } from './schema.ts'

/** The bounds of a wait; part of the API. */
export const AWAIT_SECONDS = { min: 1, max: 60, default: 30 } as const

type Awaited = z.input<typeof RequestDetail>

/**
 * Waits for a request that matches. One that is stored already counts. It holds no database connection while it waits,
 * and ends at once when the client hangs up or the service stops.
 *
 * @returns null after the timeout
 * @throws DomainError `rate_limited` over the key's parallel awaits; `not_found` as soon as the endpoint is deleted;
 *   `unauthorized` when the key is revoked while it waits
 */
export async function awaitRequest(
  ctx: Context,
  endpoint: EndpointRow,
  { filters, timeoutSeconds }: { filters: RequestFilters; timeoutSeconds: number },
): Promise<Awaited | null> {
  const max = ctx.plan.limits.parallelAwaitsMax
  const of = { kind: 'await', max, seconds: timeoutSeconds, noun: 'awaits of this key' }
  const key = JSON.stringify([ctx.workspace.id, endpoint.id, filters])
  return await waitForChanges(ctx, endpoint.id, of, async ({ changes, ended, throwIfRefused }) => {
    let isWaiting = false
    try {
      while (!ended.aborted) {
        const found = await lookTogether(ctx.db, key, { ctx, endpointId: endpoint.id, filters })
        throwIfRefused()
        if (found !== null) return found
        if (!isWaiting) awaitsWaiting.inc()
        isWaiting = true
        await changes.next()
        throwIfRefused()
      }
      return null
    } finally {
      if (isWaiting) awaitsWaiting.dec()
    }
  })
}

interface Look {
  readonly ctx: Context
  readonly endpointId: string
  readonly filters: RequestFilters
}

/** Awaits with the same filters share a lookup: one change may wake a thousand of them in the same tick. */
const lookTogether = gathering<Look, Awaited | null>(async (_db, looks) => {
  const found = await lookFor(looks[0])
  return looks.map(() => found)
})

/**
 * Searches for a text from the newest request down, within the time limit of a search. A long history does not fail the
 * await.
 */
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
  // The lookup is shared, so it does not end with the caller that began it. PostgreSQL bounds its time.
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
  return await requestView(ctx, request)
}
