import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { z } from 'zod'
import type { Client, TestEndpoint } from '../support/client.ts'
import { wrongParts } from '../support/problems.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
/** Another process with the same database and clock. */
let second: TestService
beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000 } })
  const { database, clock, secretKey } = service
  second = await startService({ parts: ['gateway'], database, clock, secretKey })
})
afterAll(async () => {
  await second.stop()
  await service.stop()
})

const Rotated = z.looseObject({
  id: z.string(),
  url: z.url(),
  name: z.string(),
  previousUrlUntil: z.string().nullable(),
})

const rotate = ({ client, at }: { client: Client; at: (path: string) => string }, body: unknown = {}) =>
  client.expect(client.post(at('/rotate-url'), body), Rotated)
const rotated = (endpoint: TestEndpoint, body?: unknown) =>
  rotate({ client: endpoint.client, at: (path) => endpoint.at(path) }, body)

/** Status of a capture at the URL, optionally through the other process. */
async function statusOf(url: string, through = service): Promise<number> {
  const response = await fetch(url.replace(service.captureUrl, through.captureUrl), {
    method: 'POST',
    body: '{}',
  })
  await response.body?.cancel()
  return response.status
}

describe('POST …/rotate-url', () => {
  test('gives a new URL; id, settings and history stay, the old URL goes on for its time in every process', async () => {
    const endpoint = await service.alice.endpoint({ name: 'rotated', responseStatusCode: 202 })
    const old = await endpoint.capture()
    expect(await statusOf(endpoint.url, second)).toBe(202)
    const before = service.clock.now().getTime()
    const { url, ...view } = await rotated(endpoint, { overlapSeconds: 600 })
    const took = service.clock.now().getTime() - before
    expect(view).toMatchObject({ id: endpoint.id, name: 'rotated' })
    expect(url).not.toBe(endpoint.url)
    const until = new Date(view.previousUrlUntil ?? 0).getTime() - before
    expect(until).toBeGreaterThanOrEqual(600_000)
    expect(until).toBeLessThanOrEqual(600_000 + took)
    for (const process of [service, second]) {
      expect(await statusOf(endpoint.url, process)).toBe(202)
      expect(await statusOf(`${url}/path?q=1`, process)).toBe(202)
    }
    expect(await endpoint.requests()).toHaveLength(6)
    // A request shows the present URL of the endpoint.
    const { body } = await service.alice.get(endpoint.at(`/requests/${old.id}`))
    expect(body).toMatchObject({ id: old.id, url })

    await service.clock.advance(600_000)
    for (const process of [service, second]) {
      expect(await statusOf(endpoint.url, process)).toBe(404)
      expect(await statusOf(url, process)).toBe(202)
    }
    expect((await service.alice.get(endpoint.at(''))).body).toMatchObject({ url, previousUrlUntil: null })
  })

  test('without an overlap the old URL is 404 at once, like an unknown one, also where it was just used', async () => {
    const endpoint = await service.alice.endpoint()
    for (const process of [service, second]) expect(await statusOf(endpoint.url, process)).toBe(200)
    const { url, previousUrlUntil } = await rotated(endpoint, { overlapSeconds: 0 })
    expect(previousUrlUntil).toBeNull()
    for (const process of [service, second]) {
      expect(await statusOf(endpoint.url, process)).toBe(404)
      expect(await statusOf(url, process)).toBe(200)
    }
    const gone = await endpoint.send()
    const unknown = await fetch(`${service.captureUrl}/hook/${crypto.randomUUID()}`, { method: 'POST' })
    expect(await gone.text()).toBe(await unknown.text())
  })

  test('goes on for a day unless told; another rotation ends all but the URL before it', async () => {
    const endpoint = await service.alice.endpoint()
    const first = await rotated(endpoint)
    expect(Date.parse(first.previousUrlUntil ?? '')).toBeGreaterThan(
      service.clock.now().getTime() + 86_000_000,
    )
    expect(await statusOf(endpoint.url)).toBe(200)
    const next = await rotated(endpoint)
    expect(await Promise.all([endpoint.url, first.url, next.url].map((url) => statusOf(url)))).toEqual([
      404, 200, 200,
    ])
    expect(await statusOf(first.url, second)).toBe(200)
  })

  test('rotations at once follow one another', async () => {
    const endpoint = await service.alice.endpoint()
    const made = await Promise.all([0, 1, 2].map(() => rotated(endpoint)))
    const statuses = await Promise.all(
      [endpoint.url, ...made.map(({ url }) => url)].map((url) => statusOf(url)),
    )
    expect(statuses.sort()).toEqual([200, 200, 404, 404])
  })

  test('a signature over the URL is verified under the URL that it was sent to', async () => {
    const token = 'a token that nobody guesses'
    const endpoint = await service.alice.endpoint({ provider: 'twilio', signingSecret: token })
    const { url } = await rotated(endpoint)
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
    const ids: number[] = []
    for (const target of [endpoint.url, url]) {
      const signature = createHmac('sha1', token).update(`${target}Bodyhello`).digest('base64')
      const headers = { ...form, 'X-Twilio-Signature': signature }
      expect((await fetch(target, { method: 'POST', headers, body: 'Body=hello' })).status).toBe(200)
    }
    for (const { id, verification } of await endpoint.requests()) {
      expect(verification).toMatchObject({ verdict: 'verified' })
      ids.push(id)
    }
    for (const requestId of ids) {
      const preview = await service.alice.post(endpoint.at('/verification/preview'), {
        requestId,
      })
      expect(preview.body).toMatchObject({ verification: { verdict: 'verified' } })
    }
  })

  test('samples go by the new URL', async () => {
    const endpoint = await service.alice.endpoint({
      provider: 'stripe',
      signingSecret: 'whsec_of_the_endpoint',
    })
    const { url } = await rotated(endpoint, { overlapSeconds: 0 })
    const sample = await service.alice.post(endpoint.at('/samples'), { provider: 'stripe' })
    expect(sample.body).toMatchObject({ url })
    expect(await endpoint.requests()).toHaveLength(1)
  })

  test('names what is wrong, and finds nothing of another workspace', async () => {
    const endpoint = await service.alice.endpoint()
    const path = endpoint.at('/rotate-url')
    for (const [body, wrong] of [
      [{ overlapSeconds: -1 }, '/overlapSeconds'],
      [{ overlapSeconds: 2_592_001 }, '/overlapSeconds'],
      [{ overlapSeconds: 1.5 }, '/overlapSeconds'],
    ] as const) {
      const answer = await service.alice.post(path, body)
      expect(answer.status).toBe(400)
      expect(JSON.stringify(wrongParts(answer))).toContain(wrong)
    }
    expect((await service.charlie.post(path, {})).status).toBe(404)
    expect((await service.alice.get(endpoint.at(''))).body).toMatchObject({ url: endpoint.url })
    expect(await statusOf(endpoint.url)).toBe(200)
  })
})
