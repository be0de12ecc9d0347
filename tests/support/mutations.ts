import type { Db } from '@creel/core'
import { z } from 'zod'
import type { TestBrowser } from './browser.ts'
import type { Client } from './client.ts'
import { anHourAgo } from './clock.ts'
import { startEcho } from './echo.ts'
import { openEvents } from './eventReader.ts'
import { eventually } from './eventually.ts'
import type { World } from './world.ts'

/** Calls of every mutation of the API, for tests that walk them all. */

/** Mutations without an entry of the audit log, with the reason. */
export const WITHOUT_ENTRY: Readonly<Record<string, string>> = {
  'requests.replay': 'its attempts are its record',
  'requests.bulkReplay': 'its attempts are its record',
  'requests.send': 'its attempt is its record',
  'deliveries.retryNow': 'its attempt is its record',
  'deliveries.report': 'the attempt is the record',
  'samples.send': 'the capture is its record',
  'alertChannels.test': 'the history of sends has it',
  'endpoints.previewResponses': 'changes nothing',
  'endpoints.previewStoring': 'changes nothing',
  'transformations.preview': 'changes nothing',
  'transformations.previewSet': 'changes nothing',
  'events.poll': 'changes nothing',
  'replays.take': 'its results are its record',
  'replays.answer': 'its results are its record',
  'conditions.try': 'changes nothing',
  'verification.try': 'changes nothing',
}

/** A secret in many of the calls. */
export const SECRET = 'whsec-0123456789abcdef'
const RULE = { version: 1, name: 'r', steps: [{ op: 'remove', paths: ['body.x'] }] }

/** A world to change. */
export interface Bench extends World {
  readonly db: Db
  /** Signs a browser in as the owner of the workspace. */
  readonly owner: () => Promise<TestBrowser>
}

interface Step {
  /** Name of its entry of the audit log, if that differs from the name of the procedure. */
  readonly leaves?: string
  readonly run: (bench: Bench) => Promise<unknown>
}

const at = ({ ids }: World, path = '') => `/api/v1/endpoints/${ids.endpointId}${path}`
const idOf = async (client: Client, path: string, body: unknown) =>
  (await client.expect(client.post(path, body), z.looseObject({ id: z.string() }))).id

const Named = z.looseObject({ name: z.string() })

async function typeOf(client: Client): Promise<string> {
  const Types = z.looseObject({ events: z.tuple([Named], Named) })
  return (await client.expect(client.get('/api/v1/events/types'), Types)).events[0].name
}

async function subscribeTo(client: Client, url: string) {
  const secret = `whsec_${Buffer.from(SECRET.repeat(2)).toString('base64')}`
  const delivery = { mode: 'webhook', url, secret }
  return await client.post('/api/v1/subscriptions', { name: await typeOf(client), delivery })
}

/** Lets the first attempt of a delivery fail. */
async function failOnce(bench: Bench) {
  const { client, ids } = bench
  const members = { kind: 'forward', url: 'http://127.0.0.1:9/held', name: 'held' }
  const actionId = await idOf(client, at(bench, '/actions'), members)
  const Page = z.looseObject({ items: z.array(z.looseObject({ id: z.int(), state: z.string() })) })
  await fetch(`${client.captureUrl}/hook/${ids.endpointId}`, { method: 'POST', body: '{}' })
  const attempt = await eventually('an attempt that failed', async () => {
    const { items } = await client.expect(client.get(at(bench, `/deliveries?actionId=${actionId}`)), Page)
    return items.find(({ state }) => state === 'Errored')
  })
  return { actionId, attemptId: attempt.id }
}

