/** Look-ups of answers that another process receives: their number and size, however many senders wait. */
import { beforeAll, expect, test } from 'bun:test'
import type { KyselyPlugin } from 'kysely'
import { z } from 'zod'
import { createRelays } from '../../core/src/capture/answers/relay.ts'
import { eventually } from '../support/eventually.ts'
import { startService, type TestService } from '../support/service.ts'

const WAITING = 100
/** Requests of one look-up. */
const AT_ONCE = 64

let service: TestService

beforeAll(async () => {
  // Nothing makes the attempts, so that all wait.
  service = await startService({ parts: ['gateway'] })
})

test('a look-up is for 64 requests, and all of an endpoint wait for the one before', async () => {
  const { alice, running } = service
  const endpoint = await alice.endpoint()
  const action = { kind: 'forward', url: 'http://127.0.0.1:9/' }
  const { id: actionId } = await alice.expect(
    alice.post(endpoint.at('/actions'), action),
    z.looseObject({ id: z.string() }),
  )
  await Promise.all(Array.from({ length: WAITING }, () => endpoint.send()))
  const ids = [...(await endpoint.requests(`pageSize=${WAITING}`))].map(({ id }) => id)

  const sizes: number[] = []
  const counting: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult({ result }) {
      sizes.push(result.rows.length)
      return Promise.resolve(result)
    },
  }
  const { endpointChanges, log, secrets } = running.services
  const awaitAnswer = createRelays({ db: service.db.withPlugin(counting), endpointChanges, log, secrets })
  const ended = new AbortController()
  const { id: endpointId } = endpoint
  const waits = ids.map((requestId) =>
    awaitAnswer({ workspaceId: alice.workspaceId, endpointId, actionId, requestId }, ended.signal),
  )
  // All that wait are looked up, too, when the service looks for changes that it has missed, every five seconds.
  let looks = 0
  const stopCounting = endpointChanges.onAny((changed) => {
    if (changed === null) looks += 1
  })
  const asked = () => sizes.reduce((sum, size) => sum + size, 0)
  await eventually('a look-up for each', () => asked() >= ids.length)
  for (let changes = 0; changes < 500; changes += 1) endpointChanges.announce([endpointId])
  await eventually('another for each', () => asked() >= 2 * ids.length)
  stopCounting()
  ended.abort('timeout')
  expect(new Set((await Promise.all(waits)).map((wait) => JSON.stringify(wait)))).toEqual(
    new Set(['{"reason":"timeout"}']),
  )
  expect(Math.max(...sizes)).toBe(AT_ONCE)
  // One of each round may have been under way at the changes.
  expect(sizes.length).toBeLessThanOrEqual((2 + looks) * Math.ceil(WAITING / AT_ONCE) + 1)
})
