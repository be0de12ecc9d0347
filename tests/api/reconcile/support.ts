import { z } from 'zod'
import type { TestEndpoint } from '../../support/client.ts'
import { eventually } from '../../support/eventually.ts'
import { type GithubApi, startGithubApi } from '../../support/githubApi.ts'
import { startService, type TestService, type TestServiceOptions } from '../../support/service.ts'
import { type StripeApi, startStripeApi } from '../../support/stripeApi.ts'

/** A run, as the API shows it. */
export const Run = z.looseObject({
  id: z.string(),
  state: z.string(),
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
  missingTypes: z.array(z.object({ type: z.string(), count: z.int() })),
  error: z.looseObject({ code: z.string(), detail: z.string() }).nullable(),
})

/** Events of the large runs, and those that never came. `CREEL_RECONCILE_EVENTS` makes a larger run: 10,000, for example. */
export const LISTED = Number(process.env.CREEL_RECONCILE_EVENTS ?? 1_500)
export const DROPPED = LISTED / 100
const SENDERS = 32

const HOUR_MS = 3_600_000

/** The time so many hours before now. */
export const hoursAgo = (hours: number) => new Date(Date.now() - hours * HOUR_MS)

/** A service between stand-ins of the senders' APIs. */
export interface Senders {
  readonly service: TestService
  readonly stripe: StripeApi
  readonly github: GithubApi
  /** Inputs that start a run for each sender, over the last three days. */
  stripeOrder(members?: object): object
  githubOrder(members?: object): object
}

/** Starts a service whose senders' APIs are stand-ins. */
export async function startSenders(
  start: (options: TestServiceOptions) => Promise<TestService> = startService,
): Promise<Senders> {
  const stripe = await startStripeApi()
  const github = await startGithubApi()
  const service = await start({
    limits: {
      apiRatePerMinute: 100_000,
      endpointsMax: 1_000,
      captureRatePerMinute: 1_000_000,
      storedRequestsMax: 50_000,
    },
    planLimits: { pro: { captureRatePerMinute: 40 } },
    providerApiUrls: { stripe: stripe.url, github: github.url },
  })
  const since = () => hoursAgo(72).toISOString()
  return {
    service,
    stripe,
    github,
    stripeOrder: (members = {}) => ({ credentials: { apiKey: stripe.apiKey }, since: since(), ...members }),
    githubOrder: (members = {}) => ({
      credentials: { token: github.token, hookUrl: github.hookUrl },
      since: since(),
      ...members,
    }),
  }
}

/** Starts a run. */
export const startRun = (endpoint: TestEndpoint, order: object) =>
  endpoint.client.expect(endpoint.client.post(endpoint.at('/reconcile'), order), Run)

/** Waits for the end of a run. */
export const ended = (endpoint: TestEndpoint, id: string) =>
  eventually('the end of the run', async () => {
    const run = await endpoint.client.expect(endpoint.client.get(endpoint.at(`/reconcile/${id}`)), Run)
    return run.state === 'done' || run.state === 'failed' ? run : undefined
  })

/** Makes a run and waits for its end. */
export const reconciled = async (endpoint: TestEndpoint, order: object) =>
  await ended(endpoint, (await startRun(endpoint, order)).id)

/** How often each event id was captured. */
export async function capturesOf({ db }: TestService, { id }: TestEndpoint): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('requests')
    .where('endpointId', '=', id)
    .select((of) => ['eventId', of.fn.countAll<number>().as('count')])
    .groupBy('eventId')
    .execute()
  return new Map(rows.map(({ eventId, count }) => [eventId ?? '', count]))
}

/** Sends each, several at a time. */
export async function sendAll<Item>(
  items: readonly Item[],
  send: (item: Item) => Promise<Response>,
): Promise<void> {
  let next = 0
  const sender = async () => {
    for (;;) {
      const item = items[next]
      next += 1
      if (item === undefined) return
      const response = await send(item)
      await response.body?.cancel()
    }
  }
  await Promise.all(Array.from({ length: SENDERS }, sender))
}

/** Every hundredth of the list is dropped, all over the list. */
export const isDropped = (_item: unknown, index: number) => index % (LISTED / DROPPED) === 41
