import { beforeAll, describe, expect, test } from 'bun:test'
import { openDatabase } from '@creel/core'
import { flowSends } from '@creel/core/deliveries'
import { sweepOriginals } from '@creel/core/requests'
import { analyzeOutgrown, readStorage, sweepBytes, sweepRetention } from '@creel/core/retention'
import { sealStored } from '@creel/core/sealing'
import { sql } from 'kysely'
import { type Execution, explain, type RecordedStatement, recordStatements } from '../support/plans.ts'
import { startService } from '../support/service.ts'

const STORED = 6_000
const FILLED = ['requests', 'deliveries', 'delivery_attempts', 'attempt_details']

const recorder = recordStatements()
// No jobs, since the sweep that updates the statistics must not help.
const service = await startService({ parts: ['gateway'] })
const { alice, db } = service
const database = openDatabase(service.database.url, 2)
const endpoint = await alice.endpoint()
const other = await alice.endpoint()
const action = '11111111-1111-4111-8111-111111111111'
let statements: readonly RecordedStatement[] = []

/** Every statement that reads tables which captures and deliveries fill, executed without and with statistics. */
const executions = new Map<string, { without: Execution; having: Execution }>()

beforeAll(async () => {
  for (const table of FILLED) {
    await sql`alter table ${sql.table(table)} set (autovacuum_enabled = false)`.execute(db)
  }
  await sql`
    insert into actions (id, workspace_id, endpoint_id, kind, name, position, is_active, condition, url, created_at)
    values (${action}, ${alice.workspaceId}, ${endpoint.id}, 'forward', 'to', 0, true, '{}', 'http://127.0.0.1:9/', now())
  `.execute(db)
  for (const { id } of [endpoint, other]) await fill(id)
  await deleteStatistics()
  const last = await lastId()
  statements = await recorder.during(() => everythingAPersonDoes(last))
  const without = new Map<string, Execution>()
  const relevant = statements.filter(isRelevant)
  for (const one of relevant) without.set(one.text, await explain(database.pool, one))
  await sql`analyze`.execute(db)
  for (const one of relevant) {
    const before = without.get(one.text)
    if (before !== undefined) {
      executions.set(one.text, { without: before, having: await explain(database.pool, one) })
    }
  }
})

describe('without statistics', () => {
  test('the statements of lists, following, search, awaits, details, claims and sweeps were seen', () => {
    const texts = [...executions.keys()].join('\n')
    for (const part of ['list requests', 'read request', 'claim forwards', 'deliveries of request']) {
      expect(texts).toContain(part)
    }
    expect(executions.size).toBeGreaterThan(12)
  })

  test('no statement reads a table from its beginning to its end', () => {
    const whole = [...executions].filter(([, { without }]) =>
      without.nodes.some((node) => new RegExp(`^(Parallel )?Seq Scan (${FILLED.join('|')})$`).test(node)),
    )
    expect(whole.map(([text]) => text)).toEqual([])
  })

  test('stored requests are walked in the order of their key, as with them', () => {
    // Deleted requests have two small indexes, which are as good. These statements are compared by their pages below.
    const wayOf = ({ nodes }: Execution) =>
      nodes.filter((node) => /^Sort|Bitmap.* requests|requests_pkey/.test(node))
    const walking = [...executions].filter(([, { having }]) => /requests_pkey/.test(String(having.nodes)))
    const differing = walking.filter(
      ([, { without, having }]) => String(wayOf(without)) !== String(wayOf(having)),
    )
    expect(walking.length).toBeGreaterThan(8)
    expect(differing).toEqual([])
  })

  test('no statement looks at more pages than with them', () => {
    const more = [...executions].filter(
      // A lookup by key costs two pages a row, even where a scan of a tiny table would cost almost none.
      ([, { without, having }]) => without.buffers > having.buffers * 3 + 250,
    )
    expect(more).toEqual([])
  })

  test('a page of a list costs the pages of its rows, however many are stored', () => {
    const [, list] = [...executions].find(([text]) => text.includes('list requests')) ?? []
    expect(list?.without.nodes).toContain('Index Scan Backward requests_pkey')
    // For each row the earlier requests of its event are looked up twice, by their index.
    expect(list?.without.buffers).toBeLessThan(800)
  })
})

