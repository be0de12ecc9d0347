import { beforeAll, describe, expect, test } from 'bun:test'
import type { AppRouter } from '@creel/core'
import {
  createTRPCClient,
  httpBatchStreamLink,
  httpSubscriptionLink,
  splitLink,
  TRPCClientError,
} from '@trpc/client'
import { EventSource } from 'eventsource'
import type { Client } from '../support/client.ts'
import { openEvents } from '../support/eventReader.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService

beforeAll(async () => {
  service = await startService({ parts: ['gateway'] })
})

/** A client with tRPC's standard links, as a page would use them. */
function typedClient({ baseUrl, key }: Client) {
  const url = `${baseUrl}/trpc`
  const headers = { Authorization: `Bearer ${key}` }
  return createTRPCClient<AppRouter>({
    links: [
      splitLink({
        condition: ({ type }) => type === 'subscription',
        true: httpSubscriptionLink({
          url,
          EventSource,
          eventSourceOptions: {
            fetch: (to, init) => fetch(to, { ...init, headers: { ...init.headers, ...headers } }),
          },
        }),
        false: httpBatchStreamLink({ url, headers }),
      }),
    ],
  })
}

/** Follows an endpoint and collects its events. */
function follow(client: Client, endpointId: string) {
  const began = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<unknown>()
  const ids: number[] = []
  const eventIds: string[] = []
  let heard = Promise.withResolvers<void>()
  const subscription = typedClient(client).requests.follow.subscribe(
    { endpointId },
    {
      onStarted: () => began.resolve(),
      onData: ({ id, data }) => {
        eventIds.push(id)
        if (data.kind === 'arrived') ids.push(...data.requests.map((request) => request.id))
        heard.resolve()
        heard = Promise.withResolvers()
      },
      onError: (error) => ended.resolve(error),
      onComplete: () => ended.resolve(undefined),
    },
  )
  return {
    began: began.promise,
    ended: ended.promise,
    ids,
    eventIds,
    stop: () => subscription.unsubscribe(),
    async until(count: number) {
      while (ids.length < count) await heard.promise
    },
  }
}

describe('@trpc/client against /trpc', () => {
  test('httpBatchStreamLink answers each call of a batch', async () => {
    const creel = typedClient(service.alice)
    const [me, endpoints, refused] = await Promise.allSettled([
      creel.me.get.query({}),
      creel.endpoints.list.query({}),
      creel.endpoints.get.query({ endpointId: 'none' }),
    ])
    expect(me).toMatchObject({ value: { plan: { key: 'team' } } })
    expect(endpoints).toMatchObject({ value: { page: 1 } })
    expect(refused).toMatchObject({
      status: 'rejected',
      reason: { data: { problem: { code: 'not_found' } } },
    })
  })

  test('httpSubscriptionLink follows an endpoint with the ids that it resumes by', async () => {
    const endpoint = await service.alice.endpoint()
    const following = follow(service.alice, endpoint.id)
    await following.began
    const captured = await endpoint.captureMany(3)
    await following.until(3)
    following.stop()
    expect(following.ids).toEqual(captured.map(({ id }) => id))
    expect(following.eventIds.at(-1)).toBe(String(captured.at(-1)?.id))
  })

  test('a refusal before the first event is the problem of a route', async () => {
    const foreign = await service.charlie.endpoint()
    const error = await follow(service.alice, foreign.id).ended
    expect(error).toBeInstanceOf(TRPCClientError)
    expect(error).toMatchObject({ data: { httpStatus: 404, problem: { code: 'not_found' } } })
  })

  test('a revoked key ends its streams within 6 s, and says why', async () => {
    const client = await service.newClient()
    const endpoint = await client.endpoint()
    const following = follow(client, endpoint.id)
    await following.began
    await using rest = await openEvents(client, endpoint.at('/requests/stream'))
    const askedAt = performance.now()
    await client.get('/api/v1/me')
    const callMs = performance.now() - askedAt
    const startedAt = performance.now()
    const [key] = await service.operator.keys.list({ workspace: client.workspaceId })
    await service.operator.keys.revoke({ workspace: client.workspaceId, key: key?.id ?? '' })
    expect(await following.ended).toMatchObject({ data: { problem: { code: 'unauthorized', status: 401 } } })
    expect(await rest.next()).toBeUndefined()
    // Five seconds, and the duration of a query on this machine.
    expect(performance.now() - startedAt).toBeLessThan(5_000 + Math.max(1_000, 100 * callMs))
  })
})
