import { beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import type { TestEndpoint } from '../../support/client.ts'
import { startService, type TestService } from '../../support/service.ts'

/** Numbers that are missing in the sequence of a sender's ids. */

let service: TestService

beforeAll(async () => {
  service = await startService()
})

const Gaps = z.object({
  sequence: z.boolean(),
  missingCount: z.int(),
  items: z.array(
    z.looseObject({
      firstMissing: z.string(),
      lastMissing: z.string(),
      count: z.int(),
      beforeRequestId: z.int(),
      afterRequestId: z.int(),
    }),
  ),
})

const gapsOf = (endpoint: TestEndpoint, query = '') =>
  endpoint.client.expect(endpoint.client.get(endpoint.at(`/gaps${query}`)), Gaps)

const update = (number: number | string) => ({ body: `{"update_id":${number},"message":{"text":"hi"}}` })

test('gaps are found whatever the order of arrival, and repeats are none', async () => {
  const endpoint = await service.alice.endpoint({ provider: 'telegram' })
  const ids = new Map<number, number>()
  for (const number of [100, 102, 101, 101, 106, 105, 200]) {
    const { id } = await endpoint.capture(update(number))
    if (!ids.has(number)) ids.set(number, id)
  }
  await endpoint.capture({ body: '{"update_id":"not a number"}' })
  expect(await gapsOf(endpoint)).toMatchObject({
    sequence: true,
    missingCount: 95,
    items: [
      {
        firstMissing: '107',
        lastMissing: '199',
        count: 93,
        beforeRequestId: ids.get(106),
        afterRequestId: ids.get(200),
      },
      {
        firstMissing: '103',
        lastMissing: '104',
        count: 2,
        beforeRequestId: ids.get(102),
        afterRequestId: ids.get(105),
      },
    ],
  })
  await endpoint.capture(update(104))
  await endpoint.capture(update(103))
  expect((await gapsOf(endpoint)).items.map(({ count }) => count)).toEqual([93])
  const later = new Date(Date.now() + 60_000).toISOString()
  expect(await gapsOf(endpoint, `?since=${later}`)).toMatchObject({ missingCount: 0, items: [] })
})

test('a sequence that began anew after a week of silence has no gap there', async () => {
  const endpoint = await service.alice.endpoint({ provider: 'telegram' })
  await endpoint.capture(update(10))
  await service.clock.at(new Date(Date.now() + 8 * 86_400_000), async () => {
    await endpoint.capture(update(987_654_321))
    await endpoint.capture(update(987_654_323))
  })
  expect((await gapsOf(endpoint)).items.map(({ firstMissing }) => firstMissing)).toEqual(['987654322'])
})

test('numbers beyond a double are told apart, and longer ones are not read', async () => {
  const endpoint = await service.alice.endpoint({ provider: 'telegram' })
  await endpoint.capture(update('900719925474099301'))
  await endpoint.capture(update('900719925474099303'))
  await endpoint.capture(update('9'.repeat(60)))
  expect((await gapsOf(endpoint)).items).toMatchObject([
    { firstMissing: '900719925474099302', lastMissing: '900719925474099302', count: 1 },
  ])
})

test('no gap is seen where ids are no sequence', async () => {
  for (const members of [
    {},
    { provider: 'stripe' },
    { provider: 'telegram', eventIdPath: 'body.message.id' },
  ]) {
    const endpoint = await service.alice.endpoint(members)
    await endpoint.capture(update(1))
    await endpoint.capture(update(5))
    expect(await gapsOf(endpoint)).toEqual({ sequence: false, missingCount: 0, items: [] })
  }
})