describe('captures of a period', () => {
  const NEWEST = 30
  const reads = [`/api/v1/endpoints/${other.id}/stats`, `/api/v1/endpoints/${other.id}/traffic`]

  beforeAll(async () => {
    // Among the newest are imported requests, whose times say nothing of those before them.
    await sql`
      update requests r set received_at = received_at - interval '3 days', imported = n.newer < ${NEWEST}::int
      from (select id, row_number() over (order by id desc) - 1 as newer from requests where endpoint_id = ${other.id}) n
      where r.endpoint_id = ${other.id} and r.id = n.id and (n.newer >= ${NEWEST}::int or n.newer % 3 = 0)`.execute(
      db,
    )
    await sql`delete from deliveries where endpoint_id = ${other.id}`.execute(db)
    await sql`vacuum (full, analyze) requests, deliveries`.execute(db)
  })

  test.each(reads)('%s reads those of the period, however many are stored', async (read) => {
    const stored = await explain(database.pool, {
      text: 'select count(body) from requests where endpoint_id = $1',
      values: [other.id],
    })
    const seen = await recorder.during(async () => {
      const { body } = await alice.get(read)
      const counted = JSON.stringify(body).match(
        /"requestsLast(Hour|Day)Count":\d+|"capturedCount":[1-9]\d*/g,
      )
      expect(counted).not.toBeNull()
    })
    const counting = seen.filter(({ text }) => text.includes('with recursive halves'))
    expect(counting).toHaveLength(1)
    for (const one of counting)
      expect((await explain(database.pool, one)).buffers).toBeLessThan(stored.buffers / 2)
  })
})

describe('sweeps read what they keep page by page', () => {
  const KEPT = 5_000
  const never = new AbortController().signal
  const mostRead = async (table: string, sweep: () => Promise<unknown>) => {
    const seen = await recorder.during(sweep)
    const reads: number[] = []
    for (const one of seen.filter(({ text }) => text.includes(table)))
      reads.push((await explain(database.pool, one)).rows.get(table) ?? 0)
    return Math.max(...reads)
  }

  test('originals, and each whose deliveries have ended goes', async () => {
    await sql`
      insert into request_originals (endpoint_id, request_id, original, expires_at)
      select ${endpoint.id}, n - 10000, 'x', now() + interval '1 day' from generate_series(1, ${KEPT}::int + 2) n`.execute(
      db,
    )
    await sql`
      insert into deliveries (workspace_id, endpoint_id, request_id, action_id, action_name, kind, trigger, created_at, next_attempt_at)
      select ${alice.workspaceId}, ${endpoint.id}, n - 10000, ${action}, 'to', 'forward', 'capture', now(), now()
      from generate_series(1, ${KEPT}::int) n`.execute(db)
    expect(
      await mostRead('request_originals', () => sweepOriginals(service.running.services, never)),
    ).toBeLessThan(KEPT)
    const { rows } = await sql`select from request_originals`.execute(db)
    expect(rows).toHaveLength(KEPT)
  })

  test('records of attempts, and each without a request goes', async () => {
    await sql`delete from attempt_details`.execute(db)
    await sql`
      insert into attempt_details (endpoint_id, attempt_id, request_id, sent_method, sent_url, sent_headers, sent_body,
        sent_body_truncated)
      select id, n, n, 'POST', '', '[]', case when n <= ${KEPT}::int then 'kept'::bytea end, false
      from endpoints, generate_series(1, ${KEPT}::int + 2) n`.execute(db)
    await sql`update endpoint_counters set oldest_request_id = 1000000`.execute(db)
    await sql`delete from requests`.execute(db)
    expect(
      await mostRead('attempt_details', () => sweepRetention(service.running.services, never)),
    ).toBeLessThan(KEPT)
    const { rows } = await sql`select from attempt_details`.execute(db)
    expect(rows).toHaveLength(2 * KEPT)
  })
})

