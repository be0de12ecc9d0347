import { z } from 'zod'
import { Download, DownloadStream } from '../api/contract.ts'
import { shredded } from '../api/errors.ts'
import { get, post, router } from '../api/route.ts'
import { endpointId, Int64, optional } from '../api/values.ts'
import { findsEndpoint } from '../endpoints/index.ts'
import { isShredded } from '../platform/secrets/index.ts'
import { filterInput, findsRequest } from '../requests/index.ts'
import { watchCaller } from '../streams/index.ts'
import { exportMany } from './exportMany.ts'
import { FORMAT_NAMES, FORMATS, type Format } from './formats/index.ts'
import { importRequests } from './importRequests.ts'
import { exportedHead } from './line.ts'
import { Imported } from './storeImport.ts'

const includeSecrets = optional(z.boolean()).describe(
  'Shows the values of headers with names of credentials; default masked',
)

const NDJSON = 'application/x-ndjson'
const [firstType, ...otherTypes] = [...new Set(Object.values(FORMATS).map(({ contentType }) => contentType))]

export const exportRoutes = router({
  export: get('/api/v1/endpoints/{endpointId}/requests/{requestId}/export', {
    summary: 'Export a captured request as a command, a program, a HAR file or the raw message',
    description: `\`format\` is one of ${Object.entries(FORMATS)
      .map(([name, { about }]) => `\`${name}\` (${about})`)
      .join(', ')}. The programs send it to the capture URL again.`,
    input: z.object({
      endpointId,
      requestId: Int64.describe('Id of the captured request'),
      format: z.enum(FORMAT_NAMES),
      includeSecrets,
    }),
    output: Download,
    media: { gives: [firstType ?? 'text/plain', ...otherTypes] },
    errors: ['shredded'],
    finds: findsRequest,
  }).query(({ ctx, input }) => {
    // An export without content would send another request than the one captured.
    if (isShredded(ctx.request)) throw shredded()
    const format: Format = FORMATS[input.format]
    const head = exportedHead(ctx.request, {
      captureId: ctx.endpoint.captureId,
      urls: ctx.urls,
      includeSecrets: input.includeSecrets ?? false,
    })
    const written = format.write({ ...head, body: ctx.request.body })
    const encoding = typeof written === 'string' ? 'utf8' : 'base64'
    return {
      contentType: format.contentType,
      fileName: `request-${ctx.request.id}.${format.extension}`,
      content: typeof written === 'string' ? written : Buffer.from(written).toString('base64'),
      encoding,
    } as const
  }),
})

/** Transfers of any size, which `/trpc` cannot carry. */
export const transferRoutes = router({
  exportMany: get('/api/v1/endpoints/{endpointId}/requests/export', {
    summary: 'Export every matching request, oldest first, in a stream',
    description:
      'The filters of the list. `ndjson` has everything that arrived, byte for byte, and can be imported; `har` is a HAR 1.2 file. Requests that arrive during the export are left out.',
    input: z.object({
      endpointId,
      ...filterInput,
      format: optional(z.enum(['ndjson', 'har'])).describe('Default `ndjson`'),
      includeSecrets,
    }),
    output: DownloadStream,
    media: { gives: [NDJSON, 'application/json'] },
    finds: findsEndpoint,
  }).query(async ({ ctx, input }) => {
    const { endpointId: _id, format = 'ndjson', includeSecrets: whole = false, ...filters } = input
    const options = { filters, format, includeSecrets: whole, urls: ctx.urls, workspaceId: ctx.workspace.id }
    const validity = watchCaller(ctx, ctx)
    const signal = AbortSignal.any([ctx.signal, ctx.stopping, validity.signal])
    return {
      contentType: format === 'ndjson' ? NDJSON : 'application/json',
      fileName: `requests.${format}`,
      parts: await exportMany(ctx.db, ctx.endpoint, { ...options, signal, release: validity.release }),
    }
  }),

  import: post('/api/v1/endpoints/{endpointId}/requests/import', {
    summary: 'Store requests that were exported as NDJSON, with their times',
    description:
      'They are marked as `imported`, get new ids, and are never dispatched. All lines are stored or none: every line is checked before the first is stored, and the first 50 parts that are wrong are named. Imports of a workspace take turns.',
    input: z.object({ endpointId }),
    output: Imported,
    media: { takes: NDJSON },
    errors: ['limit_reached', 'concurrent_change'],
    finds: findsEndpoint,
  }).mutation(({ ctx }) => importRequests(ctx, ctx.endpoint, ctx.body ?? [])),
})
