import type { z } from 'zod'
import type { Context } from '../api/context.ts'
import { notFound } from '../api/errors.ts'
import { gathering } from '../api/gathering.ts'
import { type EndpointRow, findEndpoint } from '../endpoints/index.ts'
import { isStatementTimeout } from '../platform/db/index.ts'
import { aborted } from '../platform/time/index.ts'
import { LineTooLong } from '../platform/turns/index.ts'
import { waitForChanges } from '../streams/index.ts'
import { awaitsWaiting } from './declarations.ts'
import { isRange } from './filters.ts'
import { requestView } from './find.ts'
import { newestRequestId } from './followQueries.ts'
import { findFirst } from './queries.ts'
import { readRequest } from './reads.ts'
import { PROMPT, scanRequests, THOROUGH } from './scan.ts'
import type { Order, RequestDetail, RequestFilters } from './schema.ts'

/** The bounds of a wait; part of the API. */
export const AWAIT_SECONDS = { min: 1, max: 60, default: 30 } as const

type Awaited = z.input<typeof RequestDetail>

/** Time before the next look after one that the database had no time for. */
const BUSY_MS = 1_000

/**
 * Waits for a request that matches. One that is stored already counts: with `afterId` the lowest match above it, so that
 * a client can loop without gaps; without, the newest. It holds no database connection while it waits, and ends at once
 * when the client hangs up or the service stops, and at its timeout, however long a look takes.
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
  return await waitForChanges(ctx, endpoint.id, of, async ({ changes, ended, throwIfRefused }) => {
    const end = aborted(ended)
    const start: Unseen = { seenTo: filters.afterId ?? 0, left: [] }
    let unseen = start
    let isWaiting = false
    let isStale = false
    try {
      while (!ended.aborted) {
        const key = JSON.stringify([ctx.workspace.id, endpoint.id, filters, unseen])
        const looking = lookTogether(ctx.db, key, { ctx, endpointId: endpoint.id, filters, unseen })
        const look = await Promise.race([looking, end])
        throwIfRefused()
        if (look?.found) return look.found
        if (!isWaiting) awaitsWaiting.inc()
        isWaiting = true
        unseen = look?.unseen ?? unseen
        if (look?.isBusy === true) {
          await changes.next(BUSY_MS)
          // A request that was looked at may have changed in this time.
          isStale = mayChange(filters)
        } else if (unseen.left.length === 0) {
          if (!isStale) await changes.next()
          isStale = false
          if (mayChange(filters)) unseen = start
        }
        throwIfRefused()
      }
      return null
    } finally {
      if (isWaiting) awaitsWaiting.dec()
    }
  })
}

/** Requests between two ids. */
interface Range {
  readonly above: number
  readonly below: number
}

/** The requests that a wait has not looked at: all above `seenTo`, and those that it had no time for. */
interface Unseen {
  readonly seenTo: number
  readonly left: readonly Range[]
}

/** Whether a request that did not match may do so later. */
const mayChange = ({ state, needsAttention, deadLettered }: RequestFilters) =>
  state !== undefined || needsAttention !== undefined || deadLettered !== undefined

interface Question {
  readonly ctx: Context
  readonly endpointId: string
  readonly filters: RequestFilters
  readonly unseen: Unseen
}

interface Look {
  readonly found: Awaited | null
  readonly unseen: Unseen
  /** Whether it ended at a limit of time before it had looked. */
  readonly isBusy: boolean
}

/** Awaits with the same filters share a lookup: one change may wake a thousand of them in the same tick. */
const lookTogether = gathering<Question, Look>(async (_db, questions) => {
  const look = await lookFor(questions[0]).catch((error: unknown): Look => {
    if (!(error instanceof LineTooLong) && !isStatementTimeout(error)) throw error
    return { found: null, unseen: questions[0].unseen, isBusy: true }
  })
  return questions.map(() => look)
})

/** Looks through what is unseen, up to one pace of a scan. A lookup is shared, so it does not end with its first caller. */
async function lookFor({ ctx, endpointId, filters, unseen }: Question): Promise<Look> {
  // Requests of an endpoint are stored in the order of their ids. A request that is restored has a lower id, and wakes no await.
  const newestId = await newestRequestId(ctx.db, endpointId)
  const seenTo = Math.max(newestId, unseen.seenTo)
  const arrived = newestId > unseen.seenTo ? [{ above: unseen.seenTo, below: newestId + 1 }] : []
  const order = filters.afterId === undefined ? 'desc' : 'asc'
  let left = order === 'asc' ? [...unseen.left, ...arrived] : [...arrived, ...unseen.left]
  for (let [range, ...others] = left; range !== undefined; [range, ...others] = left) {
    const { id, lookedTo } = await findIn(ctx, endpointId, { filters, range, order })
    left = lookedTo === null ? others : [restOf(range, lookedTo, order), ...others]
    if (id === undefined && lookedTo === null) continue
    const found = id === undefined ? null : await readWhole(ctx, endpointId, id)
    if (found !== null) return { found, unseen: { seenTo, left }, isBusy: false }
    break
  }
  if ((await findEndpoint(ctx.db, ctx.workspace.id, endpointId)) === undefined) throw notFound('endpoint')
  return { found: null, unseen: { seenTo, left }, isBusy: false }
}

const restOf = ({ above, below }: Range, lookedTo: number, order: Order): Range =>
  order === 'asc' ? { above: lookedTo, below } : { above, below: lookedTo }

/** The most ids in which requests are looked for at once, if no text is. */
const AT_ONCE = 1_000

/**
 * Finds the first match of a range. A search that may take long runs in steps, beside other searches, and ends at a time
 * limit.
 *
 * @returns `lookedTo`: all requests up to this id in the order were looked through; null if all were
 */
async function findIn(
  ctx: Context,
  endpointId: string,
  { filters, range, order }: { filters: RequestFilters; range: Range; order: Order },
): Promise<{ readonly id: number | undefined; readonly lookedTo: number | null }> {
  const { above, below } = range
  const within = { ...filters, afterId: above, beforeId: below }
  if (isRange(within) || (filters.q === undefined && below - above <= AT_ONCE)) {
    const id = await findFirst(ctx.db, endpointId, { filters: within, order })
    return { id, lookedTo: id ?? null }
  }
  const wanted = { filters: within, order, skip: 0, take: 1, countsAll: false }
  const pace = filters.q === undefined ? THOROUGH : { ...THOROUGH, firstBytes: PROMPT.firstBytes }
  // A step that is given up must not keep its connection while the next one runs.
  const options = { inflightQueryAbortStrategy: 'cancel query' } as const
  const { ids, lookedTo } = await scanRequests(ctx.searches, endpointId, wanted, options, pace)
  return { id: ids[0], lookedTo: ids[0] ?? lookedTo }
}

/** The request that is found; null if it was deleted meanwhile, or its content is gone. */
async function readWhole(ctx: Context, endpointId: string, id: number): Promise<Awaited | null> {
  const bodyBytesMax = Number.MAX_SAFE_INTEGER
  const request = await readRequest(ctx.db, ctx.workspace.id, endpointId, { id, bodyBytesMax })
  return request === undefined || request === null ? null : await requestView(ctx, request)
}
