import type { components, operations } from './schema.ts'

type Schemas = components['schemas']

/** An endpoint as the service tells it. */
export type EndpointData = Schemas['Endpoint']
/** A captured request without its body, as lists show it. */
export type CapturedRequestSummary = Schemas['CapturedRequestSummary']
/** A captured request, whole. */
export type CapturedRequest = Schemas['CapturedRequest']
/** An action, without the members that this version of the service always answers with null. */
export type Action = Omit<Schemas['Action'], 'apiRequestId' | 'apiRequestName'>
export type DeliveryAttempt = Schemas['DeliveryAttempt']
export type DeliveryAttemptDetail = Schemas['DeliveryAttemptDetail']
export type ReplayResult = Schemas['ReplayResult']
export type RuleView = Schemas['TransformationRuleView']
export type EndpointStats = Schemas['EndpointStats']
export type Watchdog = Schemas['Watchdog']
export type WatchdogSuggestion = Schemas['WatchdogSuggestion']
export type Me = Schemas['Me']
export type Problem = Schemas['Problem']

/** The JSON body of an operation. */
type BodyOf<Name extends keyof operations> = operations[Name] extends {
  requestBody?: { content: { 'application/json': infer Body } }
}
  ? Body
  : never

/** The query parameters of an operation. */
type QueryOf<Name extends keyof operations> = NonNullable<operations[Name]['parameters']['query']>

export type NewEndpoint = NonNullable<BodyOf<'endpoints_create'>>
export type EndpointChange = NonNullable<BodyOf<'endpoints_update'>>
export type NewAction = NonNullable<BodyOf<'actions_create'>>
export type ActionChange = NonNullable<BodyOf<'actions_update'>>
export type RuleDocument = NonNullable<BodyOf<'transformations_create'>>
export type NewWatchdog = NonNullable<BodyOf<'watchdogs_create'>>
export type WatchdogChange = NonNullable<BodyOf<'watchdogs_update'>>

/** Which requests a list or an await is about; all combine with AND. */
export type RequestFilters = Omit<QueryOf<'requests_list'>, 'page' | 'pageSize'>
/** Which attempts a list is about. */
export type DeliveryFilters = Omit<QueryOf<'deliveries_list'>, 'page' | 'pageSize'>

/** The ways to write one request down. */
export type ExportFormat = QueryOf<'requests_export'>['format']
/** What an import stored. */
export type ImportResult = operations['requests_import']['responses'][200]['content']['application/json']
