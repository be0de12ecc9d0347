import { ROUTES, type Route } from '@creel/core'
import { z } from 'zod'
import type { Client } from './client.ts'
import { anHourAgo } from './clock.ts'
import { startEcho } from './echo.ts'

/** One of everything in a workspace, so that every route has an id for its path. */
export interface World {
  readonly client: Client
  /** The value of each path parameter, by the name that `placeholdersOf` gives it. */
  readonly ids: Readonly<Record<string, string>>
}

const Named = z.looseObject({ name: z.string() })
const WithId = z.looseObject({ id: z.union([z.string(), z.int()]) })

/** Fills a workspace through the API. Sends go to a closed port. */
export async function makeWorld(client: Client): Promise<World> {
  const made = async (path: string, body: unknown) =>
    String((await client.expect(client.post(path, body), WithId)).id)
  const endpoint = await client.endpoint({ name: 'world' })
  const [request, binned] = await endpoint.captureMany(2, { body: '{"type":"thing.made","amount":1}' })
  if (request === undefined || binned === undefined) throw new Error('Nothing was captured.')
  await client.delete(endpoint.at(`/requests/${binned.id}`))
  const ids: Record<string, string> = {
    endpointId: endpoint.id,
    requestId: String(request.id),
    n: '1',
    // A spare key, which random calls may revoke.
    keyId: await made('/api/v1/keys', { name: 'spare' }),
  }
  ids.watchdogId = await made('/api/v1/watchdogs', { endpointId: endpoint.id, expectedIntervalSeconds: 3600 })
  ids.alertChannelId = await made('/api/v1/alert-channels', {
    kind: 'webhook',
    name: 'nobody',
    settings: { url: 'http://127.0.0.1:9/alerts' },
    events: [],
  })
  ids.actionId = await made(endpoint.at('/actions'), { kind: 'forward', url: 'http://127.0.0.1:9/hooks' })
  if (has('transformations.create')) {
    ids.ruleId = await made(endpoint.at('/transformations'), {
      version: 1,
      name: 'Slim',
      steps: [{ op: 'remove', paths: ['body.amount'] }],
    })
  }
  if (has('erasures.start')) {
    ids.erasureId = await made('/api/v1/erasures', { value: 'nothing of the world', dryRun: true })
  }
  if (has('reconcile.start')) {
    await client.patch(endpoint.at(''), { provider: 'stripe' })
    ids.reconciliationId = await made(endpoint.at('/reconcile'), {
      credentials: { apiKey: 'rk_test_world' },
      since: anHourAgo(),
    })
    await client.patch(endpoint.at(''), { provider: '' })
  }
  if (has('replays.start')) {
    const started = client.post(endpoint.at('/replays'), {
      select: { requestIds: [request.id] },
      to: { listeners: true },
    })
    const { replay } = await client.expect(started, z.looseObject({ replay: WithId }))
    ids.replayId = String(replay.id)
  }
  if (has('subscriptions.create')) {
    const Types = z.looseObject({ events: z.tuple([Named], Named) })
    const { events } = await client.expect(client.get('/api/v1/events/types'), Types)
    await using callback = await startEcho()
    const secret = `whsec_${'c2VjcmV0'.repeat(4)}`
    ids.subscriptionId = await made('/api/v1/subscriptions', {
      name: events[0].name,
      delivery: { mode: 'webhook', url: callback.url, secret },
    })
  }
  if (has('shareLinks.create'))
    ids.shareLinkId = await made(endpoint.at(`/requests/${request.id}/share-links`), {})
  if (has('requests.replay')) await client.post(endpoint.at(`/requests/${request.id}/replay`))
  if (has('deliveries.list')) {
    const page = z.looseObject({ items: z.tuple([WithId], WithId) })
    const { items } = await client.expect(client.get(endpoint.at('/deliveries')), page)
    ids.attemptId = String(items[0].id)
  }
  return { client, ids }
}

const has = (name: string) => ROUTES.some((route) => route.name === name)

/** The kinds of id in a path; that of `{id}` depends on the collection before it. */
export function placeholdersOf(route: Pick<Route, 'path'>): readonly string[] {
  const noun = route.path.includes('/watchdogs/') ? 'watchdogId' : 'alertChannelId'
  return [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => (match[1] === 'id' ? noun : (match[1] ?? '')))
}

/** The path with its parameters filled in. */
export function pathOf(route: Pick<Route, 'method' | 'path'>, ids: Readonly<Record<string, string>>): string {
  const names = placeholdersOf(route)
  let at = 0
  return route.path.replaceAll(/\{\w+\}/g, () => {
    const name = names[at++] ?? ''
    const id = ids[name]
    if (id === undefined) throw new Error(`The world has no ${name}, for ${route.method} ${route.path}.`)
    return id
  })
}
