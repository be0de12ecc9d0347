import { afterAll, beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import { type AttackedService, startAttackedService } from './attackedService.ts'

/** Pages of share links, which anyone with the address may open. */

let service: AttackedService

beforeAll(async () => {
  service = await startAttackedService()
})

afterAll(() => service.stop())

const READERS = 60
/** Each page of it takes some 0.15 s to make. */
const BODY = `[${Array.from({ length: 8_000 }, () => `${'['.repeat(14)}1${']'.repeat(14)}`).join(',')}]`

const Items = z.looseObject({ items: z.array(z.looseObject({ id: z.int() })) })
const Link = z.looseObject({ url: z.string() })

/** Captures a body and shares it. Returns the address of its page. */
async function shared(captureUrl: string, key: string, body: string): Promise<string> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  expect((await fetch(captureUrl, { method: 'POST', headers, body })).status).toBe(200)
  const requests = `${service.creel.baseUrl}/api/v1/endpoints/${captureUrl.split('/').at(-1)}/requests`
  const { items } = Items.parse(await (await fetch(`${requests}?pageSize=1`, { headers })).json())
  const made = await fetch(`${requests}/${items[0]?.id}/share-links`, { method: 'POST', headers, body: '{}' })
  return service.creel.baseUrl + new URL(Link.parse(await made.json()).url).pathname
}

/** Milliseconds that so many rounds of the bystander's calls take. */
async function timeOf(rounds: number): Promise<number> {
  const startedAt = performance.now()
  await service.rounds(rounds)
  return performance.now() - startedAt
}

test('one that many read at once slows neither captures nor the page of another workspace', async () => {
  const { attackedPath, attackersKey, creel, innocents } = service
  const attacked = await shared(creel.baseUrl + attackedPath, attackersKey, BODY)
  const other = await shared(innocents.captureUrl, innocents.key, '{"order": 1}')
  const statuses = new Set<number>()
  const quietMs = await timeOf(20)
  let busyMs = 0
  await service.attackedBy(async () => {
    const ending = new AbortController()
    const readers = Array.from({ length: READERS }, async (_, at) => {
      const init = { headers: { 'X-Forwarded-For': `198.51.100.${at}` }, signal: ending.signal }
      while (!ending.signal.aborted) {
        const page = await fetch(attacked, init)
        statuses.add(page.status)
        await page.arrayBuffer()
      }
    })
    busyMs = await timeOf(20)
    const page = await fetch(other, { headers: { 'X-Forwarded-For': '203.0.113.20' } })
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('order')])
    ending.abort()
    await Promise.allSettled(readers)
  })
  // Without a bound on pages it is five times as long.
  expect(busyMs).toBeLessThan(3 * quietMs)
  expect([...statuses].filter((status) => status !== 429)).toEqual([200])
})
