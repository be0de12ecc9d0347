import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Db, type OpenDatabase, openDatabase, RELAYED, ROUTES } from '@creel/core'
import {
  RELAY_CREATIONS_PER_ADDRESS,
  RELAY_ENDPOINTS_MAX,
  RELAY_LIMITS,
  RELAY_LIVE_PER_ADDRESS,
  RELAY_LIVE_PER_NETWORK,
  sweepRelay,
} from '@creel/core/relay'
import { sql } from 'kysely'
import { z } from 'zod'
import { eventually } from '../support/eventually.ts'
import { isWaitingForLock } from '../support/lockWaits.ts'
import { startReceiver } from '../support/receiver.ts'
import { type AttackedService, startAttackedService } from './attackedService.ts'

/** Strangers who take more of a relay than it gives, while another stranger captures and reads. */

let relay: AttackedService
let opened: OpenDatabase
let db: Db
let base: string

beforeAll(async () => {
  relay = await startAttackedService({ isRelay: true, env: { CREEL_ALLOW_DESTINATIONS: '127.0.0.0/8' } })
  opened = openDatabase(relay.database.url, 4, 1)
  db = opened.db
  base = relay.creel.baseUrl
})

afterAll(async () => {
  await opened.close()
  await relay.stop()
})

const Given = z.object({ endpointId: z.string(), url: z.string(), key: z.string(), expiresAt: z.string() })

const ask = (address: string, type = 'application/json') =>
  fetch(`${base}/relay/endpoints`, {
    method: 'POST',
    headers: { 'X-Forwarded-For': address, 'Content-Type': type },
    body: '{}',
  })
