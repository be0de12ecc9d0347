import { beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { appRouter } from '@creel/core'
import { operatorRouter } from '@creel/core/operator'
import { sql } from 'kysely'
import { z } from 'zod'
import { TestBrowser } from '../support/browser.ts'
import type { Client } from '../support/client.ts'
import { anHourAgo } from '../support/clock.ts'
import { startEcho } from '../support/echo.ts'
import { eventually } from '../support/eventually.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeWorld, type World } from '../support/world.ts'

/** The audit log. The tests walk every mutation, so a new one must be added here. */

let service: TestService

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 1_000_000 } })
})

const Entries = z.looseObject({
  totalCount: z.int(),
  items: z.array(
    z.looseObject({
      id: z.int(),
      action: z.string(),
      actor: z.looseObject({ kind: z.string(), name: z.string(), address: z.string().nullable() }),
      traceId: z.string().nullable(),
      subject: z.looseObject({ type: z.string(), id: z.string() }),
      before: z.record(z.string(), z.unknown()).nullable(),
      after: z.record(z.string(), z.unknown()).nullable(),
    }),
  ),
})
const entriesOf = (client: Client, query = '') => client.expect(client.get(`/api/v1/audit${query}`), Entries)

/** Mutations without an entry, with the reason. */
const WITHOUT_ENTRY: Readonly<Record<string, string>> = {
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

const SECRET = 'whsec-0123456789abcdef'
const RULE = { version: 1, name: 'r', steps: [{ op: 'remove', paths: ['body.x'] }] }

interface Step {
  /** Name of its entry, if that differs from the name of the procedure. */
  readonly leaves?: string
  readonly run: (world: World) => Promise<unknown>
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

/** One call of each mutation. */
const STEPS: Readonly<Record<string, Step>> = {
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
      await service.db
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
    run: async ({ client }) => (await owner(client)).mutate('contacts.add', { email: EMAIL }),
  },
  'contacts.remove': {
    run: async ({ client }) => (await owner(client)).mutate('contacts.remove', { contactId: EMAIL }),
  },
  'sessions.end': {
    run: async ({ client }) => {
      const browser = await owner(client)
      const { data } = await browser.query('sessions.list')
      const { items } = z.looseObject({ items: z.array(z.looseObject({ id: z.string() })) }).parse(data)
      return await browser.mutate('sessions.end', { sessionId: items.at(-1)?.id })
    },
  },
  'sessions.invite': {
    leaves: 'sessions.link',
    run: async ({ client }) => (await owner(client)).mutate('sessions.invite'),
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

/** A browser of the workspace's owner. */
async function owner(client: Client): Promise<TestBrowser> {
  const { url } = await service.operator.sessions.link({ workspace: client.workspaceId })
  const browser = new TestBrowser(service)
  expect((await browser.signIn({ link: url.slice(url.indexOf('#') + 1) })).status).toBe(204)
  return browser
}

/** One call of each operator's mutation. */
const OPERATOR_STEPS: Readonly<Record<string, (client: Client) => Promise<unknown>>> = {
  'workspaces.setPlan': ({ workspaceId }) =>
    service.operator.workspaces.setPlan({ workspace: workspaceId, plan: 'pro' }),
  'keys.create': ({ workspaceId }) => service.operator.keys.create({ workspace: workspaceId, name: 'o' }),
  'keys.rotate': ({ workspaceId, keyId }) =>
    service.operator.keys.rotate({ workspace: workspaceId, key: keyId }),
  'keys.revoke': async ({ workspaceId }) => {
    const { prefix } = await service.operator.keys.create({ workspace: workspaceId, name: 'p' })
    return await service.operator.keys.revoke({ workspace: workspaceId, key: prefix })
  },
  'contacts.add': ({ workspaceId }) =>
    service.operator.contacts.add({ workspace: workspaceId, email: 'ops@example.test' }),
  'contacts.remove': ({ workspaceId }) =>
    service.operator.contacts.remove({ workspace: workspaceId, contact: 'ops@example.test' }),
  'retention.purge': ({ workspaceId }) => service.operator.retention.purge({ workspace: workspaceId }),
  'sessions.link': ({ workspaceId }) => service.operator.sessions.link({ workspace: workspaceId }),
}

/** Names of the mutations of a router. tRPC's procedures are flat at run time, but nested in the types. */
const mutationsOf = (router: { readonly _def: { readonly procedures: object } }) =>
  Object.entries(router._def.procedures as Record<string, { _def: { type: string } }>).flatMap(
    ([name, { _def }]) => (_def.type === 'mutation' ? [name] : []),
  )

describe('every change', () => {
  test('of a caller leaves an entry that names who, from where and what, and no secret', async () => {
    expect(mutationsOf(appRouter).sort()).toEqual(
      [...Object.keys(STEPS), ...Object.keys(WITHOUT_ENTRY)].sort(),
    )
    const client = await service.newClient()
    const world = await makeWorld(client)
    const faults: string[] = []
    for (const [name, { run, leaves = name }] of Object.entries(STEPS)) {
      const [newest] = (await entriesOf(client, '?pageSize=1')).items
      await run(world)
      const { items } = await entriesOf(client, '?pageSize=20')
      const entry = items.find(({ action, id }) => action === leaves && id > (newest?.id ?? 0))
      if (entry === undefined) faults.push(`${name}: no entry`)
      else {
        const isBrowsers = /^(contacts|sessions\.(end|invite))/.test(name)
        const who = isBrowsers ? ['session', 'owner'] : ['key', 'test']
        if (entry.actor.kind !== who[0] || entry.actor.name !== who[1] || entry.actor.address !== '127.0.0.1')
          faults.push(`${name}: ${JSON.stringify(entry.actor)}`)
        if (!/^[0-9a-f]{32}$/.test(entry.traceId ?? '')) faults.push(`${name}: trace ${entry.traceId}`)
      }
    }
    expect(faults).toEqual([])
    const text = JSON.stringify(await service.db.selectFrom('auditEntries').selectAll().execute())
    for (const secret of [SECRET, client.key]) expect(text).not.toContain(secret)
  })

  test('an import, which comes over REST alone, too', async () => {
    const client = await service.newClient()
    const endpoint = await client.endpoint()
    await endpoint.capture({ body: 'one' })
    const { text } = await client.get(endpoint.at('/requests/export?format=ndjson'))
    const answer = await client.post(endpoint.at('/requests/import'), undefined, {
      rawBody: text,
      headers: { 'Content-Type': 'application/x-ndjson' },
    })
    expect(answer).toMatchObject({ status: 200, body: { importedCount: 1 } })
    const { items } = await entriesOf(client, '?action=requests.import')
    expect(items).toMatchObject([
      { actor: { kind: 'key', name: 'test' }, subject: { id: endpoint.id }, after: { importedCount: 1 } },
    ])
  })

  test('what a plan suspends and resumes, in the name of who caused it', async () => {
    const client = await service.newClient('team')
    const { workspaceId } = client
    const endpoints = [await client.endpoint(), await client.endpoint(), await client.endpoint()]
    const [kept] = endpoints
    for (let made = 0; made < 3; made += 1) {
      await client.post(kept?.at('/actions') ?? '', { kind: 'forward', url: `http://127.0.0.1:9/${made}` })
    }
    await service.operator.workspaces.setPlan({ workspace: workspaceId, plan: 'free' })
    const entries = async (action: string) =>
      (await entriesOf(client, `?action=${action}`)).items.map(({ actor, subject, after }) => ({
        actor: actor.kind,
        subject: subject.id,
        after,
      }))
    const suspended = [...(await entries('endpoints.suspend')), ...(await entries('actions.suspend'))]
    expect(suspended.length).toBeGreaterThan(0)
    for (const { after } of suspended) expect(after).toEqual({ suspendedByPlan: true })
    await service.operator.workspaces.setPlan({ workspace: workspaceId, plan: 'team' })
    const resumed = [...(await entries('endpoints.resume')), ...(await entries('actions.resume'))]
    expect(resumed.map(({ subject }) => subject).sort()).toEqual(
      suspended.map(({ subject }) => subject).sort(),
    )
    expect(new Set(resumed.map(({ actor }) => actor))).toEqual(new Set(['service']))
  })

  test('has words in the page', async () => {
    const page = Bun.file(join(import.meta.dir, '../../console/src/audit/auditSentence.ts'))
    const worded = new Set((await page.text()).match(/(?<=^ {2}')\w+\.\w+(?=': )/gm))
    // Its words depend on the value.
    worded.add('watchdogs.setActive')
    const left = Object.entries(STEPS).map(([name, { leaves = name }]) => leaves)
    expect([...left, ...Object.keys(OPERATOR_STEPS)].filter((action) => !worded.has(action))).toEqual([])
  })

  test('of an operator, too', async () => {
    const client = await service.newClient()
    const faults: string[] = []
    // Entries of the whole installation are tested in tests/security/secretKeys.test.ts.
    const covered = [...Object.keys(OPERATOR_STEPS), 'workspaces.create', 'secrets.rotate']
    expect(mutationsOf(operatorRouter).sort()).toEqual(covered.sort())
    for (const [name, run] of Object.entries(OPERATOR_STEPS)) {
      await run(client)
      const { items } = await service.operator.audit.list({ workspace: client.workspaceId, pageSize: 1 })
      if (items[0]?.action !== name) faults.push(`${name}: ${items[0]?.action}`)
    }
    expect(faults).toEqual([])
    const made = await service.operator.audit.list({
      workspace: client.workspaceId,
      action: 'workspaces.create',
    })
    expect(made.items).toMatchObject([{ actor: { kind: 'service' }, before: null, after: { plan: 'team' } }])
  })

  test('tells the members that differ, before and after, and nothing where nothing does', async () => {
    const client = await service.newClient()
    const endpoint = await client.endpoint({ name: 'one' })
    await client.patch(endpoint.at(''), { name: 'two' })
    await client.patch(endpoint.at(''), { name: 'two' })
    const { items } = await entriesOf(client, `?action=endpoints.update&endpointId=${endpoint.id}`)
    expect(items).toMatchObject([{ before: { name: 'one' }, after: { name: 'two' } }])
    expect(Object.keys(items[0]?.after ?? {})).toEqual(['name'])
  })

  test('that fails leaves none', async () => {
    const client = await service.newClient()
    const before = await entriesOf(client)
    await client.post('/api/v1/endpoints', { name: 7 })
    await client.delete(`/api/v1/keys/${randomUUID()}`)
    expect((await entriesOf(client)).totalCount).toBe(before.totalCount)
  })
})

describe('the log', () => {
  test('cannot be changed, whoever holds the connection', async () => {
    for (const statement of [
      `update audit_entries set actor_name = 'nobody'`,
      'delete from audit_entries',
      'truncate audit_entries',
    ]) {
      const refusal = await sql.raw(statement).execute(service.db).catch(String)
      expect(refusal).toContain('append-only')
    }
  })

  test("is narrowed by its filters, and never shows another workspace's", async () => {
    const client = await service.newClient()
    await client.endpoint({ name: 'mine' })
    const all = await entriesOf(client)
    expect(all.items.map(({ action }) => action)).toEqual([
      'endpoints.create',
      'keys.create',
      'workspaces.create',
    ])
    expect((await entriesOf(client, '?actorKind=key')).totalCount).toBe(1)
    expect((await entriesOf(client, `?actorId=${client.keyId}`)).totalCount).toBe(1)
    expect((await entriesOf(client, '?subjectType=workspace')).totalCount).toBe(1)
    expect((await entriesOf(client, '?until=2020-01-01')).totalCount).toBe(0)
    expect((await entriesOf(client, '?since=2020-01-01&page=2&pageSize=2')).items).toHaveLength(1)
    const wrong = await client.get('/api/v1/audit?actorKind=nobody&since=yesterday&actorId=1')
    expect(wrong).toMatchObject({ status: 400, body: { code: 'validation_failed' } })
  })

  test('is swept of what is older than its retention, and of nothing else', async () => {
    const client = await service.newClient()
    await service.clock.advance(366 * 86_400_000)
    await client.endpoint({ name: 'late' })
    await service.runJob('retention.sweep', {})
    expect((await entriesOf(client)).items.map(({ action }) => action)).toEqual(['endpoints.create'])
  })
})
