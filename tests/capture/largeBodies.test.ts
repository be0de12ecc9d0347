import { beforeAll, describe, expect, test } from 'bun:test'
import { startService, type TestService } from '../support/service.ts'

const KIB = 1024
const MIB = 1024 * KIB

let service: TestService
beforeAll(async () => {
  service = await startService({ parts: ['gateway'] })
})

/** Sends bodies of this length at once; returns the number of answers by status. */
async function sendAtOnce(plan: 'free' | 'team', count: number, bytes: number) {
  // The endpoint is made under another plan, since a plan without API access cannot make one.
  const client = await service.newClient('team')
  const endpoint = await client.endpoint()
  await service.operator.workspaces.setPlan({ workspace: client.workspaceId, plan })
  const body = 'x'.repeat(bytes)
  const answers = await Promise.all(
    Array.from({ length: count }, async () => {
      const answer = await endpoint.send({ body })
      await answer.body?.cancel()
      return answer.status
    }),
  )
  const stored = await service.db
    .selectFrom('requests')
    .select(['sizeBytes', 'bodyTruncated'])
    .where('endpointId', '=', endpoint.id)
    .execute()
  return { answers, stored }
}

describe('bodies as large as the plan takes them', () => {
  test('come in as often in a minute as the plan says', async () => {
    const { answers, stored } = await sendAtOnce('free', 60, 256 * KIB)
    expect(answers).toEqual(Array.from({ length: 60 }, () => 200))
    expect(stored).toEqual(Array.from({ length: 60 }, () => ({ sizeBytes: 256 * KIB, bodyTruncated: false })))
  })

  for (const count of [3, 5]) {
    test(`are stored when ${count} of 24 MiB come to one endpoint at once`, async () => {
      const { answers, stored } = await sendAtOnce('team', count, 24 * MIB)
      expect(answers).toEqual(Array.from({ length: count }, () => 200))
      expect(stored).toEqual(
        Array.from({ length: count }, () => ({ sizeBytes: 24 * MIB, bodyTruncated: false })),
      )
    })
  }
})
