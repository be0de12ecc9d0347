import { expect, test } from 'bun:test'
import { sql } from 'kysely'
import { eventually } from '../support/eventually.ts'
import { startService } from '../support/service.ts'

const service = await startService({ parts: ['gateway'] })
const { alice, charlie, db } = service

const waitingForLocks = async () => {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from pg_stat_activity
    where wait_event_type = 'Lock' and datname = current_database()`.execute(db)
  return rows[0]?.count ?? 0
}

test('a workspace whose calls hold their connections leaves others to the rest, and has all its answers in the end', async () => {
  const endpoint = await alice.endpoint()
  const other = await charlie.endpoint()
  const isHeld = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const holding = db.transaction().execute(async (trx) => {
    await sql`select from endpoints where id = ${endpoint.id}::uuid for update`.execute(trx)
    isHeld.resolve()
    await release.promise
  })
  await isHeld.promise
  const changes = Array.from({ length: 40 }, (_, at) =>
    alice.patch(`/api/v1/endpoints/${endpoint.id}`, { name: `n${at}` }),
  )
  try {
    await eventually('changes that wait for the lock', async () => (await waitingForLocks()) >= 2)
    for (let round = 0; round < 5; round += 1) {
      // They would wait for the release, which comes after them.
      const soon = { signal: AbortSignal.timeout(60_000) }
      const [me, page] = await Promise.all([
        charlie.get('/api/v1/me', soon),
        charlie.get(`/api/v1/endpoints/${other.id}/requests`, soon),
      ])
      expect([me.status, page.status]).toEqual([200, 200])
    }
    expect(await waitingForLocks()).toBeGreaterThan(0)
  } finally {
    release.resolve()
    await holding
  }
  const statuses = (await Promise.all(changes)).map(({ status }) => status)
  expect(new Set(statuses)).toEqual(new Set([200]))
})

test('labels that are counted for long leave connections to other workspaces, and end when their caller hangs up', async () => {
  const counting = [alice, await service.newClient()]
  const paths = await Promise.all(
    counting.map(async (client) => {
      const { id } = await client.endpoint()
      return { client, path: `/api/v1/watchdogs/labels?endpointId=${id}` }
    }),
  )
  const isHeld = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const holding = db.transaction().execute(async (trx) => {
    await sql`lock table requests in access exclusive mode`.execute(trx)
    isHeld.resolve()
    await release.promise
  })
  await isHeld.promise
  const hangUp = new AbortController()
  const calls = paths.flatMap(({ client, path }) =>
    Array.from({ length: 20 }, () => client.get(path, { signal: hangUp.signal }).catch(() => undefined)),
  )
  try {
    await eventually('counts that wait for the lock', async () => (await waitingForLocks()) >= 4)
    const soon = { signal: AbortSignal.timeout(8_000) }
    expect((await charlie.get('/api/v1/endpoints', soon)).status).toBe(200)
    expect(await waitingForLocks()).toBe(4)
    hangUp.abort()
    await eventually('the end of every count', async () => (await waitingForLocks()) === 0, { seconds: 8 })
  } finally {
    release.resolve()
    await holding
  }
  await Promise.all(calls)
})
