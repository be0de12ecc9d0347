/** Reading the history of an endpoint for new criteria, which may be long. */
import { beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { z } from 'zod'
import { eventually } from '../support/eventually.ts'
import { isWaitingForLock } from '../support/lockWaits.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeWatchdog, putWatchdog, WATCHDOGS } from './support.ts'

/** Holds for no capture of these tests. */
const NO_MATCH = { path: 'method', op: 'eq', value: 'PUT' }

const Timeline = z.looseObject({ matches: z.array(z.object({ requestId: z.int(), at: z.string() })) })
const Page = z.looseObject({ items: z.array(z.looseObject({ name: z.string() })) })

let service: TestService

beforeAll(async () => {
  service = await startService()
})

/** The request id after which captures are read once more, because they may have been judged by former criteria. */
async function settledIdOf({ id }: { id: string }): Promise<number | undefined> {
  const row = await service.db
    .selectFrom('watchdogs')
    .where('id', '=', id)
    .select('settledRequestId')
    .executeTakeFirst()
  return row?.settledRequestId
}

test('what was stored before is read once, although nothing of it matches', async () => {
  const endpoint = await service.alice.endpoint()
  const watchdog = await makeWatchdog(endpoint, { match: NO_MATCH })
  expect(await settledIdOf(watchdog)).toBe(0)
  const { id } = await endpoint.capture()
  await putWatchdog(service.alice, watchdog, { match: { path: 'method', op: 'eq', value: 'GET' } })
  expect(await settledIdOf(watchdog)).toBe(id)
  expect(await settledIdOf(await makeWatchdog(endpoint, { match: NO_MATCH }))).toBe(id)
})

test('the last match is the latest one, also if older ones were imported after it', async () => {
  const client = await service.newClient()
  const [old, endpoint] = [await client.endpoint(), await client.endpoint()]
  await old.captureMany(3)
  await service.clock.advance(3_600_000)
  const latest = await endpoint.capture()
  const { text: rawBody } = await client.get(old.at('/requests/export?includeSecrets=true'))
  await endpoint.importLines(rawBody)
  const made = await makeWatchdog(endpoint)
  expect(made).toMatchObject({
    lastMatchedRequestId: latest.id,
    lastMatchedAt: latest.receivedAt,
    state: 'onTime',
  })
})

test('a timeline and a suggestion take the latest matches, although many older ones were imported', async () => {
  const client = await service.newClient()
  const endpoint = await client.endpoint()
  const latest = [await endpoint.capture(), await endpoint.capture()]
  const at = (hours: number) => new Date(service.clock.now().getTime() - hours * 3_600_000).toISOString()
  const lines = Array.from({ length: 501 }, (_, n) => ({ receivedAt: at(1 + n / 1000), method: 'POST' }))
  const rawBody = lines.map((line) => JSON.stringify(line)).join('\n')
  await endpoint.importLines(rawBody)
  const made = await makeWatchdog(endpoint)
  const { body } = await client.get(`${WATCHDOGS}/${made.id}/timeline?from=${at(2)}&to=${at(-1)}`)
  const { matches } = Timeline.parse(body)
  expect(matches).toHaveLength(500)
  expect(matches.slice(-2).map(({ requestId }) => requestId)).toEqual(latest.map(({ id }) => id))
  expect(matches).toEqual(matches.toSorted((a, b) => (a.at < b.at ? -1 : 1)))
  const suggested = await client.get(`${WATCHDOGS}/suggest?endpointId=${endpoint.id}`)
  expect(suggested.body).toMatchObject({ newestAt: latest[1]?.receivedAt })
})

test('a caller who hangs up ends it, and no watchdog is made', async () => {
  const client = await service.newClient()
  const endpoint = await client.endpoint()
  await endpoint.capture()
  const leaving = new AbortController()
  const body = { endpointId: endpoint.id, expectedIntervalSeconds: 60, match: NO_MATCH }
  await service.db.transaction().execute(async (holding) => {
    await sql`lock table requests in access exclusive mode`.execute(holding)
    const left = client.post(WATCHDOGS, { ...body, name: 'left' }, { signal: leaving.signal }).catch(String)
    await eventually('the look at stored captures', () => isWaitingForLock(holding))
    leaving.abort()
    expect(await left).toContain('AbortError')
  })
  await makeWatchdog(endpoint, { name: 'stayed' })
  const { items } = await client.expect(client.get(WATCHDOGS), Page)
  expect(items.map(({ name }) => name)).toEqual(['stayed'])
})
