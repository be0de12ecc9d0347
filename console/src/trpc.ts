import type { AppRouter } from '@creel/core'
import {
  createTRPCClient,
  httpBatchLink,
  httpSubscriptionLink,
  splitLink,
  TRPCClientError,
  type TRPCClientErrorLike,
} from '@trpc/client'
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server'

/** As many calls as the service takes in one batch. */
const BATCH_MAX = 10

/** The API. Calls are signed in by the session's cookie; what a screen asks for together goes out as one batch. */
export const creel = createTRPCClient<AppRouter>({
  links: [
    splitLink({
      condition: ({ type }) => type === 'subscription',
      true: httpSubscriptionLink({ url: '/trpc' }),
      false: httpBatchLink({ url: '/trpc', maxItems: BATCH_MAX, maxURLLength: 6000 }),
    }),
  ],
})

/** What the procedures take. */
export type Inputs = inferRouterInputs<AppRouter>
/** What the procedures answer. */
export type Answers = inferRouterOutputs<AppRouter>
/** A captured request, as lists show it. */
export type RequestSummary = Answers['requests']['list']['items'][number]
/** A captured request, whole. */
export type RequestDetail = Answers['requests']['get']
/** An endpoint. */
export type Endpoint = Answers['endpoints']['list']['items'][number]
/** An attempt at a delivery. */
export type Attempt = Answers['deliveries']['list']['items'][number]
/** An attempt with what was sent and received. */
export type AttemptDetail = Answers['deliveries']['get']
/** An action of an endpoint. */
export type Action = Answers['actions']['list']['actions'][number]
/** A provider of the catalog. */
export type Provider = Answers['providers']['list']['items'][number]

/** Whether this is a refusal of the API, or of the way to it. */
export function isCallError(error: unknown): error is TRPCClientErrorLike<AppRouter> {
  return error instanceof TRPCClientError
}

/** The HTTP status of a refusal; undefined when nothing answered. */
export function statusOf(error: unknown): number | undefined {
  return isCallError(error) ? error.data?.httpStatus : undefined
}
