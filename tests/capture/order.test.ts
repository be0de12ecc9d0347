import { expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { Senders } from '../program/senders.ts'
import { Client } from '../support/client.ts'
import { createTestDatabase } from '../support/database.ts'
import { runCreel, startProcess, temporaryFolder } from '../support/process.ts'

const Page = z.looseObject({
  totalPages: z.int(),
  items: z.array(z.looseObject({ id: z.int(), bodyPreview: z.string() })),
})

/**
 * DESIGN §3, invariant 2. With ids from a plain sequence, a request with a lower id can appear after one with a higher id, and
 * a client that went on from the higher one never sees it.
 */
test('two gateway processes write, and a client that polls by afterId sees every request, in order, once', async () => {
  const database = await createTestDatabase()
  const plans = `${await temporaryFolder()}/plans.json`
  await Bun.write(plans, '{"team":{"captureRatePerMinute":100000000,"apiRatePerMinute":100000000}}')
  const env = { CREEL_PLANS_FILE: plans }
  const [one, two] = await Promise.all([
    startProcess({ database, env }, ['--only', 'gateway']),
    startProcess({ database, env }, ['--only', 'gateway']),
  ])
  const workspace = JSON.parse(
    (await runCreel(['workspace', 'create', '--name', randomUUID(), '--json'], { database, env })).stdout,
  )
  const { key } = JSON.parse(
    (
      await runCreel(['key', 'create', '--workspace', workspace.id, '--name', 'poller', '--json'], {
        database,
        env,
      })
    ).stdout,
  )
  const client = new Client(two.baseUrl, two.captureUrl, key, workspace.id)
  const endpoint = await client.endpoint()
  const senders = new Senders(
    [`${one.captureUrl}/hook/${endpoint.id}`, `${two.captureUrl}/hook/${endpoint.id}`],
    32,
  )

  const seen: { id: number; body: string }[] = []
  // As CONTRACT T2 says: hold afterId, walk the pages, fold what new arrivals shifted, then go on from the largest id.
  const poll = async () => {
    const afterId = seen.at(-1)?.id ?? 0
    const found = new Map<number, string>()
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      const query = `pageSize=100&page=${page}&afterId=${afterId}`
      const { items, totalPages } = await client.expect(client.get(endpoint.at(`/requests?${query}`)), Page)
      pages = totalPages
      for (const { id, bodyPreview } of items) found.set(id, bodyPreview)
    }
    for (const [id, body] of [...found].sort(([a], [b]) => a - b)) seen.push({ id, body })
    return found.size
  }
  const polling = (async () => {
    while (senders.bodies.length < 1_500) await poll()
  })()
  await Promise.all([polling, senders.acknowledged(1_500)])
  await senders.stop()
  while ((await poll()) > 0) {}

  const ids = seen.map(({ id }) => id)
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b))
  expect(new Set(seen.map(({ body }) => body))).toEqual(new Set(senders.bodies))
  await Promise.all([one.stop(), two.stop()])
  await database.drop()
})
