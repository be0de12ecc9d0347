import { beforeAll, describe, expect, test } from 'bun:test'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { openDatabase } from '@creel/core'
import { MIGRATIONS, migrate } from '@creel/migrations'
import { sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import { z } from 'zod'
import { Client } from '../support/client.ts'
import { createTestDatabase } from '../support/database.ts'
import { runCreel } from '../support/process.ts'
import { startService, type TestService } from '../support/service.ts'

/** Migrates a database of 0.1.0 with rows in every table: nothing is lost, and the API serves all of it. */

const LAST_OF_0_1_0 = '20261121T1060_watchdogs'
const KEY = `creel_live_${randomBytes(12).toString('hex')}`
const AT = '2026-11-21T10:00:00Z'
const secretKey = randomBytes(32)

const ids = {
  workspace: randomUUID(),
  key: randomUUID(),
  endpoint: randomUUID(),
  action: randomUUID(),
  rule: randomUUID(),
  channel: randomUUID(),
  channelOfAll: randomUUID(),
  channelOfErrors: randomUUID(),
  channelOfWatchdogs: randomUUID(),
  incident: randomUUID(),
  alert: randomUUID(),
  criteria: randomUUID(),
  watchdog: randomUUID(),
  contact: randomUUID(),
}

const RULE = '{"version":1,"name":"Slim","steps":[{"op":"remove","paths":["body.x"]}]}'

/** The events that a channel of 0.1.0 could subscribe to. */
const FORMER_EVENTS = [
  'delivery.parked',
  'delivery.recovered',
  'transformation.disabled',
  'watchdog.alarmed',
  'watchdog.recovered',
  'capture.rejected',
  'action.notify',
]

const channelRow = (id: string, name: string, kinds: readonly string[], minSeverity: string) =>
  `insert into alert_channels (id, workspace_id, kind, name, enabled, settings, events, created_at)
   values ('${id}', '${ids.workspace}', 'webhook', '${name}', true, '{"url":"http://127.0.0.1:9/alerts"}',
     '${JSON.stringify(kinds.map((kind) => ({ kind, minSeverity })))}', '${AT}')`

/** One row of each table at least, in the format of 0.1.0. */
const ROWS = [
  `insert into workspaces values ('${ids.workspace}', 'old', 'team', '${AT}')`,
  `insert into api_keys values ('${ids.key}', '${ids.workspace}', 'ci', '${KEY.slice(0, 17)}',
     decode('${createHash('sha256').update(KEY).digest('hex')}', 'hex'), '${AT}', null)`,
  `insert into api_key_windows values ('${ids.key}', '${AT}', 3)`,
  `insert into concurrency_slots values ('${randomUUID()}', 'await:x', null, '${AT}')`,
  `insert into contacts values ('${ids.contact}', '${ids.workspace}', 'ada@example.test', 'Ada', '${AT}')`,
  `insert into installation values ('applied plans', '\\x00')`,
  `insert into endpoints (id, workspace_id, name, is_active, created_at, response_status_code, response_content_type,
     response_headers, response_body)
   values ('${ids.endpoint}', '${ids.workspace}', 'Orders', true, '${AT}', 202, 'text/plain', '{"X-A":"b"}', 'thanks')`,
  `insert into endpoint_counters (endpoint_id, stored_request_count, stored_bytes, last_request_at, oldest_request_id)
   values ('${ids.endpoint}', 1, 14, '${AT}', 1)`,
  `insert into requests (endpoint_id, id, received_at, method, path, query_string, header_names, header_values,
     content_type, size_bytes, ip, user_agent, label, body, body_truncated, body_is_binary, body_preview, dispatch_state)
   values ('${ids.endpoint}', nextval('request_ids'), now() - interval '1 hour', 'POST', '/sub', 'a=1', 'Content-Type',
     'application/json', 'application/json', 14, '192.0.2.1', 'curl', 'order.paid', '{"order": "42"}', false, false,
     '{"order": "42"}', 'Pending')`,
  `insert into actions (id, workspace_id, endpoint_id, kind, name, position, is_active, condition, url, created_at)
   values ('${ids.action}', '${ids.workspace}', '${ids.endpoint}', 'forward', 'Shop', 1, true, '{}',
     'http://127.0.0.1:9/hooks', '${AT}')`,
  `insert into deliveries (workspace_id, endpoint_id, request_id, action_id, action_name, kind, trigger, attempt_count,
     next_attempt_at, created_at, finished_at, parked_at)
   values ('${ids.workspace}', '${ids.endpoint}', 1, '${ids.action}', 'Shop', 'forward', 'capture', 7, '${AT}', '${AT}',
     '${AT}', '${AT}')`,
  `insert into delivery_attempts (endpoint_id, delivery_id, workspace_id, request_id, action_id, action_name, kind,
     state, attempt_number, trigger, status_code, error, url, at, finished_at, duration_ms)
   values ('${ids.endpoint}', 1, '${ids.workspace}', 1, '${ids.action}', 'Shop', 'forward', 'DeadLetter', 7, 'retry', 500,
     'HTTP 500', 'http://127.0.0.1:9/hooks', '${AT}', '${AT}', 12)`,
  `insert into attempt_details values ('${ids.endpoint}', 1, 1, 'POST', 'http://127.0.0.1:9/hooks', '[["A","b"]]', null,
     false, 500, '[["C","d"]]', 'oops', false)`,
  `insert into transformation_rules values ('${ids.rule}', '${ids.workspace}', '${ids.endpoint}', '${ids.action}', 1, 'Slim',
     true, null, 1, '${RULE}', '${AT}', '${AT}')`,
  `insert into transformation_rule_versions values ('${ids.rule}', 1, '${RULE}', '${AT}', null)`,
  `insert into rule_faults values ('${ids.rule}', 1, '${AT}')`,
  channelRow(ids.channel, 'Ops', ['delivery.parked', 'capture.rejected'], 'warning'),
  channelRow(ids.channelOfAll, 'All', FORMER_EVENTS, 'info'),
  channelRow(ids.channelOfErrors, 'Errors', FORMER_EVENTS, 'error'),
  channelRow(ids.channelOfWatchdogs, 'Watchdogs', ['watchdog.alarmed'], 'critical'),
  `insert into incidents (id, workspace_id, kind, severity, subject_type, subject_id, subject_name, endpoint_id,
     endpoint_name, count, opened_at)
   values ('${ids.incident}', '${ids.workspace}', 'delivery.parked', 'error', 'action', '${ids.action}', 'Shop',
     '${ids.endpoint}', 'Orders', 1, '${AT}')`,
  `insert into alerts (id, workspace_id, event_kind, severity, status, incident_id, subject_type, subject_id,
     subject_name, count, occurred_at, fanned_out_at)
   values ('${ids.alert}', '${ids.workspace}', 'delivery.parked', 'error', 'open', '${ids.incident}', 'action',
     '${ids.action}', 'Shop', 1, now() - interval '1 hour', now())`,
  `insert into alert_deliveries (alert_id, workspace_id, at, channel_id, channel_name, channel_kind, outcome, try_count,
     tries_max) values ('${ids.alert}', '${ids.workspace}', now() - interval '1 hour', '${ids.channel}', 'Ops', 'webhook',
     'delivered', 1, 4)`,
  `insert into watchdog_criteria values ('${ids.criteria}', '${ids.endpoint}', '{}',
     decode('${createHash('sha256').update('{}').digest('hex')}', 'hex'), null, null)`,
  `insert into watchdogs (id, workspace_id, endpoint_id, criteria_id, name, active, match, expected_interval_seconds,
     grace_seconds, phase, armed_at, baseline_at, alarm_at, created_at)
   values ('${ids.watchdog}', '${ids.workspace}', '${ids.endpoint}', '${ids.criteria}', 'Daily', true, '{}', 86400, 3600,
     'waiting', now(), now(), now() + interval '1 day', '${AT}')`,
  `insert into gateway_heartbeats values ('${randomUUID()}', '${AT}')`,
  `insert into gateway_outages values ('${AT}', '2026-11-21T10:05:00Z')`,
]

let service: TestService
let client: Client
let rowsBefore: ReadonlyMap<string, number>
let rowsAfter: ReadonlyMap<string, number>
/** The report of `creel upgrade-check` before the migration. */
let foretold: z.output<typeof Report>

const Report = z.looseObject({
  pending: z.array(z.object({ name: z.string(), stop: z.string().nullable() })),
  unknown: z.array(z.string()),
  needsStop: z.boolean(),
  plansChanged: z.boolean(),
})

/** Runs the command on a database. */
async function upgradeCheck(database: { readonly url: string }) {
  const { exitCode, stdout } = await runCreel(['upgrade-check', '--json'], { database })
  return { exitCode, report: Report.parse(JSON.parse(stdout)) }
}

beforeAll(async () => {
  const database = await createTestDatabase({ isEmpty: true })
  const { db, close } = openDatabase(database.url, 2)
  const count = async () => {
    const { rows: tables } = await sql<{ name: string }>`
      select tablename as name from pg_tables where schemaname = 'public' and tablename not like 'kysely%'`.execute(
      db,
    )
    const counts = new Map<string, number>()
    for (const { name } of tables) {
      const { rows } = await sql<{
        count: number
      }>`select count(*)::int as count from ${sql.table(name)}`.execute(db)
      counts.set(name, rows[0]?.count ?? 0)
    }
    return counts
  }
  const { error } = await new Migrator({
    db,
    provider: { getMigrations: async () => ({ ...MIGRATIONS }) },
  }).migrateTo(LAST_OF_0_1_0)
  if (error !== undefined) throw error
  for (const row of ROWS) await sql.raw(row).execute(db)
  rowsBefore = await count()
  foretold = (await upgradeCheck(database)).report
  await migrate(db)
  rowsAfter = await count()
  await close()
  service = await startService({ database, secretKey })
  client = new Client(service.baseUrl, service.captureUrl, KEY, ids.workspace, ids.key)
})

describe('upgrade-check', () => {
  test('foretells the migrations, the stop that they need, and changed plans; and changes nothing', () => {
    const names = Object.keys(MIGRATIONS)
    expect(foretold.pending.map(({ name }) => name)).toEqual(names.slice(names.indexOf(LAST_OF_0_1_0) + 1))
    expect(foretold).toMatchObject({ unknown: [], needsStop: true, plansChanged: true })
    expect(foretold.pending.filter(({ stop }) => stop !== null)).toHaveLength(1)
  })

  test('has nothing to say of a database that is up to date, and refuses one of a newer version', async () => {
    const database = await createTestDatabase()
    const current = await upgradeCheck(database)
    expect(current).toMatchObject({
      exitCode: 0,
      report: { pending: [], needsStop: false, plansChanged: false },
    })
    const { db, close } = openDatabase(database.url, 1)
    await sql`insert into kysely_migration values ('99990101T0000_later', '9999-01-01')`.execute(db)
    await close()
    const newer = await upgradeCheck(database)
    expect(newer).toMatchObject({ exitCode: 1, report: { unknown: ['99990101T0000_later'] } })
    const migrated = await runCreel(['migrate'], { database })
    expect(migrated).toMatchObject({ exitCode: 1, stdout: '' })
    expect(migrated.stderr).toBe(
      'creel: A newer version of creel has migrated this database (99990101T0000_later). Run that version.\n',
    )
  })
})

describe('a database of 0.1.0', () => {
  test('had a row in each of its tables, and keeps all of them', () => {
    expect([...rowsBefore].filter(([, count]) => count === 0)).toEqual([])
    expect(rowsBefore.size).toBeGreaterThan(20)
    for (const [table, count] of rowsBefore) expect([table, rowsAfter.get(table)]).toEqual([table, count])
  })

  test('serves what it had: the key may everything, and every object is there', async () => {
    const at = (path: string) => client.get(`/api/v1/endpoints/${ids.endpoint}${path}`)
    expect((await client.get('/api/v1/me')).body).toMatchObject({
      key: { name: 'ci', scope: 'admin', endpointId: null, expiresAt: null },
      workspace: { name: 'old' },
    })
    expect((await at('')).body).toMatchObject({
      name: 'Orders',
      storedRequestCount: 1,
      responseStatusCode: 202,
      responseHeaders: { 'X-A': 'b' },
    })
    expect((await at('/requests/1')).body).toMatchObject({
      method: 'POST',
      path: '/sub',
      label: 'order.paid',
      body: '{"order": "42"}',
      state: 'DeadLetter',
    })
    expect((await at('/deliveries/1')).body).toMatchObject({
      state: 'DeadLetter',
      statusCode: 500,
      received: { body: 'oops' },
    })
    expect((await at('/actions')).body).toMatchObject({ actions: [{ name: 'Shop', ruleCount: 1 }] })
    expect((await at('/transformations')).body).toMatchObject({ rules: [{ id: ids.rule, version: 1 }] })
    expect((await client.get(`/api/v1/watchdogs/${ids.watchdog}`)).body).toMatchObject({ name: 'Daily' })
    expect((await client.get('/api/v1/alert-channels')).body).toMatchObject({ totalCount: 4 })
    expect((await client.get('/api/v1/alert-channels/deliveries')).body).toMatchObject({ totalCount: 1 })
    expect((await client.get('/api/v1/incidents')).body).toMatchObject({ items: [{ id: ids.incident }] })
  })

  test('its channels hear of failing destinations: as of dead letters, and those of all events of each new one', async () => {
    const Kinds = z.looseObject({ items: z.array(z.looseObject({ kind: z.string() })) })
    const { items: kinds } = await client.expect(client.get('/api/v1/alert-channels/events'), Kinds)
    expect(kinds.length).toBeGreaterThan(FORMER_EVENTS.length)
    const eventsOf = async (id: string) =>
      z
        .looseObject({ events: z.array(z.object({ kind: z.string(), minSeverity: z.string() })) })
        .parse((await client.get(`/api/v1/alert-channels/${id}`)).body).events
    const all = (minSeverity: string) => kinds.map(({ kind }) => ({ kind, minSeverity }))
    expect(await eventsOf(ids.channelOfAll)).toEqual(all('info'))
    expect(await eventsOf(ids.channelOfErrors)).toEqual(all('error'))
    expect(await eventsOf(ids.channel)).toEqual(
      ['delivery.parked', 'capture.rejected', 'delivery.failing', 'delivery.working'].map((kind) => ({
        kind,
        minSeverity: 'warning',
      })),
    )
    expect(await eventsOf(ids.channelOfWatchdogs)).toEqual([
      { kind: 'watchdog.alarmed', minSeverity: 'critical' },
    ])
  })

  test('goes on: it captures, lists, changes and keeps its log', async () => {
    const sent = await fetch(`${service.captureUrl}/hook/${ids.endpoint}`, { method: 'POST', body: 'new' })
    expect([sent.status, await sent.text()]).toEqual([202, 'thanks'])
    const List = z.looseObject({ items: z.array(z.looseObject({ id: z.int() })) })
    const { items } = await client.expect(client.get(`/api/v1/endpoints/${ids.endpoint}/requests`), List)
    expect(items.map(({ id }) => id)).toEqual([2, 1])
    expect((await client.patch(`/api/v1/endpoints/${ids.endpoint}`, { name: 'Renamed' })).status).toBe(200)
    expect((await client.get('/api/v1/audit')).body).toMatchObject({
      items: [{ action: 'endpoints.update' }],
    })
  })
})
