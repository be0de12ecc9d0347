import { expect, test } from 'bun:test'
import type { ServerResponse } from 'node:http'
import { sql } from 'kysely'
import { governedAction } from '../deliveries/governed.ts'
import { attemptsEnded } from '../support/attempts.ts'
import { eventually } from '../support/eventually.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'

const EACH = 300

test('a destination that never answers holds up its own deliveries and nobody else’s', async () => {
  await using dead = await startReceiver(() => {})
  await using live = await startReceiver()
  const { alice, db } = await startService({ limits: { captureRatePerMinute: 100_000 } })
  const deadEndpoint = await alice.endpoint({ forwardUrl: dead.url })
  const liveEndpoint = await alice.endpoint({ forwardUrl: live.url })
  for (let sent = 0; sent < EACH; sent += 10) {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? deadEndpoint : liveEndpoint).send()),
    )
    for (const answer of answers) await answer.body?.cancel()
  }
  await live.take(EACH)
  // The deliveries to the dead destination are all still open: nothing waited for them.
  const { open } = await db
    .selectFrom('deliveries')
    .where('endpointId', '=', deadEndpoint.id)
    .select((of) => of.fn.countAll<number>().as('open'))
    .executeTakeFirstOrThrow()
  expect(open).toBe(EACH)
  expect(live.received).toHaveLength(EACH)
})

test('an action that cannot be read stops no other', async () => {
  await using receiver = await startReceiver()
  const gateway = await startService({ parts: ['gateway'] })
  const { alice, db, database, secretKey, clock } = gateway
  const broken = await alice.endpoint({ forwardUrl: receiver.url, forwardSigningSecret: 's'.repeat(16) })
  const whole = await alice.endpoint({ forwardUrl: receiver.url })
  await db
    .updateTable('actions')
    .set({ signingSecret: Buffer.from('sealed by nobody') })
    .where('endpointId', '=', broken.id)
    .execute()
  await broken.capture()
  const { id } = await whole.capture()
  // Both are due in one batch when the jobs start.
  await startService({ parts: ['jobs'], database, secretKey, clock })
  const [only] = await receiver.take(1)
  expect(only?.header('creel-request-id')).toBe(String(id))
  await attemptsEnded(gateway, whole)
  const left = await db.selectFrom('deliveries').select('endpointId').execute()
  expect(left).toEqual([{ endpointId: broken.id }])
})

test.each([
  ['that cannot be claimed is postponed, and holds up no other of its action', '22P05', 1],
  ['whose claim met a deadlock twice is made when it is claimed again', '40P01', 2],
])('a delivery %s', async (_, code, arriving) => {
  await using receiver = await startReceiver()
  const { alice, db } = await startService()
  const { endpoint } = await governedAction(alice, receiver.url, { concurrency: 5 })
  await sql`create sequence claims`.execute(db)
  await sql`
    create function refuse_claim() returns trigger language plpgsql as $$
    begin
      if new.request_id % 2 = 1 and (${sql.lit(code)} <> '40P01' or nextval('claims') <= 2) then
        raise exception 'refused by the test' using errcode = ${sql.lit(code)};
      end if;
      return new;
    end $$`.execute(db)
  await sql`create trigger refuse before insert on delivery_attempts for each row execute function refuse_claim()`.execute(
    db,
  )
  for (let sent = 0; sent < 2; sent += 1) await endpoint.send()
  await receiver.take(arriving)
  expect(receiver.received.length).toBe(arriving)
  // A delivery is postponed by a minute.
})

test('a replay whose result met a deadlock is recorded with it, and not sent again', async () => {
  await using receiver = await startReceiver()
  const { alice, db } = await startService({ parts: ['gateway'] })
  const endpoint = await alice.endpoint({ forwardUrl: receiver.url })
  const { id } = await endpoint.capture()
  await sql`create sequence records`.execute(db)
  await sql`
    create function meet_deadlock() returns trigger language plpgsql as $$
    begin
      if nextval('records') = 1 then raise exception 'deadlock' using errcode = 'deadlock_detected'; end if;
      return new;
    end $$`.execute(db)
  await sql`create trigger meet_deadlock before update on delivery_attempts for each row execute function meet_deadlock()`.execute(
    db,
  )
  const replayed = await alice.post(endpoint.at(`/requests/${id}/replay`))
  expect(replayed).toMatchObject({ status: 200, body: { outcomes: [{ state: 'Succeeded' }] } })
  expect(receiver.received).toHaveLength(1)
})

test('a result that PostgreSQL refuses delays no other of its batch', async () => {
  const held: ServerResponse[] = []
  await using receiver = await startReceiver((_request, response) => void held.push(response))
  const service = await startService()
  const { alice, db } = service
  const endpoint = await alice.endpoint({ forwardUrl: receiver.url })
  await sql`alter table attempt_details add constraint refuses check (received_body <> 'refused')`.execute(db)
  for (let sent = 0; sent < 20; sent += 1) await endpoint.send()
  await receiver.take(20)
  // They end together, and so share a batch.
  for (const [at, response] of held.entries()) response.end(at === 7 ? 'refused' : 'recorded')
  const states = () =>
    db
      .selectFrom('deliveryAttempts')
      .where('endpointId', '=', endpoint.id)
      .groupBy('state')
      .select((of) => ['state' as const, of.fn.countAll<number>().as('count')])
      .orderBy('state')
      .execute()
  await eventually('the results of the others', async () =>
    (await states()).some(({ count }) => count === 19),
  )
  expect(await states()).toEqual([
    { state: 'Pending', count: 1 },
    { state: 'Succeeded', count: 19 },
  ])
})
