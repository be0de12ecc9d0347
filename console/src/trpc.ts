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
import { readJson } from './json.ts'
import { watched } from './outage.ts'

/** Limit of calls in one batch. */
const BATCH_MAX = 10

/** Client of the API. The session's cookie authenticates its calls. Calls of one render are sent as one batch. */
export const creel = createTRPCClient<AppRouter>({
  links: [
    splitLink({
      condition: ({ type }) => type === 'subscription',
      true: httpSubscriptionLink({ url: '/trpc' }),
      false: httpBatchLink({
        url: '/trpc',
        maxItems: BATCH_MAX,
        maxURLLength: 6000,
        fetch: async (url, init) => {
          const answer = await watched(() => fetch(url, { ...init, signal: init?.signal ?? null }))
          return Object.assign(answer, { json: async () => readJson(await answer.text()) })
        },
      }),
    }),
  ],
})

export type Inputs = inferRouterInputs<AppRouter>
export type Answers = inferRouterOutputs<AppRouter>
export type RequestSummary = Answers['requests']['list']['items'][number]
export type RequestDetail = Answers['requests']['get']
export type Endpoint = Answers['endpoints']['list']['items'][number]
export type Attempt = Answers['deliveries']['list']['items'][number]
export type AttemptDetail = Answers['deliveries']['get']
export type Action = Answers['actions']['list']['actions'][number]
export type Provider = Answers['providers']['list']['items'][number]

/** Whether this is an error of a call, from the API or from the network. */
export function isCallError(error: unknown): error is TRPCClientErrorLike<AppRouter> {
  return error instanceof TRPCClientError
}

/** The HTTP status of a refusal; undefined if there was no answer. */
export function statusOf(error: unknown): number | undefined {
  return isCallError(error) ? error.data?.httpStatus : undefined
}

/** Whether a call that failed so may succeed later. */
export function mayPass(error: unknown): boolean {
  const status = statusOf(error)
  return status === undefined || status === 429 || status >= 500
}

/** The longest wait that a 429 may ask for. */
const RETRY_AFTER_MS_MAX = 60_000

/** The wait that the service asked for of a call over its budget; undefined if none. */
export function retryAfterMs(error: unknown): number | undefined {
  if (statusOf(error) !== 429) return undefined
  const response = isCallError(error) && 'meta' in error ? error.meta : undefined
  if (typeof response !== 'object' || response === null || !('response' in response)) return undefined
  const seconds =
    response.response instanceof Response ? Number(response.response.headers.get('retry-after')) : Number.NaN
  return seconds > 0 ? Math.min(RETRY_AFTER_MS_MAX, seconds * 1000) : undefined
}
