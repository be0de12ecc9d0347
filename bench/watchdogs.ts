/**
 * `bun run bench:watchdogs [seconds]`: the cost of watchdogs: a check of 10 000 of which none is due, captures on an
 * endpoint with a hundred of them against one with none, and suggestions from 50 000 stored requests.
 */
import { randomUUID } from 'node:crypto'
import { checkWatchdogs } from '@creel/core/watchdogs'
import { sql } from 'kysely'
import { load } from './support/load.ts'
import { report } from './support/report.ts'
import { openWorkplace } from './support/workplace.ts'
import type { BenchEndpoint } from './support/workspace.ts'

const CHECKED = 10_000
const CHECKS = 100
const CHECK_EVERY_MS = 10_000
const WATCHED = 100
const STORED = 50_000
const ROUNDS = 3
const CONNECTIONS = [1, 64]

const seconds = Number(process.argv[2] ?? 3)
await using workplace = await openWorkplace()
const { db } = workplace.services
await measureIdleChecks()
await measureCaptures()
await measureSuggestions()

async function measureIdleChecks(): Promise<void> {
  const { id } = await workplace.endpoint()
  const criteriaId = randomUUID()
  await sql`insert into watchdog_criteria (id, endpoint_id, match, match_sha256)
    values (${criteriaId}, ${id}, '{}', sha256('{}'))`.execute(db)
  await sql`
    insert into watchdogs (id, workspace_id, endpoint_id, criteria_id, name, active, match,
      expected_interval_seconds, grace_seconds, phase, armed_at, baseline_at, alarm_at, created_at)
    select gen_random_uuid(), ${workplace.id}, ${id}, ${criteriaId}, 'idle', true, '{}', 86400, 3600,
      'watching', now(), now(), now() + interval '25 h', now()
    from generate_series(1, ${CHECKED})`.execute(db)
  await sql`analyze watchdogs`.execute(db)
  const { signal } = new AbortController()
  await checkWatchdogs(workplace.services, signal)
  const cpuBefore = process.cpuUsage()
  const started = performance.now()
  for (let check = 0; check < CHECKS; check += 1) await checkWatchdogs(workplace.services, signal)
  const ms = (performance.now() - started) / CHECKS
  const cpu = process.cpuUsage(cpuBefore)
  const cpuMs = (cpu.user + cpu.system) / 1000 / CHECKS
  report({
    group: 'watchdogs',
    name: `a look at ${CHECKED}, none due: our share`,
    value: cpuMs,
    unit: 'ms CPU',
  })
  // All of the wall time is counted as busy, since Postgres uses a core meanwhile.
  const share = (ms / CHECK_EVERY_MS) * 100
  const name = `${CHECKED} watchdogs, a look every 10 s`
  report({ group: 'watchdogs', name, value: share, unit: '% of a core', goal: { atMost: 1 } })
  await db.deleteFrom('watchdogs').where('endpointId', '=', id).execute()
}

async function measureCaptures(): Promise<void> {
  const body = JSON.stringify({ type: 'bench.7', amount: 12, data: 'x'.repeat(900) })
  const none = await workplace.endpoint()
  const watched = {
    'the same match': await watchedBy(() => ({})),
    'a match each, one of them met': await watchedBy((index) => ({
      path: 'label',
      op: 'eq',
      value: `bench.${index}`,
    })),
    'a match each, all of them met': await watchedBy((index) => ({
      path: 'body.amount',
      op: 'lt',
      value: 1000 + index,
    })),
  }
  for (const connections of CONNECTIONS) {
    for (const [name, endpoint] of Object.entries(watched)) {
      // In turns, so that other work on the machine affects both.
      let [bare, with100] = [0, 0]
      for (let round = 0; round < ROUNDS; round += 1) {
        bare += await perSecond(none)
        with100 += await perSecond(endpoint)
      }
      report({
        group: 'watchdogs',
        name: `captures with ${WATCHED} / with none: ${name}, ${connections} conn.`,
        value: with100 / bare,
        unit: 'ratio',
        goal: { atLeast: 0.8 },
      })
    }
    async function perSecond({ url }: BenchEndpoint): Promise<number> {
      const result = await load({ url, connections, seconds, warmupSeconds: 0.5, body })
      if (result.refused > 0) throw new Error(`${result.refused} captures were refused.`)
      return result.perSecond
    }
  }
}

async function watchedBy(match: (index: number) => object): Promise<BenchEndpoint> {
  const endpoint = await workplace.endpoint()
  for (let index = 0; index < WATCHED; index += 1) {
    await workplace.call('POST', '/api/v1/watchdogs', {
      endpointId: endpoint.id,
      expectedIntervalSeconds: 3600,
      match: match(index),
    })
  }
  return endpoint
}

async function measureSuggestions(): Promise<void> {
  const { id } = await workplace.endpoint()
  await sql`
    insert into requests (endpoint_id, id, received_at, method, path, header_names, header_values, size_bytes, body,
      body_truncated, body_is_binary, dispatch_state, label, content_type)
    select ${id}, nextval('request_ids'), now() - make_interval(secs => (${STORED} - g) * 60), 'POST', '',
      'Content-Type', 'application/json'::bytea, 1000,
      convert_to('{"type":"t' || (g % 50) || '","amount":' || g || ',"pad":"' || repeat(md5(g::text), 30) || '"}', 'UTF8'),
      false, false, 'NotAttempted', 't' || (g % 50), 'application/json'
    from generate_series(1, ${STORED}) g`.execute(db)
  await sql`analyze requests`.execute(db)
  const asked: readonly (readonly [string, object | undefined])[] = [
    ['every capture', undefined],
    ['one label', { path: 'label', op: 'eq', value: 't7' }],
    ['a member of the body', { path: 'body.type', op: 'eq', value: 't7' }],
    ['a member that never has the value', { path: 'body.type', op: 'eq', value: 'never' }],
    ['a number of the body, never', { path: 'body.amount', op: 'lt', value: 0 }],
    ['a header that never comes', { path: 'headers.X-Never', op: 'exists' }],
  ]
  for (const [name, match] of asked) {
    const query = match === undefined ? '' : `&match=${encodeURIComponent(JSON.stringify(match))}`
    const ms = await fastest(`/api/v1/watchdogs/suggest?endpointId=${id}${query}`)
    report({
      group: 'watchdogs',
      name: `suggest from ${STORED}: ${name}`,
      value: ms,
      unit: 'ms',
      goal: { atMost: 200 },
    })
  }
  const ms = await fastest(`/api/v1/watchdogs/labels?endpointId=${id}`)
  report({ group: 'watchdogs', name: `labels of ${STORED}`, value: ms, unit: 'ms', goal: { atMost: 200 } })
}

async function fastest(path: string): Promise<number> {
  const times: number[] = []
  for (let call = 0; call < 5; call += 1) {
    const started = performance.now()
    await workplace.call('GET', path)
    times.push(performance.now() - started)
  }
  return Math.min(...times)
}
