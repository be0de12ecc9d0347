import type { components, operations } from './schema.ts'

type Schemas = components['schemas']

/** An endpoint with its settings and counts. */
export type EndpointData = Schemas['Endpoint']
/** A captured request without its body, as lists show it. */
export type CapturedRequestSummary = Schemas['CapturedRequestSummary']
/** A captured request as a stream sends it with `whole` or `listener`: with target, headers and body. */
export type WholeRequest = Schemas['WholeRequest']
export type CapturedRequest = Schemas['CapturedRequest']
/** An action, without the members that this version of the service always answers with null. */
export type Action = Omit<Schemas['Action'], 'apiRequestId' | 'apiRequestName'>
/** One attempt at a delivery, as lists show it. `error` is null, or starts with a stable word like `timeout`. */
export type DeliveryAttempt = Schemas['DeliveryAttempt']
/** An attempt with what was sent and received; of bodies longer than 256 KB only the beginning is kept. */
export type DeliveryAttemptDetail = Schemas['DeliveryAttemptDetail']
/** Result of a replay, with an outcome for each action in their order. */
export type ReplayResult = Schemas['ReplayResult']
/** A stored transformation rule with its version, its place in the order and whether it is switched on. */
export type RuleView = Schemas['TransformationRuleView']
/** Storage, traffic and backlog of an endpoint, in counts and bytes. */
export type EndpointStats = Schemas['EndpointStats']
/** A watchdog and its state; interval and grace are in seconds. */
export type Watchdog = Schemas['Watchdog']
/** Interval and grace in seconds, from past captures; both null, with a `reason`, where there are too few. */
export type WatchdogSuggestion = Schemas['WatchdogSuggestion']
/** The key in use, by its displayable prefix, with its workspace, plan and limits. */
export type Me = Schemas['Me']
/** Why a call was refused (RFC 9457). `code` is stable within v1; `detail` may be reworded. */
export type Problem = Schemas['Problem']

type BodyOf<Name extends keyof operations> = operations[Name] extends {
  requestBody?: { content: { 'application/json': infer Body } }
}
  ? Body
  : never

type QueryOf<Name extends keyof operations> = NonNullable<operations[Name]['parameters']['query']>

/** The settings of a new endpoint; an absent or null member takes its default. */
export type NewEndpoint = NonNullable<BodyOf<'endpoints_create'>>
/** Settings to change; absent and null members stay as they are, `""` and `{}` clear. */
export type EndpointChange = NonNullable<BodyOf<'endpoints_update'>>
/** The settings of a new action. `kind` is required and fixed from then on; positions count from 1. */
export type NewAction = NonNullable<BodyOf<'actions_create'>>
/** Settings to change; absent and null members stay as they are. `kind` cannot change. */
export type ActionChange = NonNullable<BodyOf<'actions_update'>>
/** A rule as it is written: the steps to take, and a condition for them if they are not for every delivery. */
export type RuleDocument = NonNullable<BodyOf<'transformations_create'>>
/**
 * The settings of a new watchdog. The interval is 1 second to 31 days; grace defaults to a fifth of it, at least 60 s.
 */
export type NewWatchdog = NonNullable<BodyOf<'watchdogs_create'>>
/** Settings to change; absent and null members stay as they are. The endpoint cannot change. */
export type WatchdogChange = NonNullable<BodyOf<'watchdogs_update'>>

/** Filters of requests for lists and awaits. They combine with AND. */
export type RequestFilters = Omit<
  QueryOf<'requests_list'>,
  'page' | 'pageSize' | 'before' | 'after' | 'partial'
>
/** Filters of attempts. They combine with AND. */
export type DeliveryFilters = Omit<QueryOf<'deliveries_list'>, 'page' | 'pageSize' | 'before' | 'after'>

/** Formats in which one request can be exported. */
export type ExportFormat = QueryOf<'requests_export'>['format']
/** Result of an import: the stored requests. */
export type ImportResult = operations['requests_import']['responses'][200]['content']['application/json']
