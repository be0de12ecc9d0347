import { afterAll, beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import { type AttackedService, capturedAt, startAttackedService } from './attackedService.ts'

/** Pages of share links, which anyone with the address may open. */

let service: AttackedService

beforeAll(async () => {
  service = await startAttackedService()
})

afterAll(() => service.stop())

const READERS = 60
/** Each page of it takes some 0.15 s to make. */
const BODY = `[${Array.from({ length: 8_000 }, () => `${'['.repeat(14)}1${']'.repeat(14)}`).join(',')}]`

const Link = z.looseObject({ url: z.string() })

/** Captures a body and shares it. Returns the address of its page. */
async function shared(captureUrl: URL, key: string, body: string): Promise<string> {
  const { endpointId, requestId } = await capturedAt(captureUrl, key, body)
  const { baseUrl } = service.creel
  const made = await fetch(`${baseUrl}/api/v1/endpoints/${endpointId}/requests/${requestId}/share-links`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: '{}',
  })
  return baseUrl + new URL(Link.parse(await made.json()).url).pathname
}

/** Milliseconds that so many rounds of the bystander's calls take. */
async function timeOf(rounds: number): Promise<number> {
  const startedAt = performance.now()
  await service.rounds(rounds)
  return performance.now() - startedAt
}

test('one that many read at once slows neither captures nor the page of another workspace', async () => {
  const { attackedPath, attackersKey, creel, innocents } = service
  const attacked = await shared(new URL(attackedPath, creel.baseUrl), attackersKey, BODY)
  const other = await shared(new URL(innocents.captureUrl), innocents.key, '{"order": 1}')
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
  // Without a bound on pages it is five times as long. The machine may have become busy since the first measurement.
  const [first, second] = [await timeOf(20), await timeOf(20)]
  // The first may still see pages of the attack.
  expect(busyMs).toBeLessThan(3 * Math.max(quietMs, Math.min(first, second)))
  expect([...statuses].filter((status) => status !== 429)).toEqual([200])
})
