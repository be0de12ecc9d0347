import { expect, test } from 'bun:test'
import { eraseRequests } from '@creel/core/retention'
import { sql } from 'kysely'
import { eventually } from '../support/eventually.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { servicePerTest, type TestService } from '../support/service.ts'
import { governedAction, numbered, sendAll } from './governed.ts'

/** Deliveries of a flow are made although the process that would look at it in time has died. */

const startService = servicePerTest()
const ORDERED = { order: { by: 'endpoint' } }
const numbersAt = async (receiver: Receiver, count: number) =>
  (await receiver.take(count)).map(({ body }) => JSON.parse(body.toString()).n)

const jobsOf = async ({ db }: TestService) =>
  (
    await sql<{ at: Date }>`select start_after as at from pgboss.job
      where name = 'deliveries.lanes' and state < 'active' order by start_after`.execute(db)
  ).rows

test('by the job that came with their captures, of which there is one for many', async () => {
  await using receiver = await startReceiver()
  const gateway = await startService({ parts: ['gateway'] })
  const action = await governedAction(gateway.alice, receiver.url, ORDERED)
  const begunAt = performance.now()
  await sendAll(action.endpoint, numbered(200))
  const seconds = (performance.now() - begunAt) / 1000
  const jobs = await jobsOf(gateway)
  // One for each five seconds that the captures took; the second one is of another batch before the first commit.
  expect(jobs.length).toBeWithin(1, 4 + seconds / 5)
  const { database, clock, secretKey } = gateway
  await startService({ database, clock, secretKey, parts: ['jobs'] })
  await clock.advance(15_000)
  expect(await numbersAt(receiver, 200)).toEqual(numbered(200).map(({ n }) => n))
})

test('by the job that came with a freed key', async () => {
  await using receiver = await startReceiver()
  const gateway = await startService({ parts: ['gateway'] })
  const { alice, database, clock, secretKey, db, running } = gateway
  const action = await governedAction(alice, receiver.url, ORDERED)
  const [first] = await action.endpoint.captureMany(2)
  await sql`update deliveries set flow_state = 'behind', behind_id = (select min(id) from deliveries)
    where id > (select min(id) from deliveries)`.execute(db)
  await sql`delete from pgboss.job where name = 'deliveries.lanes'`.execute(db)
  await db
    .transaction()
    .execute((trx) => eraseRequests(running.services, trx, action.endpoint.id, [first?.id ?? 0]))
  expect(await jobsOf(gateway)).toHaveLength(1)
  await startService({ database, clock, secretKey, parts: ['jobs'] })
  await clock.advance(15_000)
  await receiver.take(1)
})

test('although the clock of the database was set back: jobs, schedules and reserved starts follow it', async () => {
  await using receiver = await startReceiver()
  const { alice, db } = await startService()
  const action = await governedAction(alice, receiver.url, { rate: { count: 10, perSeconds: 1 } })
  await sendAll(action.endpoint, numbered(1))
  await receiver.take(1)
  // As if it had been an hour ahead until now. The next run of the chain is queued most of the time.
  const [queued] = await eventually('a queued run', async () => {
    const { rows } = await sql<{ id: string }>`update pgboss.job
      set created_on = created_on + interval '1 hour', start_after = start_after + interval '1 hour'
      where name = 'deliveries.sweep' and state = 'created' returning id`.execute(db)
    return rows.length > 0 && rows
  })
  await sql`update action_flows set next_start_at = clock_timestamp() + interval '1 hour'`.execute(db)
  await sql`update pgboss.version set cron_on = pgboss.job_now() + interval '1 hour'`.execute(db)
  await sql`update pgboss.queue set monitor_claim_on = pgboss.job_now() + interval '1 hour'`.execute(db)
  const seconds = 60
  await eventually(
    'its run',
    async () =>
      (await sql`select from pgboss.job where id = ${queued?.id} and state = 'completed'`.execute(db)).rows
        .length > 0,
    { seconds },
  )
  const { rows } = await sql`select from pgboss.version, pgboss.queue
    where cron_on > pgboss.job_now() or monitor_claim_on > pgboss.job_now()`.execute(db)
  expect(rows).toEqual([])
  await sendAll(action.endpoint, numbered(1))
  await receiver.take(2)
})

test('by the sweep, if the job is lost as well', async () => {
  await using receiver = await startReceiver()
  const { alice, db, runJob } = await startService()
  const action = await governedAction(alice, receiver.url, ORDERED)
  await action.pause()
  await sendAll(action.endpoint, numbered(2))
  // As of a database that was restored without its jobs.
  await sql`update deliveries set flow_due_at = now() - interval '1 minute'`.execute(db)
  await sql`update actions set paused_at = null where id = ${action.id}`.execute(db)
  await sql`delete from pgboss.job where name = 'deliveries.lanes'`.execute(db)
  await runJob('lanes.sweep', {})
  expect(await numbersAt(receiver, 2)).toEqual([0, 1])
})
