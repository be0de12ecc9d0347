import { expect, test } from 'bun:test'
import { z } from 'zod'
import { Client } from '../support/client.ts'
import { createTestDatabase } from '../support/database.ts'
import { startProcess, temporaryFolder } from '../support/process.ts'

const Page = z.looseObject({
  totalPages: z.int(),
  items: z.array(z.looseObject({ id: z.int(), bodyPreview: z.string() })),
})

const CAPTURES = 600

/**
 * With ids from a plain sequence, a request with a lower id can appear after one with a higher id. A client that has
 * continued from the higher one never sees it.
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
  // One of them made the first key.
  const { key = '' } = one.first ?? two.first ?? {}
  const client = new Client(two.baseUrl, two.captureUrl, key, '')
  const endpoint = await client.endpoint()
  // Large bodies slow one process down between drawing ids and committing them, where the other could overtake it.
  const padding = 'x'.repeat(300_000)
  const sent: string[] = []
  const acknowledged: string[] = []
  const send = async (url: string, pad: string) => {
    while (acknowledged.length < CAPTURES) {
      const n = `{"n":${sent.push(url)},`
      const answer = await fetch(url, { method: 'POST', body: `${n}"pad":"${pad}"}` })
      if (answer.status === 200) acknowledged.push(n)
    }
  }
  const senders = [
    ...Array.from({ length: 4 }, () => send(`${one.captureUrl}/hook/${endpoint.id}`, padding)),
    ...Array.from({ length: 4 }, () => send(`${two.captureUrl}/hook/${endpoint.id}`, '')),
  ]

  const seen: { id: number; body: string }[] = []
  // As documented for pollers: keep afterId, read all pages, drop duplicates, then continue from the largest id.
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
    while (acknowledged.length < CAPTURES) await poll()
  })()
  await Promise.all([polling, ...senders])
  while ((await poll()) > 0) {}

  const ids = seen.map(({ id }) => id)
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b))
  expect(new Set(seen.map(({ body }) => body.slice(0, body.indexOf(',') + 1)))).toEqual(new Set(acknowledged))
  await Promise.all([one.stop(), two.stop()])
  await database.drop()
})
