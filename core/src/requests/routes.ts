import { z } from 'zod'
import { idCursorInput } from '../api/cursors.ts'
import { notFound } from '../api/errors.ts'
import { envelope } from '../api/pagination.ts'
import { get, patch, post, remove, router, stream, typedOnly } from '../api/route.ts'
import { endpointId, Int64, Int64Filter, optional } from '../api/values.ts'
import { findsEndpoint } from '../endpoints/index.ts'
import { openStream } from '../streams/index.ts'
import { AWAIT_SECONDS, awaitRequest } from './await.ts'
import { readBody, readDecodedBody } from './body.ts'
import { findsEndpointOfRequest, findsRequest, requestOf, requestView } from './find.ts'
import { followEvents, followRequests } from './follow.ts'
import { followWhole } from './followWhole.ts'
import { listOlder, listRequests, selectIds } from './list.ts'
import { newestRequests } from './newest.ts'
import { noteRequest } from './note.ts'
import { binRequests, clearRequests } from './remove.ts'
import {
  BodyDownload,
  beforeId,
  filterInput,
  issuesOfFilters,
  issuesOfRequestIds,
  listInput,
  Note,
  RequestDetail,
  RequestSummary,
  refusedFilters,
  requestIdsInput,
  requestIdsOf,
  Shape,
  searchMember,
} from './schema.ts'
import { searching } from './searching.ts'
import { shapeOf } from './shape.ts'
import { summaryView } from './view.ts'

const requestId = Int64.describe('Id of the captured request')

const timeoutSeconds = optional(z.int().min(AWAIT_SECONDS.min).max(AWAIT_SECONDS.max)).describe(
  `Seconds to wait, ${AWAIT_SECONDS.min} to ${AWAIT_SECONDS.max}; default ${AWAIT_SECONDS.default}`,
)

const bodyBytesMax = optional(Int64Filter).describe('A longer body is left out: `bodyOmitted` is true')

const SHAPE_LAST_MAX = 200

const lastEventId = optional(
  z
    .string()
    .regex(/^\d{1,16}$/, 'must be the id of an event')
    .transform(Number)
    .pipe(Int64),
).describe(
  'Id of the last event that was received: the header `Last-Event-ID`, for clients that cannot set it',
)

const whole = optional(z.boolean()).describe(
  'Sends requests with target, headers and body, however far behind, and no delivery changes; for clients that forward captures. A reader that is too slow gets `behind`, and the stream ends.',
)

const newest = optional(z.boolean()).describe(
  'A reader that is too far behind (more than 100 requests if many follow) gets the newest requests at once, as page 1 of the list; for pages that show the newest. Only without filters.',
)

const listener = optional(z.string().min(1).max(64)).describe(
  'Name of the listener. It gets replays, and requests in full',
)

const Deleted = z.object({
  deletedCount: z.int().describe('Number of requests moved to the recycle bin'),
})

