import { expect, test } from 'bun:test'
import { z } from 'zod'
import type { TestEndpoint } from '../support/client.ts'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { type FarDatabase, startFar } from '../support/far.ts'
import { startService } from '../support/service.ts'

/** Captures on a database that is far away, is cut off, and loses what is sent to it. */

async function farEndpoint() {
  const far: FarDatabase = await startFar(await createTestDatabase())
  const { alice } = await startService({ database: far })
  return { far, endpoint: await alice.endpoint({ name: 'far' }) }
}

const numbers = (count: number, first = 0) => Array.from({ length: count }, (_, at) => first + at)
const Page = z.object({ items: z.array(z.object({ bodyPreview: z.string() })) })

async function storedNumbers(endpoint: TestEndpoint): Promise<number[]> {
  const { items } = await endpoint.client.expect(
    endpoint.client.get(endpoint.at('/requests?pageSize=100')),
    Page,
  )
  return items.flatMap(({ bodyPreview }) => /\d+/.exec(bodyPreview)?.[0] ?? []).map(Number)
}

test('captures that come at once are stored once each, and waiters hear of them', async () => {
  const { endpoint } = await farEndpoint()
  const waiting = endpoint.client.get(endpoint.at('/requests/await?timeoutSeconds=20'))
  const answers = await Promise.all(
    numbers(64).map((number) => endpoint.send({ body: JSON.stringify({ number }) })),
  )
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  expect((await waiting).status).toBe(200)
  expect((await storedNumbers(endpoint)).toSorted((a, b) => a - b)).toEqual(numbers(64))
})

test('what was acknowledged is stored, though the connections to the database are cut meanwhile', async () => {
  const { far, endpoint } = await farEndpoint()
  const acknowledged: number[] = []
  const sendAll = numbers(40).map(async (number) => {
    const { status } = await endpoint.send({ body: JSON.stringify({ number }) })
    if (status === 200) acknowledged.push(number)
    else expect(status).toBe(503)
    if (number % 10 === 0) far.path.cut()
  })
  await Promise.all(sendAll)
  await eventually(
    'a capture after the cuts',
    async () => (await endpoint.send({ body: '{}' })).status === 200,
  )
  const stored = await storedNumbers(endpoint)
  expect(stored).toEqual(expect.arrayContaining(acknowledged))
  expect(new Set(stored).size).toBe(stored.length)
})