/** One call of each mutation that leaves an entry. */
export const STEPS: Readonly<Record<string, Step>> = {
  'endpoints.create': { run: ({ client }) => client.post('/api/v1/endpoints', { name: 'x' }) },
  'endpoints.update': {
    run: (world) =>
      world.client.patch(at(world), { name: 'renamed', provider: 'stripe', signingSecret: SECRET }),
  },
  'endpoints.shred': {
    run: (world) => world.client.post(at(world, '/shred')),
  },
  'endpoints.resetResponses': {
    run: async (world) => {
      await world.client.patch(at(world), { responses: [{ status: 500, times: 1 }] })
      await fetch(`${world.client.captureUrl}/hook/${world.ids.endpointId}`, { method: 'POST' })
      await world.client.post(at(world, '/responses/reset'))
    },
  },
  'erasures.start': {
    run: ({ client }) => client.post('/api/v1/erasures', { value: 'ada@example.com', dryRun: true }),
  },
  'endpoints.rotateUrl': { run: (world) => world.client.post(at(world, '/rotate-url'), {}) },
  'replays.start': {
    run: (world) =>
      world.client.post(at(world, '/replays'), {
        select: { requestIds: [Number(world.ids.requestId)] },
        to: { listeners: true },
      }),
  },
  'replays.pause': { run: (world) => world.client.post(at(world, `/replays/${world.ids.replayId}/pause`)) },
  'replays.resume': { run: (world) => world.client.post(at(world, `/replays/${world.ids.replayId}/resume`)) },
  'replays.cancel': { run: (world) => world.client.post(at(world, `/replays/${world.ids.replayId}/cancel`)) },
  // The endpoint is one of Stripe by now.
  'reconcile.start': {
    run: (bench) =>
      bench.client.post(at(bench, '/reconcile'), {
        credentials: { apiKey: SECRET },
        since: anHourAgo(),
        dryRun: true,
      }),
  },
  'shareLinks.create': {
    run: (world) => world.client.post(at(world, `/requests/${world.ids.requestId}/share-links`), {}),
  },
  'shareLinks.revoke': {
    run: async (world) => {
      const id = await idOf(world.client, at(world, `/requests/${world.ids.requestId}/share-links`), {})
      return await world.client.delete(`/api/v1/share-links/${id}`)
    },
  },
  'subscriptions.create': {
    run: async ({ client }) => {
      await using callback = await startEcho()
      await subscribeTo(client, callback.url)
      // It is refreshed.
      return await subscribeTo(client, callback.url)
    },
  },
  'subscriptions.unsubscribe': {
    leaves: 'subscriptions.end',
    run: async ({ client }) => {
      await using callback = await startEcho()
      await subscribeTo(client, callback.url)
      const name = await typeOf(client)
      return await client.post('/api/v1/subscriptions/unsubscribe', { name, delivery: { url: callback.url } })
    },
  },
  'subscriptions.end': {
    run: ({ client, ids }) => client.delete(`/api/v1/subscriptions/${ids.subscriptionId}`),
  },
  'requests.confirm': {
    run: async ({ client, ids }) => {
      const headers = { 'WebHook-Request-Origin': 'x', 'WebHook-Request-Callback': 'http://127.0.0.1:9/' }
      await fetch(`${client.captureUrl}/hook/${ids.endpointId}`, { method: 'OPTIONS', headers })
      const Page = z.looseObject({ items: z.array(z.looseObject({ id: z.int() })) })
      const requests = `/api/v1/endpoints/${ids.endpointId}/requests`
      const { items } = await client.expect(client.get(`${requests}?method=OPTIONS`), Page)
      return await client.post(`${requests}/${items[0]?.id}/confirm`)
    },
  },
  'actions.create': {
    run: (world) =>
      world.client.post(at(world, '/actions'), {
        kind: 'forward',
        url: `http://127.0.0.1:9/?token=${SECRET}`,
        signingSecret: SECRET,
      }),
  },
  'actions.update': {
    run: (world) => world.client.put(at(world, `/actions/${world.ids.actionId}`), { name: 'renamed' }),
  },
  'actions.pause': { run: (world) => world.client.post(at(world, `/actions/${world.ids.actionId}/pause`)) },
  'actions.resume': {
    run: (world) => world.client.post(at(world, `/actions/${world.ids.actionId}/resume`), {}),
  },
  'deliveries.skip': {
    run: async (bench) => {
      const { actionId, attemptId } = await failOnce(bench)
      // As if that had been the last attempt under an order.
      await bench.db
        .updateTable('deliveries')
        .set({ flowState: 'held', orderKey: 'k', finishedAt: new Date(), deadLetteredAt: new Date() })
        .where('actionId', '=', actionId)
        .execute()
      return await bench.client.post(at(bench, `/deliveries/${attemptId}/skip`))
    },
  },
  'alertChannels.create': {
    run: ({ client }) =>
      client.post('/api/v1/alert-channels', {
        kind: 'webhook',
        name: 'hook',
        secret: SECRET,
        settings: { url: 'http://127.0.0.1:9/alerts' },
        events: [],
      }),
  },
  'alertChannels.update': {
    run: ({ client, ids }) => client.put(`/api/v1/alert-channels/${ids.alertChannelId}`, { secret: SECRET }),
  },
  'alertChannels.remove': {
    run: ({ client, ids }) => client.delete(`/api/v1/alert-channels/${ids.alertChannelId}`),
  },
  'transformations.create': { run: (world) => world.client.post(at(world, '/transformations'), RULE) },
  'transformations.createFirst': {
    leaves: 'transformations.create',
    run: (world) => world.client.post(at(world, '/transformation'), RULE),
  },
  'transformations.order': {
    run: async (world) => {
      const Rules = z.looseObject({ rules: z.array(z.looseObject({ id: z.string() })) })
      const { rules } = await world.client.expect(world.client.get(at(world, '/transformations')), Rules)
      return await world.client.put(at(world, '/transformations/order'), {
        order: rules.map(({ id }) => id).toReversed(),
      })
    },
  },
  'transformations.update': {
    run: (world) =>
      world.client.put(at(world, `/transformations/${world.ids.ruleId}`), {
        rule: { ...RULE, name: 'other' },
      }),
  },
  'transformations.updateFirst': {
    leaves: 'transformations.update',
    run: (world) => world.client.put(at(world, '/transformation'), { enabled: false }),
  },
  'transformations.restore': {
    run: (world) => world.client.post(at(world, `/transformations/${world.ids.ruleId}/versions/1/restore`)),
  },
  'transformations.removeFirst': {
    leaves: 'transformations.remove',
    run: (world) => world.client.delete(at(world, '/transformation')),
  },
  'transformations.remove': {
    run: (world) => world.client.delete(at(world, `/transformations/${world.ids.ruleId}`)),
  },
  'watchdogs.create': {
    run: ({ client, ids }) =>
      client.post('/api/v1/watchdogs', { endpointId: ids.endpointId, expectedIntervalSeconds: 60 }),
  },
  'watchdogs.update': {
    run: ({ client, ids }) => client.put(`/api/v1/watchdogs/${ids.watchdogId}`, { name: 'renamed' }),
  },
  'watchdogs.setActive': {
    run: ({ client, ids }) => client.post(`/api/v1/watchdogs/${ids.watchdogId}/active`, { active: false }),
  },
  'watchdogs.remove': { run: ({ client, ids }) => client.delete(`/api/v1/watchdogs/${ids.watchdogId}`) },
  'requests.update': {
    run: (world) => world.client.patch(at(world, `/requests/${world.ids.requestId}`), { note: 'x' }),
  },
  'requests.remove': {
    run: (world) => world.client.delete(at(world, `/requests/${world.ids.requestId}`)),
  },
  'recycleBin.restore': {
    run: ({ client, ids }) =>
      client.post('/api/v1/recycle-bin/restore', { requestIds: [Number(ids.requestId)] }),
  },
  'requests.bulkDelete': {
    run: (world) =>
      world.client.post(at(world, '/requests/bulk-delete'), { requestIds: [Number(world.ids.requestId)] }),
  },
  'requests.clear': {
    run: async (world) => {
      const { client, ids } = world
      await client.post('/api/v1/recycle-bin/restore', { requestIds: [Number(ids.requestId)] })
      return await client.delete(at(world, '/requests'))
    },
  },
  'keys.create': { run: ({ client }) => client.post('/api/v1/keys', { name: 'x' }) },
  'keys.update': {
    run: async ({ client }) =>
      client.patch(`/api/v1/keys/${await idOf(client, '/api/v1/keys', { name: 'u' })}`, { name: 'v' }),
  },
  'keys.rotate': {
    run: async ({ client }) =>
      client.post(`/api/v1/keys/${await idOf(client, '/api/v1/keys', { name: 'r' })}/rotate`, {}),
  },
  'keys.revoke': {
    run: async ({ client }) =>
      client.delete(`/api/v1/keys/${await idOf(client, '/api/v1/keys', { name: 'd' })}`),
  },
  'contacts.add': {
    run: async ({ owner }) => (await owner()).mutate('contacts.add', { email: EMAIL }),
  },
  'contacts.remove': {
    run: async ({ owner }) => (await owner()).mutate('contacts.remove', { contactId: EMAIL }),
  },
  'sessions.end': {
    run: async ({ owner }) => {
      const browser = await owner()
      const { data } = await browser.query('sessions.list')
      const { items } = z.looseObject({ items: z.array(z.looseObject({ id: z.string() })) }).parse(data)
      return await browser.mutate('sessions.end', { sessionId: items.at(-1)?.id })
    },
  },
  'sessions.invite': {
    leaves: 'sessions.link',
    run: async ({ owner }) => (await owner()).mutate('sessions.invite'),
  },
  'sessions.signInLink': {
    leaves: 'sessions.link',
    run: ({ client }) => client.post('/api/v1/sign-in-links', {}),
  },
  'actions.remove': {
    run: (world) => world.client.delete(at(world, `/actions/${world.ids.actionId}`)),
  },
  'endpoints.remove': { run: (world) => world.client.delete(at(world)) },
}

