import { type AbortableQueryOptions, sql } from 'kysely'
import { z } from 'zod'
import type { Context } from '../api/context.ts'
import { post, router } from '../api/route.ts'
import { endpointId, Int64 } from '../api/values.ts'
import { findsEndpoint } from '../endpoints/index.ts'
import {
  type Condition,
  ConditionDocument,
  readCondition,
  unmatchedWords,
} from '../engine/conditions/index.ts'
import { neverMatchedPaths, newestMatching } from './history.ts'
import { previewing } from './previewing.ts'
import { visibleRequests } from './queries.ts'
import { searching } from './searching.ts'

const LAST_MAX = 500

const part = (words: string) => z.object({ count: z.int(), firstIds: z.array(Int64).max(20) }).describe(words)

const ConditionPreview = z
  .object({
    testedCount: z.int().describe('Fewer than asked for where fewer are stored, or they are large'),
    matched: part('The newest first'),
    notMatched: part('The newest first'),
    note: z.string().nullable().describe('Lists the paths that none of these requests have'),
  })
  .meta({ id: 'ConditionPreview' })

/** Try a condition on stored requests; nothing is saved. */
export const conditionRoutes = router({
  try: post('/api/v1/endpoints/{endpointId}/conditions/preview', {
    summary: 'Test a condition on the newest stored requests',
    input: z.object({
      endpointId,
      condition: ConditionDocument.describe('Condition, as in an action, a rule or a watchdog'),
      last: z.int().min(1).max(LAST_MAX).default(LAST_MAX).describe('Number of requests to test'),
    }),
    example: {
      condition: { all: [{ path: 'body.type', op: 'startsWith', value: 'invoice.' }] },
      last: 100,
    },
    output: ConditionPreview,
    scope: 'read',
    finds: findsEndpoint,
    check: (ctx, { condition }) => {
      if (condition === undefined) return []
      const parsed = readCondition(ctx.rawBody, 'condition', condition)
      return 'issues' in parsed ? parsed.issues : []
    },
  }).mutation(({ ctx, input }) => tryCondition(ctx, ctx.endpoint.id, input)),
})

/** Bytes of bodies that one preview reads; further requests are left out. */
const READ_BYTES_MAX = 32 * 1024 * 1024
const FIRST_IDS = 20

/**
 * Evaluates a condition against the newest stored requests; stores nothing.
 *
 * @throws LineTooLong when earlier previews or searches of the workspace take too long
 */
async function tryCondition(
  ctx: Context,
  endpointId: string,
  { condition: document, last }: { readonly condition: unknown; readonly last: number },
) {
  const parsed = readCondition(ctx.rawBody, 'condition', document)
  if (!('condition' in parsed)) throw new Error('A condition that was checked cannot be read.')
  const { condition } = parsed
  const kind = `condition ${endpointId}`
  return await previewing(ctx, kind, () =>
    searching(ctx, kind, (db, query) =>
      tryOn({ db, query, signal: ctx.signal }, endpointId, condition, last),
    ),
  )
}

interface Read extends Pick<Context, 'db' | 'signal'> {
  readonly query: AbortableQueryOptions
}

async function tryOn({ db, query, signal }: Read, endpointId: string, condition: Condition, last: number) {
  const newest = await visibleRequests(db, endpointId)
    .select(['r.id', sql<number>`octet_length(r.body)`.as('bytes')])
    .orderBy('r.id', 'desc')
    .limit(last)
    .execute(query)
  let bytesLeft = READ_BYTES_MAX
  const tested = newest.filter(({ bytes }) => {
    bytesLeft -= bytes
    return bytesLeft > 0
  })
  // The next statements see what is captured meanwhile: that is not tested.
  const afterId = (tested.at(-1)?.id ?? 1) - 1
  const belowId = (tested[0]?.id ?? 0) + 1
  const range = { afterId, belowId, signal, query, limit: Math.max(1, tested.length) }
  const found = await newestMatching(db, endpointId, condition, range)
  const unmatched = await neverMatchedPaths(db, endpointId, condition, range)
  // A request that is deleted or evicted meanwhile was perhaps not read, and is left out.
  const left = await visibleRequests(db, endpointId)
    .select('r.id')
    .where('r.id', '>', afterId)
    .where('r.id', '<', belowId)
    .orderBy('r.id', 'desc')
    .execute(query)
  const isLeft = new Set(left.map(({ id }) => id))
  const known = new Set(tested.map(({ id }) => id).filter((id) => isLeft.has(id)))
  const matched = found.map(({ requestId }) => requestId).filter((id) => known.has(id))
  const isMatched = new Set(matched)
  const notMatched = [...known].filter((id) => !isMatched.has(id))
  const part = (ids: readonly number[]) => ({ count: ids.length, firstIds: ids.slice(0, FIRST_IDS) })
  return {
    testedCount: known.size,
    matched: part(matched),
    notMatched: part(notMatched),
    note: unmatchedWords(unmatched),
  }
}