test('what seals messages of an endpoint reads no alert of others', async () => {
  const OTHERS = 3_000
  await sql`
    insert into alerts (id, workspace_id, event_kind, severity, status, subject_type, subject_id, subject_name,
      endpoint_id, count, reason, occurred_at)
    select gen_random_uuid(), ${alice.workspaceId}, 'action.notify', 'info', 'single', 'action', ${action}, 'to',
      case when n <= 3 then ${endpoint.id}::uuid else ${other.id}::uuid end, 1, 'message ' || n, now()
    from generate_series(1, ${OTHERS}::int) n`.execute(db)
  await sql`analyze alerts`.execute(db)
  expect((await alice.patch(`/api/v1/endpoints/${endpoint.id}`, { encryptBodies: true })).status).toBe(200)
  const seal = () => sealStored(service.running.services, new AbortController().signal)
  const seen = await recorder.during(seal)
  const finding = seen.find(({ text }) => /^select .* from "alerts"/.test(text))
  if (finding === undefined) throw new Error('no alerts were looked for')
  expect((await explain(database.pool, finding)).rows.get('alerts') ?? 0).toBeLessThan(OTHERS / 2)
  const { rows } = await sql`select from alerts where sealed is not null`.execute(db)
  expect(rows).toHaveLength(3)
})

test('the recycle bin is emptied without summing it up again for each piece', async () => {
  const { id } = await alice.endpoint()
  await fill(id)
  await sql`delete from deliveries`.execute(db)
  const binned = async () => {
    const { rows } = await sql<{ count: number; bytes: number }>`
      select count(*)::int as count, coalesce(sum(octet_length(body) + 1024), 0)::int as bytes
      from requests where deleted_at is not null`.execute(db)
    return rows[0] ?? { count: 0, bytes: 0 }
  }
  const [before, { totalBytes }] = [await binned(), await readStorage(db)]
  const storageMaxBytes = totalBytes - Math.floor(before.bytes / 2)
  const sweep = () =>
    sweepBytes({ ...service.running.services, storageMaxBytes }, new AbortController().signal)
  const seen = await recorder.during(sweep)
  expect(seen.find(({ text }) => text.includes('bytes of recycle bins'))?.times).toBeLessThan(5)
  const after = await binned()
  expect(after.count).toBeLessThan(before.count)
  expect(after.bytes).toBeGreaterThan(before.bytes / 4)
  expect((await readStorage(db)).totalBytes).toBeLessThanOrEqual(storageMaxBytes)
})

test('the recycle bins are summed up only where they have changed, however often a bound is looked at', async () => {
  const [full, changing] = [await alice.endpoint(), await alice.endpoint()]
  await fill(full.id)
  const { id } = await changing.capture()
  const sums = async (work: () => Promise<unknown>) => {
    const seen = await recorder.during(work)
    return seen.filter(({ text }) => text.includes('bytes of recycle bins'))
  }
  const { totalBytes } = await readStorage(db)
  expect(await sums(() => readStorage(db))).toEqual([])
  expect((await alice.delete(changing.at(`/requests/${id}`))).status).toBe(204)
  const [sum, ...others] = await sums(async () => {
    for (let look = 0; look < 5; look += 1) expect((await readStorage(db)).totalBytes).toBe(totalBytes)
  })
  expect([sum?.times, sum?.values, others]).toEqual([1, [[changing.id]], []])
})

test('a table that has outgrown its statistics is analysed, once', async () => {
  const pagesKnown = async () => {
    const { rows } = await sql<{ pages: number }>`
      select relpages as pages from pg_class where oid = 'requests'::regclass`.execute(db)
    return rows[0]?.pages
  }
  await deleteStatistics()
  await analyzeOutgrown(db)
  const known = await pagesKnown()
  expect(known).toBeGreaterThan(100)
  await fill((await alice.endpoint()).id)
  await analyzeOutgrown(db)
  expect(await pagesKnown()).toBe(known)
})

