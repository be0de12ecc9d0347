import { beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { z } from 'zod'
import { TestBrowser } from '../../support/browser.ts'
import { Client } from '../../support/client.ts'
import { eventually } from '../../support/eventually.ts'
import { countLockWaits } from '../../support/lockWaits.ts'
import { startService, type TestService } from '../../support/service.ts'

/** Keys over the API: created, limited, replaced and revoked with keys that may. */

let service: TestService

beforeAll(async () => {
  // The tests set the address of their calls.
  service = await startService({ trustedProxies: ['127.0.0.0/8'], limits: { apiKeysMax: 5 } })
})

const Made = z.looseObject({
  id: z.string(),
  key: z.string(),
  prefix: z.string(),
  expiresAt: z.string().nullable(),
})
const List = z.looseObject({
  items: z.array(
    z.looseObject({
      id: z.string(),
      scope: z.string(),
      expiresAt: z.string().nullable(),
      revokedAt: z.string().nullable(),
      replacedById: z.string().nullable(),
    }),
  ),
})

const make = (client: Client, members: object) =>
  client.expect(client.post('/api/v1/keys', { name: 'made', ...members }), Made)
const with_ = (key: string) => new Client(service.baseUrl, service.captureUrl, key, '')
const statusOf = async (key: string, from?: string) =>
  (await with_(key).get('/api/v1/me', from === undefined ? {} : { headers: { 'X-Forwarded-For': from } }))
    .status
const inSeconds = (seconds: number) => new Date(service.clock.now().getTime() + seconds * 1000).toISOString()

describe('a key', () => {
  test('is admin for everything unless told, and says what it is', async () => {
    const client = await service.newClient()
    const { key, prefix } = await make(client, { name: '  all  ' })
    expect((await with_(key).get('/api/v1/me')).body).toMatchObject({
      key: { prefix, name: 'all', scope: 'admin', endpointId: null, expiresAt: null },
    })
  })

  test('that is wrong in several parts is refused with all of them named', async () => {
    const { alice } = service
    const { id } = await alice.endpoint()
    const answer = await alice.post('/api/v1/keys', {
      name: ' ',
      scope: 'all',
      expiresAt: '2020-01-01',
      allowedNetworks: ['10.0.0.0/33', '192.0.2.1', 'example.com'],
    })
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_failed' } })
    const { errors } = z.object({ errors: z.array(z.object({ pointer: z.string() })) }).parse(answer.body)
    expect(errors.map(({ pointer }) => pointer)).toEqual([
      '#/name',
      '#/scope',
      '#/expiresAt',
      '#/allowedNetworks/0',
      '#/allowedNetworks/2',
    ])
    const admin = await alice.post('/api/v1/keys', { name: 'x', endpointId: id })
    expect(admin.body).toMatchObject({ errors: [{ pointer: '#/endpointId', code: 'not_allowed' }] })
    const { id: foreign } = await service.charlie.endpoint()
    const stolen = await alice.post('/api/v1/keys', { name: 'x', scope: 'read', endpointId: foreign })
    expect(stolen).toMatchObject({ status: 404, body: { code: 'not_found' } })
  })

  test('ends when it expires, and its browsers with it; moving the expiry revives it', async () => {
    const client = await service.newClient()
    const { id, key } = await make(client, { expiresAt: inSeconds(60) })
    const browser = new TestBrowser(service)
    expect((await browser.signIn({ key })).status).toBe(204)
    expect(await statusOf(key)).toBe(200)
    await service.clock.advance(61_000)
    expect(await statusOf(key)).toBe(401)
    expect((await browser.query('sessions.current')).status).toBe(401)
    const changed = await client.patch(`/api/v1/keys/${id}`, { expiresAt: null })
    expect(changed.body).toMatchObject({ id, expiresAt: null })
    expect(await statusOf(key)).toBe(200)
    expect((await browser.query('sessions.current')).status).toBe(200)
  })

  test('has 50 signed-in browsers at once: the next one ends the oldest, and none of another key', async () => {
    const client = await service.newClient()
    const { key } = await make(client, {})
    const signedIn = async (of: string) => {
      const browser = new TestBrowser(service)
      expect((await browser.signIn({ key: of })).status).toBe(204)
      await service.clock.advance(1_000)
      return browser
    }
    const isIn = async (browser: TestBrowser) => (await browser.query('sessions.current')).status === 200
    const other = await signedIn(client.key)
    const browsers: TestBrowser[] = []
    for (let count = 0; count < 50; count += 1) browsers.push(await signedIn(key))
    const [first, second] = browsers
    if (first === undefined || second === undefined) throw new Error('No browser signed in.')
    expect(await isIn(first)).toBe(true)
    const last = await signedIn(key)
    expect([await isIn(first), await isIn(second), await isIn(last)]).toEqual([false, true, true])
    expect(await isIn(other)).toBe(true)
  })

  test('that has expired is revived only where the plan has room', async () => {
    const client = await service.newClient()
    const { id, key } = await make(client, { expiresAt: inSeconds(60) })
    await service.clock.advance(61_000)
    for (let more = 0; more < 4; more += 1) await make(client, {})
    const revive = () => client.patch(`/api/v1/keys/${id}`, { expiresAt: null })
    expect(await revive()).toMatchObject({ status: 409, body: { code: 'limit_reached' } })
    expect(await statusOf(key)).toBe(401)
    const { items } = await client.expect(client.get('/api/v1/keys'), List)
    const listed = items.find((one) => one.id === id)
    // An expiry that is sent back as it was listed is no new one.
    const renamed = await client.patch(`/api/v1/keys/${id}`, { name: 'ended', expiresAt: listed?.expiresAt })
    expect(renamed).toMatchObject({ status: 200, body: { name: 'ended' } })
    await client.delete(`/api/v1/keys/${items[0]?.id}`)
    const answers = await Promise.all([revive(), client.post('/api/v1/keys', { name: 'sixth' })])
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(1)
  })

  test('may be used from its networks only, by what a trusted proxy says', async () => {
    const client = await service.newClient()
    const { id, key } = await make(client, { allowedNetworks: ['198.51.100.7', '2001:db8::1/32'] })
    const refused = await with_(key).get('/api/v1/me', { headers: { 'X-Forwarded-For': '198.51.100.8' } })
    expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    // An entry that the client forged is to the left of the one that the proxy added.
    expect(await statusOf(key, '198.51.100.7, 203.0.113.9')).toBe(403)
    expect(await statusOf(key)).toBe(403)
    expect(await statusOf(key, '198.51.100.7')).toBe(200)
    expect(await statusOf(key, '2001:db8:1::9')).toBe(200)
    expect(await statusOf(key, '::ffff:198.51.100.7')).toBe(200)
    const browser = new TestBrowser(service)
    expect((await browser.signIn({ key })).status).toBe(403)
    const mcp = await with_(key).post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' })
    expect(mcp.status).toBe(403)
    await client.patch(`/api/v1/keys/${id}`, { allowedNetworks: null })
    expect(await statusOf(key)).toBe(200)
  })

  test('used from elsewhere takes nothing from its budget', async () => {
    const { id, key } = await make(await service.newClient(), { allowedNetworks: ['198.51.100.7'] })
    const taken = async () =>
      (
        await service.db.selectFrom('apiKeyWindows').where('apiKeyId', '=', id).select('callCount').execute()
      ).map(({ callCount }) => callCount)
    for (let call = 0; call < 3; call += 1) expect(await statusOf(key, '203.0.113.1')).toBe(403)
    expect(await taken()).toEqual([])
    expect(await statusOf(key, '198.51.100.7')).toBe(200)
    expect(await taken()).toEqual([1])
  })

  test('has a new budget if the clock of the database was set back', async () => {
    const { id, key } = await make(await service.newClient(), {})
    expect(await statusOf(key)).toBe(200)
    await service.db
      .updateTable('apiKeyWindows')
      .set({ startedAt: new Date(service.clock.now().getTime() + 3_600_000), callCount: 1_000_000 })
      .where('apiKeyId', '=', id)
      .execute()
    expect(await statusOf(key)).toBe(200)
  })

  test('is revoked over the API for the very next call', async () => {
    const client = await service.newClient()
    const { id, key } = await make(client, {})
    expect((await client.delete(`/api/v1/keys/${id}`)).status).toBe(204)
    expect(await statusOf(key)).toBe(401)
    const { items } = await client.expect(client.get('/api/v1/keys'), List)
    expect(items.find((one) => one.id === id)?.revokedAt).not.toBeNull()
  })

  test('that is revoked twice at once is so with one entry of the audit log', async () => {
    const client = await service.newClient()
    const { id } = await make(client, {})
    const revoked = await service.db.transaction().execute(async (trx) => {
      await trx.selectFrom('apiKeys').select('id').where('id', '=', id).forUpdate().execute()
      const calls = [0, 1].map(() => client.delete(`/api/v1/keys/${id}`))
      await eventually('both wait', async () => (await countLockWaits(service.db)) === 2)
      return { calls }
    })
    expect((await Promise.all(revoked.calls)).map(({ status }) => status)).toEqual([204, 204])
    const { body } = await client.get('/api/v1/audit?action=keys.revoke')
    expect(body).toMatchObject({ totalCount: 1 })
  })
})

describe('rotation', () => {
  test('lets the old key go on for the overlap, at the limit of the plan too', async () => {
    const client = await service.newClient()
    const old = await make(client, {
      scope: 'write',
      allowedNetworks: ['127.0.0.1'],
      expiresAt: inSeconds(86_400),
    })
    for (let more = 0; more < 3; more += 1) await make(client, {})
    expect((await client.post('/api/v1/keys', { name: 'sixth' })).body).toMatchObject({
      code: 'limit_reached',
    })
    const made = await client.expect(
      client.post(`/api/v1/keys/${old.id}/rotate`, { overlapSeconds: 3600 }),
      Made,
    )
    expect(made).toMatchObject({
      name: 'made',
      scope: 'write',
      allowedNetworks: ['127.0.0.1/32'],
      expiresAt: null,
    })
    expect([await statusOf(old.key), await statusOf(made.key)]).toEqual([200, 200])
    const { items } = await client.expect(client.get('/api/v1/keys'), List)
    expect(items.find((one) => one.id === old.id)?.replacedById).toBe(made.id)
    const again = await client.post(`/api/v1/keys/${old.id}/rotate`, {})
    expect(again).toMatchObject({ status: 404, body: { code: 'not_found' } })
    await service.clock.advance(3_601_000)
    expect([await statusOf(old.key), await statusOf(made.key)]).toEqual([401, 200])
  })

  test('never lengthens the life of the old key, and may end it at once', async () => {
    const client = await service.newClient()
    const short = await make(client, { expiresAt: inSeconds(60) })
    await client.post(`/api/v1/keys/${short.id}/rotate`, { overlapSeconds: 3600 })
    const { items } = await client.expect(client.get('/api/v1/keys'), List)
    expect(items.find((one) => one.id === short.id)?.expiresAt).toBe(short.expiresAt)
    const leaked = await make(client, {})
    const made = await client.expect(
      client.post(`/api/v1/keys/${leaked.id}/rotate`, { overlapSeconds: 0 }),
      Made,
    )
    expect([await statusOf(leaked.key), await statusOf(made.key)]).toEqual([401, 200])
  })

  test('is final: the old key can be ended sooner, and never later', async () => {
    const client = await service.newClient()
    const { id, key } = await make(client, {})
    await client.post(`/api/v1/keys/${id}/rotate`, { overlapSeconds: 3600 })
    const changed = (members: object) => client.patch(`/api/v1/keys/${id}`, members)
    for (const expiresAt of [null, inSeconds(7200)])
      expect(await changed({ name: 'never', expiresAt })).toMatchObject({
        status: 400,
        body: { errors: [{ pointer: '#/expiresAt', code: 'not_allowed' }] },
      })
    const sooner = inSeconds(60)
    expect((await changed({ name: 'sooner', expiresAt: sooner })).body).toMatchObject({
      name: 'sooner',
      expiresAt: sooner,
    })
    await service.clock.advance(61_000)
    expect((await changed({ expiresAt: inSeconds(60) })).status).toBe(400)
    expect(await statusOf(key)).toBe(401)
  })

  test('leaves as many old keys at once as the plan has keys; one that ends the old key is always possible', async () => {
    const client = await service.newClient()
    let { id } = await make(client, {})
    const rotate = (overlapSeconds: number) => client.post(`/api/v1/keys/${id}/rotate`, { overlapSeconds })
    for (let time = 0; time < 5; time += 1) ({ id } = await client.expect(rotate(3600), Made))
    expect(await rotate(3600)).toMatchObject({ status: 409, body: { code: 'limit_reached' } })
    ;({ id } = await client.expect(rotate(0), Made))
    await service.clock.advance(3_601_000)
    expect((await rotate(3600)).status).toBe(201)
  })

  test('of two at once makes one key', async () => {
    const client = await service.newClient()
    const { id } = await make(client, {})
    const answers = await Promise.all([0, 1, 2].map(() => client.post(`/api/v1/keys/${id}/rotate`, {})))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 404, 404])
  })

  test('is not undone by a new name that is given meanwhile', async () => {
    const client = await service.newClient()
    const { id, key } = await make(client, { name: 'old' })
    // While the row is locked, both calls come as far as its change, the rotation first.
    const [rotated, named] = await service.db.transaction().execute(async (trx) => {
      await trx.selectFrom('apiKeys').select('id').where('id', '=', id).forUpdate().execute()
      const rotation = client.post(`/api/v1/keys/${id}/rotate`, { overlapSeconds: 0 })
      await eventually('the rotation waits', async () => (await countLockWaits(service.db)) === 1)
      const naming = client.patch(`/api/v1/keys/${id}`, { name: 'new' })
      await eventually('both wait', async () => (await countLockWaits(service.db)) === 2)
      return [rotation, naming] as const
    })
    expect([(await rotated).status, (await named).status]).toEqual([201, 200])
    expect((await named).body).toMatchObject({ name: 'new', replacedById: expect.any(String) })
    expect(await statusOf(key)).toBe(401)
  })
})

