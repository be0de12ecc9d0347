import { describe, expect, test } from 'bun:test'
import { pauseGone } from '@creel/core/actions'
import { type Attempt, flowSends, recordAttempts } from '@creel/core/deliveries'
import { sql } from 'kysely'
import { z } from 'zod'
import { servicePerTest, type TestService } from '../support/service.ts'
import { type GovernedAction, governedAction, numbered, sendAll } from './governed.ts'

/** The rule by which attempts are picked, on random flows: two processes look and record at the same time. */

const startService = servicePerTest()
const LIMITS = { captureRatePerMinute: 1_000_000, apiRatePerMinute: 1_000_000 }
const DELIVERIES = 90
const KEYS = 5
const CONCURRENCY = 7
const FAILING_SHARE = 0.3
const SEED = Number(process.env.CREEL_PICKING_SEED ?? 20_261_123)

/** Mulberry32: the same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const openOf = async ({ db }: TestService) =>
  (
    await db
      .selectFrom('deliveries')
      .where('finishedAt', 'is', null)
      .select((of) => of.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
  ).count

const flows = flowSends(pauseGone)

/** Looks at the flow of an action, as a process with so many free slots does. */
async function lookAt({ running: { services } }: TestService, { id, client }: GovernedAction, slots = 5) {
  const lane = { id, workspaceId: client.workspaceId }
  return await services.db
    .transaction()
    .execute((trx) => flows.look(services, trx, lane, { slots, leadMs: 1 }))
}

describe('picking', () => {
  test('keeps the order of every key and the concurrency, loses nothing and repeats nothing', async () => {
    const random = randomOf(SEED)
    const service = await startService({
      limits: LIMITS,
      parts: ['gateway'],
      retryDelaysSeconds: Array(50).fill(0.001),
    })
    const action = await governedAction(service.alice, 'http://127.0.0.1:9/', {
      concurrency: CONCURRENCY,
      order: { by: 'body.key' },
    })
    const keys = Array.from({ length: DELIVERIES }, () => `k${Math.floor(random() * KEYS)}`)
    const { services } = service.running
    const begun: Attempt[] = []
    const succeeded: Attempt[] = []
    const faults: string[] = []
    const keyOf = ({ request }: Attempt) => String(JSON.parse(Buffer.from(request.body).toString()).key)

    const look = async () => {
      const { sends } = await lookAt(service, action, 1 + Math.floor(random() * 12))
      for (const { attempt } of sends) {
        if (begun.some((other) => keyOf(other) === keyOf(attempt))) faults.push(`${keyOf(attempt)} overlaps`)
        begun.push(attempt)
      }
      if (begun.length > CONCURRENCY) faults.push(`${begun.length} in flight`)
    }
    const end = async () => {
      const some = begun.filter(() => random() < 0.6)
      for (const one of some) begun.splice(begun.indexOf(one), 1)
      const ended = some.map((attempt) => {
        const isFailure = random() < FAILING_SHARE
        if (!isFailure) succeeded.push(attempt)
        return { attempt, result: resultOf(services.clock.now(), isFailure ? 500 : 200) }
      })
      await recordAttempts(services, ended, pauseGone)
    }

    const sending = sendAll(
      action.endpoint,
      keys.map((key, n) => ({ key, n })),
      6,
    )
    let isSent = false
    const sent = sending.then(() => {
      isSent = true
    })
    for (let steps = 0; steps < 3000 && (!isSent || (await openOf(service)) !== 0); steps += 1)
      // Looks and ends of two processes at the same time.
      await Promise.all([look(), look(), end()])
    await sent
    expect(faults).toEqual([])
    const rows = await service.db.selectFrom('requests').select(['id', 'body']).orderBy('id').execute()
    for (const [key, ofKey] of Map.groupBy(succeeded, keyOf)) {
      const inOrder = rows.filter(({ body }) => JSON.parse(body.toString()).key === key).map(({ id }) => id)
      expect(ofKey.map(({ requestId }) => requestId)).toEqual(inOrder)
    }
    expect(succeeded).toHaveLength(DELIVERIES)
  })

  test('puts nothing behind a delivery that is just ending: its end would not see it', async () => {
    const service = await startService({ limits: LIMITS, parts: ['gateway'] })
    const action = await governedAction(service.alice, 'http://127.0.0.1:9/', { order: { by: 'endpoint' } })
    const { services } = service.running
    const pick = async () => (await lookAt(service, action)).sends
    await sendAll(action.endpoint, [{ n: 1 }])
    const [first] = await pick()
    const deliveryId = first?.attempt.deliveryId ?? 0
    await services.db.transaction().execute(async (ending) => {
      // As the record of its success, before the commit.
      await ending.deleteFrom('deliveries').where('id', '=', deliveryId).execute()
      await sendAll(action.endpoint, [{ n: 2 }])
      expect(await pick()).toEqual([])
    })
    expect(await pick()).toHaveLength(1)
  })

  test('of a sealed workspace takes nothing and says when to look again, until the seal has ended', async () => {
    const service = await startService({ limits: LIMITS, parts: ['gateway'] })
    const action = await governedAction(service.alice, 'http://127.0.0.1:9/', { concurrency: 1 })
    await sendAll(action.endpoint, [{ n: 1 }, { n: 2 }])
    const { workspaceId } = service.alice
    const seal = (until: string | null) =>
      sql`update workspaces set sealed_until = ${until}::timestamptz where id = ${workspaceId}`.execute(
        service.db,
      )
    // As a move leaves it that was killed after its last pass.
    await seal('infinity')
    const sealed = await lookAt(service, action)
    expect(sealed).toMatchObject({ sends: [], opensBy: 'change' })
    expect(sealed.nextInMs).toBeWithin(1000, 2001)
    await seal(null)
    expect((await lookAt(service, action)).sends).toHaveLength(1)
  })

  for (const [of, delivery] of [
    ['without bounds', {}],
    ['with a bound', { concurrency: 50 }],
    ['in order', { order: { by: 'body.n' } }],
  ] as const)
    test(`takes replays in bulk after captures that arrive later, of a lane ${of}`, async () => {
      const service = await startService({ limits: LIMITS, parts: ['gateway'] })
      const { alice } = service
      const endpoint = await alice.endpoint()
      await sendAll(endpoint, numbered(3))
      const action = await governedAction(alice, 'http://127.0.0.1:9/', delivery, endpoint)
      const requestIds = [1, 2, 3]
      await alice.expect(alice.post(endpoint.at('/requests/bulk-replay'), { requestIds }), z.unknown())
      await sendAll(endpoint, numbered(2))
      const taken: number[] = []
      for (let looks = 0; looks < 3; looks += 1)
        taken.push(...(await lookAt(service, action, 2)).sends.map(({ attempt }) => attempt.requestId))
      expect(taken).toEqual([4, 5, 1, 2, 3])
    })
})

function resultOf(finishedAt: Date, statusCode: number) {
  const sent = {
    method: 'POST',
    url: 'http://127.0.0.1:9/',
    headers: [],
    own: [],
    body: new Uint8Array(),
    bodyIsCaptured: true,
  }
  return {
    error: statusCode === 200 ? null : `http_${statusCode}`,
    sent,
    received: { statusCode, headers: [], body: new Uint8Array(), bodyTruncated: false },
    finishedAt,
    durationMs: 1,
    rules: { transformed: false, transformationVersion: null, transformNote: null },
    ruleEnds: [],
  }
}
