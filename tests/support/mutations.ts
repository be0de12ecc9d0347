import type { Db } from '@creel/core'
import { z } from 'zod'
import type { TestBrowser } from './browser.ts'
import type { Client } from './client.ts'
import { anHourAgo } from './clock.ts'
import { startEcho } from './echo.ts'
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
  'reconcile.start': {
    run: async (world) => {
      await world.client.patch(at(world), { provider: 'stripe' })
      return await world.client.post(at(world, '/reconcile'), {
        credentials: { apiKey: SECRET },
        since: anHourAgo(),
        dryRun: true,
      })
    },
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
    run: async (world) => {
      const members = { kind: 'forward', url: 'http://127.0.0.1:9/held', name: 'held' }
      const Made = z.looseObject({ id: z.string() })
      const action = await world.client.expect(world.client.post(at(world, '/actions'), members), Made)
      const Page = z.looseObject({ items: z.array(z.looseObject({ id: z.int(), state: z.string() })) })
      await fetch(`${world.client.captureUrl}/hook/${world.ids.endpointId}`, { method: 'POST', body: '{}' })
      const list = `/deliveries?actionId=${action.id}`
      const attempt = await eventually('an attempt that failed', async () => {
        const { items } = await world.client.expect(world.client.get(at(world, list)), Page)
        return items.find(({ state }) => state === 'Errored')
      })
      // As if that had been the last attempt under an order.
      await world.db
        .updateTable('deliveries')
        .set({ flowState: 'held', orderKey: 'k', finishedAt: new Date(), deadLetteredAt: new Date() })
        .where('actionId', '=', action.id)
        .execute()
      return await world.client.post(at(world, `/deliveries/${attempt.id}/skip`))
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

/** Names of the mutations of a router. tRPC's procedures are flat at run time, but nested in the types. */
export const mutationsOf = (router: { readonly _def: { readonly procedures: object } }) =>
  Object.entries(router._def.procedures as Record<string, { _def: { type: string } }>).flatMap(
    ([name, { _def }]) => (_def.type === 'mutation' ? [name] : []),
  )