test('a key of an endpoint goes with it, and its browsers, before the endpoint is purged', async () => {
  const client = await service.newClient()
  const endpoint = await client.endpoint()
  const { id, key } = await make(client, { scope: 'read', endpointId: endpoint.id })
  for (let more = 0; more < 3; more += 1) await make(client, {})
  const browser = new TestBrowser(service)
  expect((await browser.signIn({ key })).status).toBe(204)
  expect([await statusOf(key), (await browser.query('sessions.current')).status]).toEqual([200, 200])
  await client.delete(endpoint.at(''))
  expect([await statusOf(key), (await browser.query('sessions.current')).status]).toEqual([401, 401])
  expect((await client.post(`/api/v1/keys/${id}/rotate`, {})).status).toBe(404)
  expect((await new TestBrowser(service).signIn({ key })).status).toBe(401)
  await make(client, { name: 'in its place' })
})

test('of the keys that have ended, the last thousand of a workspace are kept, and at most 500 others go at a time', async () => {
  const client = await service.newClient()
  const { workspaceId } = client
  const [first, last] = [await make(client, {}), await make(client, {})]
  await client.delete(`/api/v1/keys/${first.id}`)
  await service.clock.advance(1_000)
  await client.delete(`/api/v1/keys/${last.id}`)
  await service.db
    .insertInto('apiKeys')
    .columns(['id', 'workspaceId', 'name', 'prefix', 'sha256', 'createdAt', 'revokedAt'])
    .expression(
      sql`select gen_random_uuid(), ${workspaceId}::uuid, 'old', 'old', sha256(gen_random_uuid()::text::bytea), at, at
        from generate_series(1, 1900) n cross join lateral (
          select ${service.clock.now()}::timestamptz - interval '1 minute' as at
        ) a`,
    )
    .execute()
  const rotated = await make(client, {})
  const { items: left } = await client.expect(client.get('/api/v1/keys'), List)
  expect(left.filter(({ revokedAt }) => revokedAt !== null)).toHaveLength(1402)
  await client.post(`/api/v1/keys/${rotated.id}/rotate`, { overlapSeconds: 0 })
  const { items } = await client.expect(client.get('/api/v1/keys'), List)
  const ids = items.map(({ id }) => id)
  // One more has ended since the last key was made.
  expect(
    items.filter(({ replacedById, revokedAt }) => replacedById !== null || revokedAt !== null),
  ).toHaveLength(1001)
  expect([ids.includes(first.id), ids.includes(last.id)]).toEqual([true, true])
})