const given = async (address: string) => Given.parse(await (await ask(address)).json())
const call = (key: string, method: string, path: string, body?: object) =>
  fetch(`${base}/api/v1${path}`, {
    method,
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
const pathOf = ({ endpointId }: { endpointId: string }) => `/endpoints/${endpointId}`
const codeOf = async (answer: Response) => z.looseObject({ code: z.string() }).parse(await answer.json()).code

test('one address keeps few endpoints, and creates few in an hour; asking without end costs others nothing', async () => {
  const address = '198.51.100.1'
  const own = await Promise.all(Array.from({ length: RELAY_LIVE_PER_ADDRESS }, () => given(address)))
  await relay.attackedBy(async () => {
    const answers = await Promise.all(Array.from({ length: 500 }, () => ask(address)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([429]))
    expect(Number(answers[0]?.headers.get('retry-after'))).toBeLessThanOrEqual(60)
  })
  // The rate counts endpoints that have ended, too.
  const churner = '2001:db8:1:1::1'
  for (let made = 0; made < RELAY_CREATIONS_PER_ADDRESS; made += 1) {
    const one = await given(churner)
    expect((await call(one.key, 'DELETE', pathOf(one))).status).toBe(204)
  }
  const refused = await ask('2001:db8:1:1:ffff::2')
  expect(refused.status).toBe(429)
  expect(await codeOf(refused)).toBe('rate_limited')
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3000)
  expect((await ask('2001:db8:1:2::1')).status).toBe(201)
  expect((await call(own[0]?.key ?? '', 'GET', '/me')).status).toBe(200)
})

test('an IPv6 /48 keeps few endpoints, however many addresses it has, and leaves the others to all', async () => {
  await relay.attackedBy(async () => {
    const statuses: number[] = []
    for (let at = 0; at < RELAY_LIVE_PER_NETWORK + 10; at += 5) {
      const answers = [0, 1, 2, 3, 4].map((more) => ask(`2001:db8:77:${(at + more).toString(16)}::1`))
      statuses.push(...(await Promise.all(answers)).map(({ status }) => status))
    }
    expect(statuses.filter((status) => status === 201)).toHaveLength(RELAY_LIVE_PER_NETWORK)
    expect(statuses.filter((status) => status === 429)).toHaveLength(10)
  })
  expect((await ask('2001:db8:78:1::1')).status).toBe(201)
  expect((await ask('198.51.100.77')).status).toBe(201)
  // The longest idle place of the network ends first; one that is in use stays.
  const placed = async () =>
    (
      await sql<{ id: string }>`select e.id from relay_endpoints r join endpoints e on e.id = r.endpoint_id
        where starts_with(r.address, '2001:db8:77:') and e.deleted_at is null order by r.created_at`.execute(
        db,
      )
    ).rows.map(({ id }) => id)
  const [longest = '', next = '', used = ''] = await placed()
  await sql`update relay_endpoints set created_at = now() - case endpoint_id::text when ${used} then interval '50 minutes'
      when ${longest} then interval '40 minutes' else interval '20 minutes' end
    where endpoint_id::text in (${longest}, ${next}, ${used})`.execute(db)
  expect((await fetch(`${base}/hook/${used}`, { method: 'POST', body: '{}' })).status).toBe(200)
  expect((await ask('2001:db8:77:fff0::1')).status).toBe(201)
  const left = await placed()
  expect(left).toHaveLength(RELAY_LIVE_PER_NETWORK)
  expect(left).not.toContain(longest)
  expect(left).toEqual(expect.arrayContaining([next, used]))
  expect((await fetch(`${base}/hook/${longest}`, { method: 'POST' })).status).toBe(404)
})

test('an endpoint holds few requests and small bodies, and takes its own place only', async () => {
  const one = await given('198.51.100.2')
  const { payloadBytesMax, captureBytesPerMinute, captureRatePerMinute } = RELAY_LIMITS
  const body = 'x'.repeat(payloadBytesMax)
  const statuses: number[] = []
  await relay.attackedBy(async () => {
    await fetch(one.url, { method: 'POST', body: `${body}x` })
    for (let sent = 0; sent <= captureBytesPerMinute / payloadBytesMax; sent += 1) {
      statuses.push((await fetch(one.url, { method: 'POST', body })).status)
    }
  })
  expect(statuses[0]).toBe(200)
  expect(statuses.at(-1)).toBe(429)
  const stored = z
    .looseObject({ items: z.array(z.looseObject({ bodyTruncated: z.boolean() })) })
    .parse(await (await call(one.key, 'GET', `${pathOf(one)}/requests`)).json())
  expect(stored.items.at(-1)).toMatchObject({ bodyTruncated: true })
  const small = await given('198.51.100.2')
  const many: number[] = []
  for (let sent = 0; sent <= captureRatePerMinute; sent += 1) {
    many.push((await fetch(small.url, { method: 'POST', body: '1' })).status)
  }
  expect(many.filter((status) => status === 200)).toHaveLength(captureRatePerMinute)
  expect(many.at(-1)).toBe(429)
})

test('a key reaches its own endpoint only, and nothing that sends', async () => {
  await using receiver = await startReceiver()
  const one = await given('198.51.100.3')
  const other = await given('198.51.100.4')
  expect((await call(one.key, 'GET', pathOf(one))).status).toBe(200)
  expect((await call(one.key, 'GET', pathOf(other))).status).toBe(404)
  await fetch(one.url, { method: 'POST', body: '{}' })
  const opened: string[] = []
  for (const { name, method, path } of ROUTES) {
    if (RELAYED.has(name)) continue
    const target = path
      .replace('/api/v1', '')
      .replace('{endpointId}', one.endpointId)
      .replaceAll(/\{\w+\}/g, '1')
    const hasBody = method !== 'GET' && method !== 'DELETE'
    const answer = await call(one.key, method, target, hasBody ? { url: receiver.url } : undefined)
    // A body or an id that cannot be read is refused first.
    if (![400, 403, 404].includes(answer.status)) opened.push(`${name}: ${answer.status}`)
  }
  expect(opened).toEqual([])
  const forward = { kind: 'forward', name: 'x', url: receiver.url }
  expect((await call(one.key, 'POST', `${pathOf(one)}/actions`, forward)).status).toBe(403)
  const legacy = await call(one.key, 'PATCH', pathOf(one), { forwardUrl: receiver.url })
  expect(legacy.status).toBeGreaterThanOrEqual(400)
  await fetch(one.url, { method: 'POST', body: '{}' })
  expect(receiver.received).toHaveLength(0)
  for (const path of ['/console/', '/console/session', '/metrics']) {
    expect((await fetch(base + path)).status).toBe(404)
  }
  const page = await fetch(base)
  expect(page.headers.get('content-type')).toStartWith('text/html')
  expect(await page.text()).toContain(`creel listen --relay ${base}`)
  // A page of another site can send forms, and no JSON.
  expect((await ask('198.51.100.5', 'text/plain')).status).toBe(400)
})

test('an endpoint ends when it is idle, or old; used ones live', async () => {
  const [idle, used, old] = await Promise.all([6, 7, 8].map((host) => given(`198.51.100.${host}`)))
  if (idle === undefined || used === undefined || old === undefined) throw new Error('There are three.')
  await fetch(used.url, { method: 'POST', body: '{}' })
  const ids = [idle, used].map(({ endpointId }) => endpointId)
  await sql`update relay_endpoints set created_at = now() - interval '121 minutes'
    where endpoint_id in (${sql.join(ids)})`.execute(db)
  await sql`update endpoints set expires_at = now() where id = ${old.endpointId}`.execute(db)
  const service = { db, clock: { now: () => new Date() } }
  await sweepRelay(service)
  const statusOf = async ({ url }: { url: string }) => (await fetch(url, { method: 'POST' })).status
  expect(await statusOf(idle)).toBe(404)
  expect(await statusOf(used)).toBe(200)
  expect(await statusOf(old)).toBe(404)
  expect(Date.parse(used.expiresAt) - Date.now()).toBeLessThanOrEqual(86_400_000)
  // Once the rows of an endpoint are purged, nothing of its stranger is left but the count of the hour.
  await sql`delete from endpoints where id = ${idle.endpointId}`.execute(db)
  await sweepRelay(service)
  const left = await sql`select from relay_endpoints where endpoint_id = ${idle.endpointId}
    union all select from api_keys where name = ${`relay ${idle.endpointId.slice(0, 8)}`}`.execute(db)
  expect(left.rows).toEqual([])
})

test('an endpoint that is used while the sweep comes to it lives', async () => {
  const { endpointId, url } = await given('198.51.100.9')
  await sql`update relay_endpoints set created_at = now() - interval '121 minutes'
    where endpoint_id = ${endpointId}`.execute(db)
  const now = new Date()
  const sweep = await db.transaction().execute(async (trx) => {
    await sql`select from endpoint_counters c join endpoints e on e.id = c.endpoint_id
      where e.id = ${endpointId} for update`.execute(trx)
    const swept = sweepRelay({ db, clock: { now: () => now } })
    await eventually('the sweep waits', () => isWaitingForLock(db))
    await sql`update endpoint_counters set last_request_at = now() where endpoint_id = ${endpointId}`.execute(
      trx,
    )
    return { swept }
  })
  await sweep.swept
  expect((await fetch(url, { method: 'POST' })).status).toBe(200)
})

test('a full relay refuses strangers with a time to wait, and serves its own', async () => {
  await sql`with made as (
      insert into workspaces (id, name, plan, created_at)
      select gen_random_uuid(), 'relay full ' || n, 'free', now() from generate_series(1, ${RELAY_ENDPOINTS_MAX}::int) n
      returning id
    ), placed as (
      insert into endpoints (id, workspace_id, name, is_active, response_status_code, response_content_type,
        response_headers, response_body, created_at, expires_at)
      select gen_random_uuid(), id, 'full', true, 200, 'text/plain', '{}', '', now(), now() + interval '1 day' from made
      returning id, workspace_id
    ), counted as (
      insert into endpoint_counters (endpoint_id) select id from placed
    )
    insert into relay_endpoints (endpoint_id, workspace_id, address, created_at)
    select id, workspace_id, 'many', now() from placed`.execute(db)
  await relay.attackedBy(async () => {
    const refused = await ask('203.0.113.50')
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('60')
  })
  // The endpoints with the longest idle time end, so that strangers find a place again.
  await sql`update relay_endpoints set created_at = now() - interval '20 minutes' where address = 'many'`.execute(
    db,
  )
  await sweepRelay({ db, clock: { now: () => new Date() } })
  const live = await sql<{ count: number }>`select count(*)::int as count from relay_endpoints r
    join endpoints e on e.id = r.endpoint_id where e.deleted_at is null`.execute(db)
  expect(live.rows[0]?.count).toBe(RELAY_ENDPOINTS_MAX * 0.9)
})
