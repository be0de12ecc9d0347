import { beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { appRouter } from '@creel/core'
import { operatorRouter } from '@creel/core/operator'
import { sql } from 'kysely'
import { z } from 'zod'
import { TestBrowser } from '../support/browser.ts'
import type { Client } from '../support/client.ts'
import { mutationsOf, SECRET, STEPS, WITHOUT_ENTRY } from '../support/mutations.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeWorld } from '../support/world.ts'

/** The audit log. The tests walk every mutation, so a new one must be added to their calls. */

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
  'workspaces.rename': ({ workspaceId }) =>
    service.operator.workspaces.rename({ workspace: workspaceId, name: `renamed ${workspaceId}` }),
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

describe('every change', () => {
  test('of a caller leaves an entry that names who, from where and what, and no secret', async () => {
    expect(mutationsOf(appRouter).sort()).toEqual(
      [...Object.keys(STEPS), ...Object.keys(WITHOUT_ENTRY)].sort(),
    )
    const client = await service.newClient()
    const bench = { ...(await makeWorld(client)), db: service.db, owner: () => owner(client) }
    const faults: string[] = []
    for (const [name, { run, leaves = name }] of Object.entries(STEPS)) {
      const [newest] = (await entriesOf(client, '?pageSize=1')).items
      await run(bench)
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

  test('of a sign-in names the key, which is no secret', async () => {
    const client = await service.newClient()
    expect((await new TestBrowser(service).signIn({ key: client.key })).status).toBe(204)
    expect((await client.post('/api/v1/sign-in-links', {})).status).toBe(201)
    for (const action of ['sessions.start', 'sessions.link']) {
      const { items } = await entriesOf(client, `?action=${action}`)
      expect(items).toMatchObject([{ after: { apiKeyId: client.keyId } }])
    }
  })

  test('of a browser that signs out, or in again', async () => {
    const client = await service.newClient()
    const other = await service.newClient()
    const browser = new TestBrowser(service)
    for (const { key } of [client, client, other]) expect((await browser.signIn({ key })).status).toBe(204)
    for (let time = 0; time < 2; time += 1)
      expect((await browser.call('DELETE', '/console/session')).status).toBe(204)
    for (const [of, count] of [
      [client, 2],
      [other, 1],
    ] as const) {
      const [starts, ends] = [
        (await entriesOf(of, '?action=sessions.start')).items,
        (await entriesOf(of, '?action=sessions.end')).items,
      ]
      expect(ends.map(({ subject }) => subject)).toEqual(starts.map(({ subject }) => subject))
      expect(ends).toHaveLength(count)
      for (const { actor, subject } of ends)
        expect(actor).toMatchObject({ kind: 'session', id: subject.id, name: 'test', address: '127.0.0.1' })
    }
  })

  test('an import, which comes over REST alone, too', async () => {
    const client = await service.newClient()
    const endpoint = await client.endpoint()
    await endpoint.capture({ body: 'one' })
    const { text } = await client.get(endpoint.at('/requests/export?format=ndjson'))
    const answer = await endpoint.importLines(text)
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
