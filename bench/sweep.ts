/**
 * `bun run bench:sweep [rows] [seconds]`: a retention sweep over expired requests while captures arrive on the same
 * endpoint, against captures alone; the deletion of an endpoint with 50 000 captures; and the size of the table over
 * rounds of filling and sweeping.
 *
 * Ends with an error when a capture was refused or lost, or the counter does not equal the rows.
 */
import { sweepEndpoints, sweepRetention } from '@creel/core/retention'
import { sql } from 'kysely'
import { load } from './support/load.ts'
import { report } from './support/report.ts'
import { openWorkplace } from './support/workplace.ts'

const DELETED_ROWS = 50_000
const ROUNDS = 4
const ROUND_ROWS = 50_000
const CONNECTIONS = 16

const rows = Number(process.argv[2] ?? 1_000_000)
const seconds = Number(process.argv[3] ?? 10)
const body = JSON.stringify({ type: 'bench', data: 'x'.repeat(900) })
await using workplace = await openWorkplace()
const { db } = workplace.services
const never = new AbortController().signal
await measureSweepUnderLoad()
await measureDeletion()
await measureBoundedness()

/** Inserts rows like those of old captures. */
async function fill(endpointId: string, count: number): Promise<void> {
  await sql`
    insert into requests (endpoint_id, id, received_at, method, path, header_names, header_values, size_bytes, body,
      body_truncated, body_is_binary, dispatch_state, content_type)
    select ${endpointId}, nextval('request_ids'), now() - interval '200 days', 'POST', '', 'Content-Type',
      'application/json'::bytea, 200, convert_to(repeat(md5(g::text), 6), 'UTF8'), false, false, 'NotAttempted',
      'application/json'
    from generate_series(1, ${count}) g`.execute(db)
  await sql`
    update endpoint_counters c set stored_request_count = s.count, stored_bytes = s.bytes,
      storage_bytes = s.bytes + 1024 * s.count
    from (select count(*) as count, sum(octet_length(body)) as bytes from requests where endpoint_id = ${endpointId}) s
    where c.endpoint_id = ${endpointId}`.execute(db)
}

async function storedRows(endpointId: string): Promise<{ counted: number; real: number }> {
  const { rows: found } = await sql<{ counted: number; real: number }>`
    select stored_request_count as counted,
      (select count(*) from requests r where r.endpoint_id = c.endpoint_id) as real
    from endpoint_counters c where c.endpoint_id = ${endpointId}`.execute(db)
  return found[0] ?? { counted: -1, real: 0 }
}

async function measureSweepUnderLoad(): Promise<void> {
  const endpoint = await workplace.endpoint()
  console.log(`filling in ${rows} expired requests`)
  await fill(endpoint.id, rows)
  await sql`analyze requests`.execute(db)
  const capture = (forSeconds: number) =>
    load({ url: endpoint.url, connections: CONNECTIONS, seconds: forSeconds, warmupSeconds: 1, body })

  const before = await capture(seconds)
  const sweeping = new AbortController()
  const started = performance.now()
  let sweptMs = 0
  const swept = sweepRetention(workplace.services, sweeping.signal).then(() => {
    sweptMs = performance.now() - started
  })
  const during = await capture(seconds)
  await swept
  const after = await capture(seconds)

  const group = 'sweep'
  report({ group, name: `sweep of ${rows} expired requests under load`, value: sweptMs / 1000, unit: 's' })
  for (const [name, { p99Ms, refused }] of Object.entries({ before, during, after })) {
    report({ group, name: `capture p99 ${name} a sweep, ${CONNECTIONS} conn.`, value: p99Ms, unit: 'ms' })
    mustHold('no capture is refused', refused === 0)
  }
  // The calm is measured before and after, since other work on the machine may affect either half.
  const ratio = during.p99Ms / Math.max(before.p99Ms, after.p99Ms)
  report({
    group,
    name: 'capture p99 during a sweep / without',
    value: ratio,
    unit: 'ratio',
    goal: { atMost: 2 },
  })
  const { counted, real } = await storedRows(endpoint.id)
  mustHold('the counter is exactly the rows', counted === real)
  const acknowledged = before.acknowledged + during.acknowledged + after.acknowledged
  mustHold('every acknowledged capture is stored, every expired one gone', real === acknowledged)
}

async function measureDeletion(): Promise<void> {
  const endpoint = await workplace.endpoint()
  await fill(endpoint.id, DELETED_ROWS)
  const started = performance.now()
  await workplace.call('DELETE', `/api/v1/endpoints/${endpoint.id}`)
  const answeredMs = performance.now() - started
  await sweepEndpoints(workplace.services, never)
  const goneMs = performance.now() - started
  const name = `DELETE of an endpoint with ${DELETED_ROWS} captures`
  report({ group: 'sweep', name, value: answeredMs, unit: 'ms', goal: { atMost: 200 } })
  report({ group: 'sweep', name: 'until its rows are gone', value: goneMs / 1000, unit: 's' })
}

async function measureBoundedness(): Promise<void> {
  const endpoint = await workplace.endpoint()
  await sql`vacuum requests`.execute(db)
  const sizes: number[] = []
  for (let round = 1; round <= ROUNDS; round += 1) {
    await fill(endpoint.id, ROUND_ROWS)
    await sweepRetention(workplace.services, never)
    await sql`vacuum requests`.execute(db)
    const { rows: found } = await sql<{ bytes: number }>`
      select pg_total_relation_size('requests') as bytes`.execute(db)
    sizes.push(found[0]?.bytes ?? 0)
  }
  const growth = (sizes.at(-1) ?? 0) / (sizes[0] ?? 1)
  const name = `size of the table after ${ROUNDS} rounds / after one`
  report({ group: 'sweep', name, value: growth, unit: 'ratio', goal: { atMost: 1.1 } })
}

function mustHold(words: string, holds: boolean): void {
  if (!holds) throw new Error(`Not so: ${words}.`)
}