const EMAIL = 'ada@example.test'

/** One call of each mutation that changes something and leaves no entry. */
export const STEPS_WITHOUT_ENTRY: Readonly<Record<string, Step>> = {
  'requests.replay': {
    run: async (bench) => {
      const path = at(bench, `/requests/${bench.ids.requestId}/replay`)
      await using _listener = await openEvents(bench.client, at(bench, '/requests/stream?listener=true'))
      await bench.client.post(`${path}?to=listeners`)
      return await bench.client.post(path)
    },
  },
  'requests.bulkReplay': {
    run: (bench) =>
      bench.client.post(at(bench, '/requests/bulk-replay'), { requestIds: [Number(bench.ids.requestId)] }),
  },
  'requests.send': {
    run: (bench) =>
      bench.client.post(at(bench, `/requests/${bench.ids.requestId}/send`), { actionId: bench.ids.actionId }),
  },
  'deliveries.retryNow': {
    run: async (bench) => {
      const { attemptId } = await failOnce(bench)
      return await bench.client.post(at(bench, `/deliveries/${attemptId}/retry`))
    },
  },
  'deliveries.report': {
    run: (bench) =>
      bench.client.post(at(bench, `/requests/${bench.ids.requestId}/listen-attempts`), {
        listener: 'test',
        url: 'http://127.0.0.1:9/',
        at: new Date().toISOString(),
        durationMs: 1,
        error: 'refused',
        sent: { method: 'POST', headers: [] },
      }),
  },
  'samples.send': { run: (bench) => bench.client.post(at(bench, '/samples'), { provider: 'stripe' }) },
  'alertChannels.test': {
    run: ({ client, ids }) => client.post(`/api/v1/alert-channels/${ids.alertChannelId}/test`),
  },
  'replays.take': { run: (bench) => takeOne(bench) },
  'replays.answer': {
    run: async (bench) => {
      const { replayId, position } = await takeOne(bench)
      const answer = { position, durationMs: 1, error: 'refused' }
      return await bench.client.post(at(bench, `/replays/${replayId}/answer`), answer)
    },
  },
}

/** Starts a replay for listeners, and takes its first request. */
async function takeOne(bench: Bench) {
  const { client, ids } = bench
  const started = client.post(at(bench, '/replays'), {
    select: { requestIds: [Number(ids.requestId)] },
    to: { listeners: true },
  })
  const Started = z.looseObject({ replay: z.looseObject({ id: z.string() }) })
  const { id: replayId } = (await client.expect(started, Started)).replay
  const Taken = z.looseObject({ items: z.tuple([z.looseObject({ position: z.int() })]) })
  const taken = client.post(at(bench, `/replays/${replayId}/take`), { max: 1, waitSeconds: 0 })
  return { replayId, position: (await client.expect(taken, Taken)).items[0].position }
}

/** Names of the mutations of a router. tRPC's procedures are flat at run time, but nested in the types. */
export const mutationsOf = (router: { readonly _def: { readonly procedures: object } }) =>
  Object.entries(router._def.procedures as Record<string, { _def: { type: string } }>).flatMap(
    ([name, { _def }]) => (_def.type === 'mutation' ? [name] : []),
  )
