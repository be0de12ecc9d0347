import { beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { appRouter, type KeyScope, ROUTES, type Route, STREAMS, type Stream } from '@creel/core'
import { z } from 'zod'
import { TestBrowser } from '../support/browser.ts'
import { type Answer, Client } from '../support/client.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeWorld, pathOf, placeholdersOf, type World } from '../support/world.ts'

/** Permissions of keys with a smaller scope, for every procedure. A new one must be added here, or stay closed. */

let service: TestService
/** Two endpoints of one workspace. The keys below are for the workspace, or for the first endpoint only. */
let own: World
let other: World
let keys: Record<KeyScope | 'ownRead' | 'ownWrite', Client>

/** Mutations that change nothing. */
const READING_MUTATIONS = [
  'events.poll',
  'endpoints.previewResponses',
  'endpoints.previewStoring',
  'transformations.preview',
  'transformations.previewSet',
  'conditions.try',
  'verification.try',
  // The link grants no more than the key does.
  'sessions.signInLink',
]
/**
 * Procedures without an endpoint in the input that a key of one endpoint may call: they return its own, or public data.
 */
const NARROWED = [
  'endpoints.list',
  'events.types',
  'events.poll',
  'subscriptions.list',
  'subscriptions.get',
  'subscriptions.create',
  'subscriptions.unsubscribe',
  'subscriptions.end',
  'requests.find',
  'shareLinks.list',
  'shareLinks.revoke',
  'watchdogs.list',
  'watchdogs.get',
  'watchdogs.timeline',
  'watchdogs.update',
  'watchdogs.remove',
  'watchdogs.setActive',
  'recycleBin.restore',
  'incidents.list',
  'me.get',
  'providers.list',
  'samples.list',
  'alertChannels.kinds',
  'alertChannels.events',
  'alertChannels.eventKinds',
  'transformations.schema',
  'sessions.current',
  'sessions.signInLink',
]
const isAdmins = (name: string) => /^(keys|audit|erasures)\./.test(name)

beforeAll(async () => {
  service = await startService({ parts: ['gateway'], limits: { apiRatePerMinute: 1_000_000 } })
  const { alice, operator } = service
  own = await makeWorld(alice)
  other = await makeWorld(alice)
  const keyOf = async (scope: KeyScope, endpointId?: string) => {
    const made = await operator.keys.create({
      workspace: alice.workspaceId,
      name: scope,
      scope,
      endpoint: endpointId,
    })
    return new Client(service.baseUrl, service.captureUrl, made.key, alice.workspaceId)
  }
  keys = {
    read: await keyOf('read'),
    write: await keyOf('write'),
    admin: await keyOf('admin'),
    ownRead: await keyOf('read', own.ids.endpointId),
    ownWrite: await keyOf('write', own.ids.endpointId),
  }
})

const ALL: readonly (Route | Stream)[] = [...ROUTES, ...STREAMS]
const RANKS: readonly KeyScope[] = ['read', 'write', 'admin']
const needs = ({ name, method }: Route | Stream): KeyScope => {
  if (isAdmins(name)) return 'admin'
  return method === 'GET' || READING_MUTATIONS.includes(name) ? 'read' : 'write'
}
const mayScope = (scope: KeyScope, route: Route | Stream) =>
  RANKS.indexOf(scope) >= RANKS.indexOf(needs(route))

const unknownLike = (id: string) => (/^\d+$/.test(id) ? '8999999999999999' : randomUUID())
const unknownIds = () =>
  Object.fromEntries(Object.entries(own.ids).map(([name, id]) => [name, unknownLike(id)]))

function call(
  client: Client,
  route: Route | Stream,
  ids: World['ids'],
  members: object = {},
): Promise<Answer> {
  const hasBody = route.method !== 'GET' && route.method !== 'DELETE'
  const query = hasBody ? '' : `?${new URLSearchParams(members as Record<string, string>)}`
  return client.call(route.method, pathOf(route, ids) + query, hasBody ? members : undefined)
}

const codeOf = ({ body }: Answer) =>
  z.looseObject({ code: z.string() }).catch({ code: 'none' }).parse(body).code

/** Everything of an answer but its traceId. */
function fingerprint(answer: Answer): string {
  const { traceId: _, ...body } = z.looseObject({ traceId: z.string() }).parse(answer.body)
  return JSON.stringify([answer.status, body])
}

describe('scopes', () => {
  test('refuse every route that needs more, whatever it names, and no other', async () => {
    const faults: string[] = []
    for (const route of ALL) {
      for (const scope of RANKS) {
        const isAllowed = mayScope(scope, route)
        // Allowed calls use unknown ids, so that they change nothing.
        const answer = await call(keys[scope], route, isAllowed ? unknownIds() : own.ids)
        if ((answer.status === 403) === isAllowed)
          faults.push(`${scope} ${route.name}: ${answer.status} ${answer.text}`)
        if (!isAllowed && codeOf(answer) !== 'forbidden')
          faults.push(`${scope} ${route.name}: ${codeOf(answer)}`)
        if (isAllowed) continue
        const unread = await keys[scope].call(route.method, pathOf(route, unknownIds()), undefined, {
          ...(route.method === 'GET' || route.method === 'DELETE' ? {} : { rawBody: '{' }),
        })
        if (unread.status !== 403) faults.push(`${scope} ${route.name}, unreadable: ${unread.status}`)
      }
    }
    expect(faults).toEqual([])
  })

  test('hold over tRPC for every procedure, typed-only ones too', async () => {
    const faults: string[] = []
    // tRPC's procedures are flat at run time, but nested in the types.
    const procedures = Object.entries(
      appRouter._def.procedures as unknown as Record<string, { _def: { type: string } }>,
    )
    expect(procedures.length).toBeGreaterThan(60)
    for (const [
      name,
      {
        _def: { type },
      },
    ] of procedures) {
      if (type === 'subscription') continue
      const needed: KeyScope = isAdmins(name)
        ? 'admin'
        : type === 'query' || READING_MUTATIONS.includes(name)
          ? 'read'
          : 'write'
      for (const scope of RANKS) {
        const isAllowed = RANKS.indexOf(scope) >= RANKS.indexOf(needed)
        if (isAllowed && scope !== 'read') continue
        const answer =
          type === 'query'
            ? await keys[scope].get(`/trpc/${name}?input=%7B%7D`)
            : await keys[scope].post(`/trpc/${name}`, {})
        const isOwners = /^(sessions\.(list|end|invite)|contacts\.(add|remove))$/.test(name)
        if ((answer.status === 403) === (isAllowed && !isOwners))
          faults.push(`${scope} ${name}: ${answer.status}`)
      }
    }
    expect(faults).toEqual([])
  })

  test('hold for a browser that signed in with the key', async () => {
    const browser = new TestBrowser(service)
    expect((await browser.signIn({ key: keys.ownRead.key })).status).toBe(204)
    expect(await browser.query('sessions.current')).toMatchObject({
      data: { scope: 'read', endpointId: own.ids.endpointId },
    })
    expect(await browser.query('endpoints.list')).toMatchObject({ data: { totalCount: 1 } })
    expect(await browser.mutate('endpoints.remove', { endpointId: own.ids.endpointId })).toMatchObject({
      status: 403,
      code: 'forbidden',
    })
  })

  test('leave the tools that change something out of /mcp', async () => {
    const toolsOf = async (client: Client) => {
      const answer = await client.post(
        '/mcp',
        { jsonrpc: '2.0', id: 1, method: 'tools/list' },
        { headers: { Accept: 'application/json, text/event-stream' } },
      )
      return z
        .looseObject({ result: z.looseObject({ tools: z.array(z.looseObject({ name: z.string() })) }) })
        .parse(answer.body)
        .result.tools.map(({ name }) => name)
    }
    expect(await toolsOf(keys.write)).toContain('create_endpoint')
    expect(await toolsOf(keys.read)).not.toContain('create_endpoint')
    expect(await toolsOf(keys.read)).toContain('list_endpoints')
  })
})

describe('a key of one endpoint', () => {
  test('finds the other one as absent as one that nobody has', async () => {
    const faults: string[] = []
    for (const route of ALL.filter((one) => mayScope('write', one))) {
      const named = [...placeholdersOf(route)].filter(
        (name) => name === 'endpointId' || name === 'watchdogId',
      )
      const isInQuery = named.length === 0 && 'endpointId' in route.input.shape
      if (named.length === 0 && !isInQuery) continue
      const seen = await call(
        keys.ownWrite,
        route,
        other.ids,
        isInQuery ? { endpointId: other.ids.endpointId } : {},
      )
      const unknown = await call(
        keys.ownWrite,
        route,
        unknownIds(),
        isInQuery ? { endpointId: randomUUID() } : {},
      )
      if (unknown.status !== 404) faults.push(`${route.name}: ${unknown.status} ${unknown.text}`)
      else if (fingerprint(seen) !== fingerprint(unknown)) faults.push(`${route.name}: ${seen.text}`)
    }
    expect(faults).toEqual([])
  })

  test('is refused what is about the whole workspace', async () => {
    const faults: string[] = []
    for (const route of ALL.filter((one) => mayScope('write', one))) {
      if ('endpointId' in route.input.shape) continue
      const answer = await call(keys.ownWrite, route, unknownIds())
      const isRefused = codeOf(answer) === 'forbidden'
      if (isRefused === NARROWED.includes(route.name)) faults.push(`${route.name}: ${answer.status}`)
    }
    expect(faults).toEqual([])
  })

  test('finds a request by its id alone only where it is its own', async () => {
    const statusOf = async ({ ids }: World) =>
      (await keys.ownRead.get(`/api/v1/requests/${ids.requestId}`)).status
    expect([await statusOf(own), await statusOf(other)]).toEqual([200, 404])
  })

  test('is shown nothing of the other one', async () => {
    const secrets = ['endpointId', 'watchdogId', 'actionId', 'ruleId'].map((name) => other.ids[name] ?? '')
    const faults: string[] = []
    for (const route of ROUTES.filter((one) => one.method === 'GET' && mayScope('read', one))) {
      const isOwn = route.path.includes('{endpointId}') || route.path.includes('/watchdogs/{')
      if (!isOwn && !NARROWED.includes(route.name) && !('endpointId' in route.input.shape)) continue
      const wait = route.name === 'requests.await' ? { timeoutSeconds: 1 } : {}
      const format = route.name === 'requests.export' ? { format: 'curl' } : {}
      const named = isOwn ? {} : { endpointId: own.ids.endpointId }
      for (const members of [
        { ...wait, ...format, ...named },
        { ...wait, ...format },
      ]) {
        const { text } = await call(keys.ownRead, route, own.ids, members)
        if (secrets.some((id) => text.includes(id))) faults.push(`${route.name}: ${text}`)
      }
    }
    expect(faults).toEqual([])
    for (const [path, count] of [
      ['/api/v1/endpoints', 1],
      ['/api/v1/watchdogs', 1],
      ['/api/v1/recycle-bin', 1],
    ] as const) {
      expect((await keys.ownRead.get(path)).body).toMatchObject({ totalCount: count })
    }
  })

  test("restores nothing of the other one's bin", async () => {
    const bin = z.looseObject({ items: z.array(z.looseObject({ id: z.int() })) })
    const path = `/api/v1/recycle-bin?endpointId=${other.ids.endpointId}`
    const { items } = await keys.read.expect(keys.read.get(path), bin)
    const requestIds = items.map(({ id }) => id)
    expect(requestIds.length).toBeGreaterThan(0)
    const restored = await keys.ownWrite.post('/api/v1/recycle-bin/restore', { requestIds })
    expect(restored.body).toMatchObject({ restoredCount: 0 })
  })

  test('works on its own', async () => {
    const path = `/api/v1/endpoints/${own.ids.endpointId}`
    expect((await keys.ownRead.get(path)).status).toBe(200)
    expect((await keys.ownWrite.patch(path, { name: 'mine' })).body).toMatchObject({ name: 'mine' })
    const upper = `/api/v1/endpoints/${own.ids.endpointId?.toUpperCase()}`
    expect((await keys.ownRead.get(upper)).status).toBe(200)
    const made = await keys.ownWrite.post('/api/v1/watchdogs', {
      endpointId: own.ids.endpointId,
      expectedIntervalSeconds: 60,
    })
    expect(made.status).toBe(201)
  })
})