/** Read, await, follow and delete captured requests. */
export const requestRoutes = router({
  list: get('/api/v1/endpoints/{endpointId}/requests', {
    summary: 'List and search captured requests, newest first unless `order` is `asc`',
    tool: {
      name: 'search_requests',
      title: 'Search captured requests',
      description:
        'Captured webhooks of an endpoint, newest first, without their bodies. A long search ends with the matches so far: while `next` is not null, call again with it as `before`.',
      effect: 'reads',
      renamed: { pageSize: 'limit' },
      defaults: { pageSize: 20, partial: true },
    },
    description:
      'All filters combine with AND. New arrivals shift pages. To follow an endpoint, ask for `order=asc` with `afterId`, the id of the last request that you have processed, until a page is empty. Ids strictly increase in commit order. A search by page numbers is exact, or answers 503 after five seconds. By a cursor, or with `partial`, it ends after some seconds, one for a text within 300 ms, with the matches so far: `search` shows its progress, and `next` continues it.',
    input: z.object({ endpointId, ...listInput }),
    output: envelope(RequestSummary, searchMember),
    findsWhenWrong: findsEndpoint,
    shared: ['endpointId', 'page', 'pageSize', 'before', 'after', 'afterId', 'beforeId', 'order'],
  }).query(async ({ ctx, input }) => {
    const { endpointId: id, page, pageSize, before, after, order, partial, ...filters } = input
    const between = { before: before?.id, after: after?.id, note: before?.note }
    const listed = await listRequests(ctx, id, filters, { page, pageSize, ...between, order, partial })
    const { rows, totalCount, next, previous, search } = listed
    return {
      items: rows.map((row) => summaryView(row, row.endpointId)),
      totalCount,
      page,
      pageSize,
      totalPages: Math.ceil(totalCount / pageSize),
      next,
      previous,
      search,
    }
  }),

  older: typedOnly({
    input: z.object({
      endpointId,
      ...filterInput,
      before: idCursorInput('requests').before,
      beforeId,
      limit: z.int().min(1).max(100).default(50),
    }),
    output: z.object({
      items: z.array(RequestSummary),
      hasMore: z.boolean(),
      nextBeforeId: Int64.nullable(),
    }),
    finds: findsEndpoint,
  }).query(async ({ ctx, input: { endpointId: _id, limit, before, ...filters } }) => {
    const older = { filters: { ...filters, beforeId: before ?? filters.beforeId }, limit }
    const { rows, ...more } = await listOlder(ctx, ctx.endpoint.id, older)
    return { items: rows.map((row) => summaryView(row, ctx.endpoint.id)), ...more }
  }),

  select: typedOnly({
    input: z.object({ endpointId, ...filterInput, beforeId, limit: z.int().min(1).max(500).default(500) }),
    output: z.object({ ids: z.array(Int64), hasMore: z.boolean(), nextBeforeId: Int64.nullable() }),
    finds: findsEndpoint,
  }).query(({ ctx, input: { endpointId: _id, limit, ...filters } }) =>
    selectIds(ctx, ctx.endpoint.id, { filters, limit }),
  ),

  await: get('/api/v1/endpoints/{endpointId}/requests/await', {
    summary: 'Wait for a matching request; 204 if none arrives in time',
    description:
      'Requests that are stored already count: with `afterId` the lowest match above it is answered, without it the newest. Of a long history, what is looked through within `timeoutSeconds` counts. Counts as one call however long it blocks.',
    input: z.object({ endpointId, ...filterInput, timeoutSeconds }),
    output: RequestDetail.nullable(),
    finds: findsEndpoint,
  }).query(({ ctx, input: { endpointId: _id, timeoutSeconds: seconds, ...filters } }) =>
    awaitRequest(ctx, ctx.endpoint, { filters, timeoutSeconds: seconds ?? AWAIT_SECONDS.default }),
  ),

  follow: stream('/api/v1/endpoints/{endpointId}/requests/stream', {
    summary: 'Follow the captures and deliveries of an endpoint',
    description:
      'Without `Last-Event-ID`, `lastEventId` and `afterId` the stream begins now; with one of them, after that request, and nothing in between is missed. The filters look at each request as it arrived. The service ends a stream when it stops, and when the key is revoked: reconnect with the last id.',
    input: z.object({ endpointId, ...filterInput, lastEventId, whole, newest, listener }),
    events: followEvents,
    finds: findsEndpoint,
  }).subscription(
    ({
      ctx,
      input: {
        endpointId: _id,
        afterId,
        lastEventId: lastId,
        whole: isWhole,
        newest: wantsNewest,
        listener: name,
        ...filters
      },
    }) =>
      openStream(ctx, (open) => {
        const following = {
          filters,
          afterId: lastId ?? afterId,
          isListener: name !== undefined,
          wantsNewest: wantsNewest === true,
        }
        const begin = isWhole === true || following.isListener ? followWhole : followRequests
        return begin(ctx, ctx.endpoint, following, open)
      }),
  ),

  find: get('/api/v1/requests/{requestId}', {
    summary: 'Read a captured request by its id only, which is unique in the workspace',
    input: z.object({ requestId, bodyBytesMax }),
    narrows: true,
    output: RequestDetail,
    finds: findsEndpointOfRequest,
  }).query(async ({ ctx, input }) => {
    return await requestView(ctx, await requestOf(ctx, { ...input, endpointId: ctx.endpointId }))
  }),

  get: get('/api/v1/endpoints/{endpointId}/requests/{requestId}', {
    summary: 'Read a captured request in full',
    input: z.object({ endpointId, requestId, bodyBytesMax }),
    output: RequestDetail,
    findsWhenWrong: findsRequest,
    shared: ['endpointId', 'requestId', 'bodyBytesMax'],
  }).query(async ({ ctx, input }) => await requestView(ctx, await requestOf(ctx, input))),

  body: get('/api/v1/endpoints/{endpointId}/requests/{requestId}/body', {
    summary: 'Download a captured body',
    description:
      'The answer is an attachment of type `application/octet-stream`. A header `Range` with one range gets a part, with 206; one that cannot be read, or is outside the body, gets all of it.',
    input: z.object({
      endpointId,
      requestId,
      range: optional(z.string().max(64)).describe(
        'The header `Range`, for clients that cannot set it: `bytes=0-1023`',
      ),
      decoded: optional(z.boolean()).describe(
        'The body as it is read, without its `Content-Encoding`; as it came if it has none, or cannot be decoded',
      ),
    }),
    output: BodyDownload,
    media: { gives: ['application/octet-stream'], inParts: true },
    errors: ['shredded'],
    findsWhenWrong: findsRequest,
  }).query(async ({ ctx, input }) => {
    const read = input.decoded === true ? readDecodedBody : readBody
    const { bytes, from, total } = await read(ctx, input)
    return {
      contentType: 'application/octet-stream',
      fileName: `request-${input.requestId}.bin`,
      content: bytes.toString('base64'),
      encoding: 'base64' as const,
      from,
      total,
    }
  }),

  shape: get('/api/v1/endpoints/{endpointId}/shape', {
    summary: 'List the paths in the newest requests, with types, share and an example',
    description:
      'Paths of bodies, query and headers, in the syntax of conditions and rules; `[*]` is every element of a list.',
    input: z.object({
      endpointId,
      label: filterInput.label,
      last: z.int().min(1).max(SHAPE_LAST_MAX).default(50).describe('Number of requests to read'),
    }),
    output: Shape,
    finds: findsEndpoint,
  }).query(({ ctx, input }) =>
    searching(ctx, `shape ${ctx.endpoint.id}`, async (db, options) => {
      const rows = await newestRequests(db, ctx.endpoint.id, input, options)
      return { sampleCount: rows.length, paths: await shapeOf(rows) }
    }),
  ),

  update: patch('/api/v1/endpoints/{endpointId}/requests/{requestId}', {
    summary: 'Set or remove the note of a captured request',
    tool: {
      name: 'note_request',
      title: 'Write a note on a captured request',
      description:
        'Sets the note of a captured request, which people see beside it; an empty one removes it. A note that is there is replaced: read the request first.',
      effect: 'adds',
    },
    description:
      'The note is for people: nothing is evaluated or forwarded again, searches do not read it, and share links do not show it. Where the content is encrypted, the note is, too.',
    input: z.object({
      endpointId,
      requestId,
      note: Note.nullable().describe('Plain text; empty or null removes the note'),
    }),
    example: { note: 'Paid twice: refunded on Monday.' },
    output: RequestSummary,
    errors: ['shredded'],
    findsWhenWrong: findsRequest,
  }).mutation(async ({ ctx, input: { requestId: id, note, ...of } }) => {
    const { endpoint } = await findsEndpoint(ctx, of)
    const noted = await noteRequest(ctx, endpoint.id, { requestId: id, note: note || null })
    return summaryView(noted, endpoint.id)
  }),

  remove: remove('/api/v1/endpoints/{endpointId}/requests/{requestId}', {
    summary: 'Move a captured request to the recycle bin',
    input: z.object({ endpointId, requestId }),
    output: z.null(),
    finds: findsRequest,
  }).mutation(async ({ ctx }) => {
    const binned = await binRequests(ctx, ctx.endpoint.id, [ctx.request.id], 'requests.remove')
    if (binned === 0) throw notFound('request')
    return null
  }),

  clear: remove('/api/v1/endpoints/{endpointId}/requests', {
    summary: 'Move every stored request to the recycle bin',
    description: 'It takes no filters: a filter of the list in its query is refused, and nothing moves.',
    input: z.object({ endpointId, ...refusedFilters }),
    output: Deleted,
    finds: findsEndpoint,
    check: (_ctx, input) => issuesOfFilters(input),
  }).mutation(async ({ ctx }) => ({
    deletedCount: await clearRequests(ctx, ctx.endpoint.id),
  })),

  bulkDelete: post('/api/v1/endpoints/{endpointId}/requests/bulk-delete', {
    summary: 'Move up to 500 requests to the recycle bin',
    description: 'Ids that are not on the endpoint are ignored.',
    input: z.object({ endpointId, ...requestIdsInput }),
    example: { requestIds: [90117, 90118] },
    output: Deleted,
    finds: findsEndpoint,
    check: (_ctx, input) => issuesOfRequestIds(input),
  }).mutation(async ({ ctx, input }) => ({
    deletedCount: await binRequests(ctx, ctx.endpoint.id, requestIdsOf(input), 'requests.bulkDelete'),
  })),
})
