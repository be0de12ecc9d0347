import { z } from 'zod'

/*
 * What commands read of the API's answers. Members that are not listed are passed on as they came, so that `--json` shows
 * everything that a newer service says.
 */

/** An RFC 9457 problem of the API. */
export const Problem = z.looseObject({
  code: z.string(),
  detail: z.string(),
  traceId: z.string().optional(),
  errors: z
    .array(
      z.looseObject({ detail: z.string(), pointer: z.string().nullish(), parameter: z.string().nullish() }),
    )
    .optional(),
})

/** A page of a list. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.looseObject({ items: z.array(item), totalCount: z.int(), totalPages: z.int() })

export const Me = z.looseObject({
  key: z.looseObject({ prefix: z.string(), name: z.string() }),
  workspace: z.looseObject({ name: z.string() }),
  plan: z.looseObject({ displayName: z.string() }),
})

export const Endpoint = z.looseObject({
  id: z.string(),
  name: z.string(),
  url: z.string(),
  isActive: z.boolean(),
  createdAt: z.string(),
  lastRequestAt: z.string().nullable(),
  storedRequestCount: z.int(),
  provider: z.string().nullable(),
})
export type Endpoint = z.infer<typeof Endpoint>

const summary = {
  id: z.int(),
  endpointId: z.string(),
  receivedAt: z.string(),
  method: z.string(),
  path: z.string(),
  contentType: z.string().nullable(),
  sizeBytes: z.int(),
  ip: z.string().nullable(),
  label: z.string().nullable(),
  bodyTruncated: z.boolean(),
  bodyIsBinary: z.boolean(),
  verification: z.looseObject({ verdict: z.string(), note: z.string() }).nullable(),
  state: z.string(),
  attemptCount: z.int(),
}

export const RequestSummary = z.looseObject(summary)
export type RequestSummary = z.infer<typeof RequestSummary>

export const RequestDetail = z.looseObject({
  ...summary,
  url: z.string(),
  queryString: z.string().nullable(),
  rawHeaders: z.array(z.looseObject({ name: z.string(), value: z.string() })),
  body: z.string().nullable(),
})
export type RequestDetail = z.infer<typeof RequestDetail>

export const Attempt = z.looseObject({
  id: z.int(),
  requestId: z.int(),
  actionName: z.string(),
  kind: z.string(),
  state: z.string(),
  statusCode: z.int().nullable(),
  error: z.string().nullable(),
  url: z.string(),
  at: z.string(),
  durationMs: z.int().nullable(),
  attemptNumber: z.int(),
})
export type Attempt = z.infer<typeof Attempt>

export const Action = z.looseObject({
  id: z.string(),
  name: z.string(),
  kind: z.string(),
  isActive: z.boolean(),
})

export const ActionList = z.looseObject({ actions: z.array(Action) })

const ReplayOutcome = z.looseObject({
  actionName: z.string(),
  kind: z.string(),
  state: z.string(),
  statusCode: z.int().nullable(),
  error: z.string().nullable(),
  url: z.string().nullable(),
  durationMs: z.int().nullable(),
})

export const ReplayResult = z.looseObject({
  requestId: z.int(),
  state: z.string(),
  outcomes: z.array(ReplayOutcome),
  listenerCount: z.int().optional(),
})

export const Watchdog = z.looseObject({
  id: z.string(),
  name: z.string(),
  endpointName: z.string(),
  state: z.string(),
  expectedIntervalSeconds: z.int(),
  graceSeconds: z.int(),
  lastMatchedAt: z.string().nullable(),
  dueAt: z.string().nullable(),
})

export const SampleList = z.looseObject({
  items: z.array(
    z.looseObject({
      provider: z.string(),
      events: z.array(z.looseObject({ event: z.string(), summary: z.string() })),
    }),
  ),
})

export const SentSample = z.looseObject({
  requestId: z.int(),
  provider: z.string(),
  event: z.string(),
  signed: z.boolean(),
})
