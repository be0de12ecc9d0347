import { z } from 'zod'

/*
 * The members of the API's answers that commands read. Members that are not listed are kept unchanged, so that `--json`
 * shows everything that a newer service returns.
 */

/** An id for use in paths: a UUID, or another word that needs no escaping in URLs. */
const Id = z.string().regex(/^[\w-]{1,64}$/)

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

/**
 * A page of a list. `next` is the cursor of the next page, and `search` says how far a search came. Services before 0.2.0 give neither.
 */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.looseObject({
    items: z.array(item),
    totalCount: z.int(),
    totalPages: z.int(),
    next: z.string().nullish(),
    search: z.looseObject({ complete: z.boolean() }).nullish(),
  })

/** The key in use, by its displayable prefix and its name, with its workspace and plan. */
export const Me = z.looseObject({
  key: z.looseObject({
    prefix: z.string(),
    name: z.string(),
    scope: z.string().optional(),
    endpointId: z.string().nullish(),
    expiresAt: z.string().nullish(),
  }),
  workspace: z.looseObject({ name: z.string() }),
  plan: z.looseObject({ displayName: z.string() }),
})

/**
 * An endpoint. Times are ISO 8601; `lastRequestAt` is null before its first capture, `provider` is null if none is set.
 */
export const Endpoint = z.looseObject({
  id: Id,
  name: z.string(),
  url: z.string(),
  isActive: z.boolean(),
  createdAt: z.string(),
  lastRequestAt: z.string().nullable(),
  storedRequestCount: z.int(),
  provider: z.string().nullable(),
})
/** A validated endpoint, with unlisted members unchanged. */
export type Endpoint = z.infer<typeof Endpoint>

const summary = {
  id: z.int(),
  endpointId: Id,
  receivedAt: z.string(),
  method: z.string(),
  path: z.string(),
  contentType: z.string().nullable(),
  sizeBytes: z.int(),
  ip: z.string().nullable(),
  label: z.string().nullable(),
  /** Older services return neither event ids nor sender attempts nor duplicates. */
  eventId: z.string().nullable().default(null),
  senderAttempt: z.int().nullable().default(null),
  duplicateOf: z.int().nullable().default(null),
  bodyTruncated: z.boolean(),
  bodyIsBinary: z.boolean(),
  verification: z.looseObject({ verdict: z.string(), note: z.string() }).nullable(),
  state: z.string(),
  attemptCount: z.int(),
}

/** A captured request without headers and body, as lists show it. Times are ISO 8601, sizes bytes. */
export const RequestSummary = z.looseObject(summary)
/** A validated request of a list, with unlisted members unchanged. */
export type RequestSummary = z.infer<typeof RequestSummary>

/**
 * A captured request with headers in the order received. `body` is text, or base64 when `bodyIsBinary`; null when
 * empty.
 */
export const RequestDetail = z.looseObject({
  ...summary,
  url: z.string(),
  queryString: z.string().nullable(),
  rawHeaders: z.array(
    z.looseObject({ name: z.string(), value: z.string(), encoding: z.literal('latin1').optional() }),
  ),
  body: z.string().nullable(),
})
/** A validated request, with unlisted members unchanged. */
export type RequestDetail = z.infer<typeof RequestDetail>

/** One attempt at a delivery; `durationMs` is in milliseconds. Members are null when they do not apply, or not yet. */
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
/** A validated attempt, with unlisted members unchanged. */
export type Attempt = z.infer<typeof Attempt>

/** An action of an endpoint, by id and name; `kind` may be unknown to this version. */
export const Action = z.looseObject({
  id: Id,
  name: z.string(),
  kind: z.string(),
  isActive: z.boolean(),
})

/** All actions of an endpoint; this list has no pages. */
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

/** Result of a replay, one outcome per action. Only replays to listeners have a `listenerCount`. */
export const ReplayResult = z.looseObject({
  requestId: z.int(),
  state: z.string(),
  outcomes: z.array(ReplayOutcome),
  listenerCount: z.int().optional(),
})

/**
 * A watchdog; interval and grace are in seconds, times ISO 8601. `lastMatchedAt` is null until a capture has matched.
 */
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

/** The sample events that the service can send, by provider. */
export const SampleList = z.looseObject({
  items: z.array(
    z.looseObject({
      provider: z.string(),
      events: z.array(z.looseObject({ event: z.string(), summary: z.string() })),
    }),
  ),
})

/** The capture of a sent sample. `signed` is false without a secret, or if only the provider can sign. */
export const SentSample = z.looseObject({
  requestId: z.int(),
  provider: z.string(),
  event: z.string(),
  signed: z.boolean(),
})

/** A link that signs a browser in, once. */
export const SignInLink = z.looseObject({ url: z.string() })

/** The provider catalog. `verification` is null for providers that do not sign. */
export const ProviderList = z.looseObject({
  items: z.array(
    z.looseObject({
      slug: z.string(),
      name: z.string(),
      handshake: z.string().optional(),
      verification: z
        .looseObject({ supported: z.boolean(), scheme: z.string(), secretLabel: z.string().nullable() })
        .nullable(),
    }),
  ),
})

/** Result of a deletion: the number of requests moved to the recycle bin. */
export const Deleted = z.looseObject({ deletedCount: z.int() })

/** A run that compares captures with the list of their sender. */
export const Reconciliation = z.looseObject({
  id: Id,
  state: z.string(),
  dryRun: z.boolean(),
  complete: z.boolean(),
  counts: z.looseObject({
    listed: z.int(),
    found: z.int(),
    missing: z.int(),
    tooOld: z.int(),
    redelivered: z.int(),
    captured: z.int(),
    refused: z.int(),
    outstanding: z.int().nullable(),
  }),
  missingTypes: z.array(z.looseObject({ type: z.string(), count: z.int() })),
  error: z.looseObject({ code: z.string(), detail: z.string() }).nullable(),
})
/** A reconciliation that passed the check of its schema, with unlisted members as they came. */
export type Reconciliation = z.infer<typeof Reconciliation>
