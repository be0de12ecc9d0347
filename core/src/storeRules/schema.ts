import { z } from 'zod'
import { byName, endpointId } from '../api/values.ts'
import { DropHeaders, StoreRulesInput } from '../endpoints/index.ts'
import { previewedRequestInput } from '../transformations/index.ts'

/** Input of the preview: settings to try, and a request to try them on. */
export const previewInput = z.object({
  endpointId,
  storeRules: StoreRulesInput.nullish().describe('Default: those of the endpoint'),
  dropHeaders: DropHeaders.nullish().describe('Default: those of the endpoint'),
  ...previewedRequestInput,
})

export const StoringPreview = z
  .object({
    redacted: z.boolean().describe('Whether something is taken out'),
    redactedPaths: z.array(z.string()),
    redactionFault: z.string().nullable().describe('The rule that faulted: only a trace would be stored'),
    warnings: z
      .array(z.string())
      .describe('What reads a value that is taken out: conditions, orders, event ids, columns'),
    stored: z.object({
      method: z.string(),
      path: z.string(),
      queryString: z.string().nullable(),
      headers: byName(z.string()),
      contentType: z.string().nullable(),
      body: z.string().nullable(),
      bodyIsBinary: z.boolean().describe('Then `body` is base64'),
      ip: z.string().nullable(),
      label: z.string().nullable(),
      eventId: z.string().nullable(),
    }),
  })
  .meta({ id: 'StoringPreview' })