async function everythingAPersonDoes(last: number): Promise<void> {
  const path = `/api/v1/endpoints/${endpoint.id}`
  const reads = [
    '/requests',
    '/requests?page=3',
    `/requests?afterId=${last - 40}`,
    `/requests?afterId=${last - 40}&page=9`,
    '/requests?label=rare',
    '/requests?eventId=event-7',
    '/requests/await?timeoutSeconds=1&eventId=event-7',
    '/requests?since=2020-01-01T00:00:00Z&method=POST',
    '/requests?state=Succeeded',
    '/requests?needsAttention=true',
    '/requests?q=marker-7-',
    `/requests/${last - 1}`,
    '/requests/await?timeoutSeconds=1',
    `/requests/await?timeoutSeconds=1&afterId=${last - 4}`,
    '/deliveries',
    '/deliveries?state=Succeeded',
    '/stats',
  ]
  for (const read of reads) expect((await alice.get(path + read)).status).toBe(200)
  expect((await alice.get(`/api/v1/recycle-bin?endpointId=${endpoint.id}`)).status).toBe(200)
  expect((await alice.delete(`${path}/requests/${last - 2}`)).status).toBe(204)
  const { services } = service.running
  const lane = { id: action, workspaceId: alice.workspaceId }
  await sql`insert into action_flows (action_id) values (${action}) on conflict do nothing`.execute(db)
  await sql`
    update deliveries set flow_state = 'waiting', flow_due_at = next_attempt_at
    where id = (select max(id) from deliveries where endpoint_id = ${endpoint.id})`.execute(db)
  const look = await db
    .transaction()
    .execute((trx) => flowSends(async () => {}).look(services, trx, lane, { slots: 1, leadMs: 0 }))
  expect(look.sends).toHaveLength(1)
  await sweepRetention(services, new AbortController().signal)
}

function isRelevant({ text }: RecordedStatement): boolean {
  const isRead = /^(\/\*.*?\*\/\s*)?(select|with|update|delete|insert)\b/i.test(text)
  return isRead && FILLED.some((table) => new RegExp(`(from|update|join|into) "?${table}\\b`).test(text))
}

async function fill(endpointId: string): Promise<void> {
  await sql`
    with stored as (
      insert into requests (endpoint_id, id, received_at, method, path, header_names, header_values, content_type,
        size_bytes, label, event_id, body, body_truncated, body_is_binary, body_preview, dispatch_state, deleted_at)
      select ${endpointId}::uuid, nextval('request_ids'), now(), 'POST', '', 'Content-Type', 'text/plain', 'text/plain', 300,
        case when n % 1000 = 1 then 'rare' end, 'event-' || n % 5000, convert_to('marker-' || n || '-' || repeat('x', 300), 'UTF8'), false, false,
        'marker', 'Pending', case when n % 20 = 0 then now() end
      from generate_series(1, ${STORED}::int) n
      returning endpoint_id, id
    ), queued as (
      insert into deliveries (workspace_id, endpoint_id, request_id, action_id, action_name, kind, trigger, created_at,
        next_attempt_at)
      select ${alice.workspaceId}::uuid, endpoint_id, id, ${action}::uuid, 'to', 'forward', 'capture', now(), now()
      from stored where id % 2 = 0
    ), attempted as (
      insert into delivery_attempts (endpoint_id, workspace_id, request_id, action_id, action_name, kind, state,
        attempt_number, trigger, url, at)
      select endpoint_id, ${alice.workspaceId}::uuid, id, ${action}::uuid, 'to', 'forward', 'Succeeded', 1, 'capture', '', now()
      from stored where id % 2 = 1
      returning endpoint_id, id, request_id
    )
    insert into attempt_details (endpoint_id, attempt_id, request_id, sent_method, sent_url, sent_headers, sent_body_truncated)
    select endpoint_id, id, request_id, 'POST', '', '[]', false from attempted`.execute(db)
  await sql`
    update endpoint_counters c set (stored_request_count, binned_request_count, stored_bytes) = (
      select count(*) filter (where deleted_at is null), count(deleted_at),
             sum(octet_length(body)) filter (where deleted_at is null)
      from requests where endpoint_id = c.endpoint_id)
    where endpoint_id = ${endpointId}`.execute(db)
}

async function lastId(): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    select max(id) as id from requests where endpoint_id = ${endpoint.id}`.execute(db)
  return rows[0]?.id ?? 0
}

/** Makes the state right after a fill, before autovacuum has analysed the tables. */
async function deleteStatistics(): Promise<void> {
  await sql`delete from pg_statistic where starelid = any (${FILLED}::text[]::regclass[])`.execute(db)
  await sql`
    update pg_class set relpages = 0, reltuples = -1
    where oid = any (${FILLED}::text[]::regclass[])
       or oid in (select indexrelid from pg_index where indrelid = any (${FILLED}::text[]::regclass[]))`.execute(
    db,
  )
}
