import { expect, test } from 'bun:test'
import { pauseGone } from '@creel/core/actions'
import { flowSends } from '@creel/core/deliveries'
import { sql } from 'kysely'
import { z } from 'zod'
import { eventually } from '../support/eventually.ts'
import { startReceiver } from '../support/receiver.ts'
import { servicePerTest, type TestService, type TestServiceOptions } from '../support/service.ts'
import { GovernedAction, sendAll } from './governed.ts'

/** Looks at the lanes of many actions at once, which have neither order nor pace. */

const startService = servicePerTest()
const LIMITS = { captureRatePerMinute: 1_000_000, apiRatePerMinute: 1_000_000 }
const WithId = z.looseObject({ id: z.string() })
const MEGABYTE = 1024 * 1024

const flows = flowSends(pauseGone)

/** A forward action of an endpoint of its own, which has so many captures. */
async function actionWith(
  { alice }: TestService,
  captures: number,
  { bodyBytes = 1, url = 'http://127.0.0.1:9/', delivery = {} } = {},
): Promise<GovernedAction> {
  const endpoint = await alice.endpoint()
  const made = await alice.expect(
    alice.post(endpoint.at('/actions'), { kind: 'forward', url, delivery }),
    WithId,
  )
  const text = 'x'.repeat(bodyBytes)
  await sendAll(
    endpoint,
    Array.from({ length: captures }, (_, n) => ({ n, text })),
  )
  return new GovernedAction(alice, endpoint, made.id)
}

/** Looks at lanes together, as a process with so many free slots for each does. */
async function lookAt({ running: { services } }: TestService, actions: readonly GovernedAction[], slots = 5) {
  const lanes = actions.map(({ id, client: { workspaceId } }) => ({ id, workspaceId, slots }))
  const looks = await services.db
    .transaction()
    .execute(async (trx) => await flows.lookTogether?.(services, trx, lanes))
  if (looks === undefined) throw new Error('Lanes of deliveries are not looked at together.')
  return looks
}

const isolated: TestServiceOptions = { limits: LIMITS, parts: ['gateway'] }

test('takes of every lane what it has room for, and says which have more', async () => {
  const service = await startService(isolated)
  const one = await actionWith(service, 1)
  const many = await actionWith(service, 7)
  const none = await actionWith(service, 0)
  const looks = await lookAt(service, [one, many, none])
  const [ofOne, ofMany, ofNone] = [one, many, none].map(({ id }) => looks.get(id))
  expect(ofOne).toMatchObject({ sends: [{ attempt: { action: { id: one.id } } }], nextInMs: null })
  expect(ofMany?.sends).toHaveLength(5)
  expect(ofMany).toMatchObject({ nextInMs: 0 })
  expect(ofNone).toEqual({ sends: [], nextInMs: null })
  const further = (await lookAt(service, [many])).get(many.id)
  expect(further?.sends).toHaveLength(2)
})

test('leaves lanes with bounds, and paused ones, to looks of their own', async () => {
  const service = await startService(isolated)
  const plain = await actionWith(service, 1)
  const governed = await actionWith(service, 1, { delivery: { concurrency: 1 } })
  const paused = await actionWith(service, 1)
  await paused.pause()
  const looks = await lookAt(service, [plain, governed, paused])
  expect([...looks.keys()]).toEqual([plain.id])
  expect(looks.get(plain.id)?.sends).toHaveLength(1)
})

test('two processes together take every delivery once', async () => {
  const service = await startService(isolated)
  const actions = await Promise.all(Array.from({ length: 6 }, () => actionWith(service, 10)))
  const taken: (number | null)[] = []
  const look = async () => {
    for (const { sends } of (await lookAt(service, actions, 2)).values())
      for (const { attempt } of sends) taken.push(attempt.deliveryId)
  }
  for (let steps = 0; steps < 40 && taken.length < 60; steps += 1) await Promise.all([look(), look()])
  expect(taken).toHaveLength(60)
  expect(new Set(taken).size).toBe(60)
})

test('large bodies of one lane leave room for those of others', async () => {
  const service = await startService(isolated)
  const large = await actionWith(service, 12, { bodyBytes: 2 * MEGABYTE })
  const small = await actionWith(service, 1)
  const looks = await lookAt(service, [large, small], 20)
  const bytes = (looks.get(large.id)?.sends ?? []).reduce((sum, send) => sum + send.bytes, 0)
  expect(bytes).toBeWithin(2 * MEGABYTE, 16 * MEGABYTE + 1)
  expect(looks.get(small.id)?.sends).toHaveLength(1)
})

test('a delivery that cannot be begun holds up none of another lane', async () => {
  const service = await startService(isolated)
  const { database, clock, secretKey, db } = service
  const receiver = await startReceiver()
  const actions = await Promise.all(
    Array.from({ length: 8 }, () => actionWith(service, 1, { url: receiver.url })),
  )
  const [refused] = actions
  await sql`
    create function refuse_attempt() returns trigger language plpgsql as $$
    begin
      raise exception 'refused by the test' using errcode = '22P05';
    end $$`.execute(db)
  await sql`create trigger refuse before insert on delivery_attempts for each row
    when (new.action_id = ${sql.lit(refused?.id ?? '')}) execute function refuse_attempt()`.execute(db)
  await clock.advance(20_000)
  await startService({ limits: LIMITS, database, clock, secretKey })
  await eventually('the others', () => receiver.received.length >= 7)
  const postponed = async () =>
    await db
      .selectFrom('deliveries')
      .where('actionId', '=', refused?.id ?? '')
      .where('flowDueAt', '>', clock.now())
      .select('flowState')
      .execute()
  await eventually('the other one is postponed', async () => (await postponed()).length === 1)
  expect(await postponed()).toEqual([{ flowState: 'waiting' }])
})
