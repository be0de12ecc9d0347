export type { Call, CallAnswer, CallInput, CallRoute, Stream } from './call.ts'
export type { Calls, Streams } from './calls.ts'
export { type Creel, createCreel, type Endpoints, type Watchdogs } from './creel.ts'
export type { Actions, Deliveries, Endpoint, Rules } from './endpoint.ts'
export { CreelError, type ErrorCode, type ProblemItem } from './error.ts'
export type { FeedEvent, StreamEvent } from './events.ts'
export type { StreamOptions, WholeStreamOptions } from './follow.ts'
export { itemsByIdOf, itemsOf } from './paging.ts'
export type { AwaitOptions, Requests } from './requests.ts'
export type { Link } from './resumed.ts'
export type { components, operations, paths } from './schema.ts'
export {
  type Backoff,
  backoffMs,
  type CallOptions,
  CONNECTION_FIELDS,
  type CreelOptions,
  type RawApi,
  type Refused,
  type Sending,
} from './transport.ts'

export type * from './types.ts'
