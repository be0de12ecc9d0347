import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sweepRetention } from '@creel/core/retention'
import fc from 'fast-check'
import { sql } from 'kysely'
import { eventually } from '../support/eventually.ts'
import { holdOpen } from '../support/heldWrites.ts'
import { countLockWaits } from '../support/lockWaits.ts'
import { startService, type TestService } from '../support/service.ts'
import { DAY, expectCountersEqualRows } from './support.ts'

const CAP = 4

let service: TestService

beforeAll(async () => {
  service = await startService({
    parts: ['gateway'],
    limits: {
      storedRequestsMax: CAP,
      retentionDays: 10,
      captureRatePerMinute: 1_000_000,
      endpointsMax: 10_000,
    },
  })
})
afterAll(() => service.stop())

/** A step that changes which requests are stored, in the bin or deleted. */
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('capture' as const), count: fc.integer({ min: 1, max: 6 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), nth: fc.nat({ max: CAP }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('clear' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('restore' as const), count: fc.integer({ min: 1, max: 8 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('age' as const), days: fc.integer({ min: 1, max: 6 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('sweep' as const) }) },
)

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never

/**
 * A request of the reference model, which has lists of requests in the order of capture. Ages are days since the
 * capture and since the deletion.
 */
interface Known {
  readonly id: number
  age: number
  binnedFor: number
}

test('cap, bin, restore and sweep in any order leave counters that are exactly the rows, and the rows expected', async () => {
  const { alice } = service
  const run = async (steps: readonly Step[]) => {
    const endpoint = await alice.endpoint()
    let stored: Known[] = []
    let bin: Known[] = []
    const isRestorable = ({ age, binnedFor }: Known) => age < 10 && binnedFor < 7
    for (const next of steps) {
      if (next.do === 'capture') {
        // All at once, so that they are stored in few batches.
        const sent = await Promise.all(Array.from({ length: next.count }, () => endpoint.send()))
        await Promise.all(sent.map((response) => response.body?.cancel()))
        const newest = await endpoint.requests(`pageSize=${CAP}`)
        const known = new Set(stored.map(({ id }) => id))
        const arrived = newest
          .filter(({ id }) => !known.has(id))
          .map(({ id }) => ({ id, age: 0, binnedFor: 0 }))
        expect(arrived).toHaveLength(Math.min(next.count, CAP))
        stored = [...stored, ...arrived.reverse()].sort((a, b) => a.id - b.id).slice(-CAP)
      }
      if (next.do === 'delete') {
        const one = stored[next.nth]
        if (one !== undefined) {
          await alice.delete(endpoint.at(`/requests/${one.id}`))
          stored = stored.filter((other) => other !== one)
          bin.push({ ...one, binnedFor: 0 })
        }
      }
      if (next.do === 'clear') {
        await alice.delete(endpoint.at('/requests'))
        bin.push(...stored.map((one) => ({ ...one, binnedFor: 0 })))
        stored = []
      }
      if (next.do === 'restore' && bin.length > 0) {
        const asked = bin.slice(0, next.count)
        const { body } = await alice.post('/api/v1/recycle-bin/restore', {
          requestIds: asked.map(({ id }) => id),
        })
        const candidates = asked.filter(isRestorable).sort((a, b) => b.id - a.id)
        const back = candidates.slice(0, CAP - stored.length)
        expect(body).toEqual({
          restoredCount: back.length,
          skippedAtCap: candidates.length - back.length,
        })
        bin = bin.filter((one) => !back.includes(one))
        stored = [...stored, ...back].sort((a, b) => a.id - b.id)
      }
      if (next.do === 'age') {
        await service.clock.advance(next.days * DAY)
        for (const one of [...stored, ...bin]) one.age += next.days
        for (const one of bin) one.binnedFor += next.days
      }
      if (next.do === 'sweep') {
        await sweepRetention(service.running.services, new AbortController().signal)
        stored = stored.filter(({ age }) => age < 10)
        bin = bin.filter(isRestorable)
      }
      await expectCountersEqualRows(service, endpoint.id)
      expect((await endpoint.requests()).map(({ id }) => id)).toEqual(stored.map(({ id }) => id).reverse())
    }
    await alice.delete(endpoint.at(''))
  }
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 20 }), run), { numRuns: 15 })
})

test.each([
  ['the short way', {}],
  [
    'the general statement',
    { forwardOriginal: true, forwardUrl: 'http://127.0.0.1:9/', forwardingEnabled: true },
  ],
])(
  'what is restored while a capture waits is listed, and evicted in its turn: %s',
  async (_way, settings) => {
    const { alice, db } = service
    const endpoint = await alice.endpoint({
      storeRules: [{ op: 'remove', paths: ['body.secret'] }],
      ...settings,
    })
    const sent = { body: '{"secret":1}' }
    // One more than the cap: from now on captures look for the oldest request.
    const ids: number[] = []
    for (let count = 0; count < CAP + 1; count += 1) ids.push((await endpoint.capture(sent)).id)
    const [, oldest = 0, second = 0, third = 0, newest = 0] = ids
    for (const id of [oldest, third]) await alice.delete(endpoint.at(`/requests/${id}`))
    const lock = holdOpen(db, (trx) =>
      sql`select from endpoint_counters where endpoint_id = ${endpoint.id}::uuid for update`.execute(trx),
    )
    await lock.isOpen
    const waiting = (count: number) =>
      eventually(`${count} waiting`, async () => (await countLockWaits(db)) === count)
    const restoring = alice.post('/api/v1/recycle-bin/restore', { requestIds: [oldest, third] })
    await waiting(1)
    const sending = endpoint.send(sent)
    await waiting(2)
    await lock.release()
    expect((await restoring).body).toMatchObject({ restoredCount: 2 })
    expect((await sending).status).toBe(200)
    const listed = async () => (await endpoint.requests()).map(({ id }) => id)
    const after = await listed()
    // The capture saw the second as the oldest.
    expect(after).toEqual([expect.any(Number), newest, third, oldest])
    expect(after).not.toContain(second)
    await expectCountersEqualRows(service, endpoint.id)
    const last = await endpoint.capture(sent)
    expect(await listed()).toEqual([last.id, after[0] ?? 0, newest, third])
  },
)
