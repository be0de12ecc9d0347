/**
 * `bun run bench:sweep [rows] [seconds]`: a retention sweep over expired requests while captures arrive on the same endpoint,
 * against captures alone; the deletion of an endpoint with 50 000 captures; and the size of the table over rounds of filling
 * and sweeping.
 *
 * Ends with an error when a promise does not hold.
 */
import { sweepEndpoints, sweepRetention } from '@creel/core/retention'
import { sql } from 'kysely'
import { load } from './support/load.ts'
import { openWorkplace } from './support/workplace.ts'

const DELETED_ROWS = 50_000
const ROUNDS = 4
const ROUND_ROWS = 50_000
const CONNECTIONS = 16

const rows = Number(process.argv[2] ?? 1_000_000)
const seconds = Number(process.argv[3] ?? 10)
const body = JSON.stringify({ type: 'bench', data: 'x'.repeat(900) })
const workplace = await openWorkplace()
const { db } = workplace.services
const never = new AbortController().signal
try {
  await measureSweepUnderLoad()
  await measureDeletion()
  await measureBoundedness()
} finally {
  await workplace.leave()
}

/** Rows as captures of long ago would have left them. */
async function fill(endpointId: string, count: number): Promise<void> {
  await sql`
    insert into requests (endpoint_id, id, received_at, method, path, header_names, header_values, size_bytes, body,
      body_truncated, body_is_binary, dispatch_state, content_type)
    select ${endpointId}, nextval('request_ids'), now() - interval '200 days', 'POST', '', 'Content-Type',
      'application/json'::bytea, 200, convert_to(repeat(md5(g::text), 6), 'UTF8'), false, false, 'NotAttempted',
      'application/json'
    from generate_series(1, ${count}) g`.execute(db)
  await sql`
    update endpoint_counters c set stored_request_count = s.count, stored_bytes = s.bytes
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

  console.log(`swept ${rows} in ${(sweptMs / 1000).toFixed(1)} s, captures on the same endpoint meanwhile`)
  console.log(`captures, ${CONNECTIONS} connections         req/s    p50 ms    p99 ms`)
  for (const [name, result] of Object.entries({ before, during, after })) {
    const cells = [result.perSecond.toFixed(0), result.p50Ms.toFixed(2), result.p99Ms.toFixed(2)]
    console.log(`  ${name.padEnd(30)} ${cells.map((cell) => cell.padStart(9)).join(' ')}`)
    promise('no capture is refused', result.refused === 0)
  }
  // What else happens on the machine falls on the two halves of the calm alike.
  const calm = Math.max(before.p99Ms, after.p99Ms)
  console.log(`  p99 during / without: ${(during.p99Ms / calm).toFixed(2)}`)
  promise('a sweep at most doubles the p99 of captures', during.p99Ms <= 2 * calm)
  const { counted, real } = await storedRows(endpoint.id)
  console.log(`  counted ${counted}, stored ${real}`)
  promise('the counter is exactly the rows', counted === real)
  const acknowledged = before.acknowledged + during.acknowledged + after.acknowledged
  promise('every acknowledged capture is stored, every expired one gone', real === acknowledged)
}

async function measureDeletion(): Promise<void> {
  const endpoint = await workplace.endpoint()
  await fill(endpoint.id, DELETED_ROWS)
  const started = performance.now()
  await workplace.call('DELETE', `/api/v1/endpoints/${endpoint.id}`)
  const answeredMs = performance.now() - started
  await sweepEndpoints(workplace.services, never)
  const goneMs = performance.now() - started
  console.log(`\nendpoint with ${DELETED_ROWS} captures: DELETE answered in ${answeredMs.toFixed(1)} ms`)
  console.log(`  its rows were gone after ${(goneMs / 1000).toFixed(1)} s`)
  promise('deletion answers at once', answeredMs < 200)
}

async function measureBoundedness(): Promise<void> {
  const endpoint = await workplace.endpoint()
  await sql`vacuum requests`.execute(db)
  console.log(`\nsize of the table, filled with ${ROUND_ROWS} and swept`)
  const sizes: number[] = []
  for (let round = 1; round <= ROUNDS; round += 1) {
    await fill(endpoint.id, ROUND_ROWS)
    await sweepRetention(workplace.services, never)
    const started = performance.now()
    await sql`vacuum requests`.execute(db)
    const vacuumMs = performance.now() - started
    const { rows: found } = await sql<{ bytes: number }>`
      select pg_total_relation_size('requests') as bytes`.execute(db)
    const megabytes = (found[0]?.bytes ?? 0) / 1024 / 1024
    sizes.push(megabytes)
    console.log(`  round ${round}: ${megabytes.toFixed(0)} MB (vacuum ${vacuumMs.toFixed(0)} ms)`)
  }
  const [first = 0, last = 0] = [sizes[0], sizes.at(-1)]
  promise('the table does not grow from round to round', last <= first * 1.1)
}

function promise(words: string, isKept: boolean): void {
  if (isKept) return
  console.error(`NOT KEPT: ${words}`)
  process.exitCode = 1
}
