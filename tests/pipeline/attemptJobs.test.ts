import { expect, test } from 'bun:test'
import { sql } from 'kysely'
import { attemptsEnded } from '../support/attempts.ts'
import { eventually } from '../support/eventually.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'

/** Timeout of a stopping service for attempts in flight. */
const DRAIN_MS = 20_000
/** More than one batch of the dispatcher. */
const CAPTURES = 400
/** The most attempts in flight to a destination that has not answered yet. */
const UNPROVEN_MAX = 128

test('jobs of 0.1.0 run, attempts that are queued twice are made once, and a job that nobody can read stops nothing', async () => {
  await using receiver = await startReceiver()
  const gateway = await startService({ parts: ['gateway'] })
  const { alice, db, database, secretKey, clock } = gateway
  const endpoint = await alice.endpoint({ forwardUrl: receiver.url })
  for (let sent = 0; sent < 4; sent += 1) await endpoint.capture()
  const jobs = sql`pgboss.job where name = 'deliveries.attempt'`
  const { rows: queued } = await sql<{ id: string }>`select id from ${jobs} order by created_on, id`.execute(
    db,
  )
  const deliveries = await db.selectFrom('deliveries').select(['id', 'actionId']).orderBy('id').execute()
  const [first, ...others] = deliveries.map(({ id, actionId }) => ({
    deliveryId: id,
    attempt: 1,
    actionId,
    bodyBytes: 2,
  }))
  const [second] = others
  const payloads = [first, { attempts: [...others, second] }, { attempts: [second] }, { unreadable: true }]
  for (const [index, { id }] of queued.entries())
    await sql`update pgboss.job set data = ${JSON.stringify(payloads[index])}::jsonb where id = ${id}`.execute(
      db,
    )

  const worker = await startService({ parts: ['jobs'], database, secretKey, clock })
  await receiver.take(4)
  await attemptsEnded(gateway, endpoint, 4)
  await eventually('the end of the jobs', async () => {
    const { rows } = await sql`select from ${jobs}`.execute(db)
    return rows.length === 0
  })
  expect(await db.selectFrom('deliveries').selectAll().execute()).toEqual([])
  expect(receiver.received).toHaveLength(4)
  // Attempts that had nothing to do have released their slots.
  const stoppedAt = performance.now()
  await worker.stop()
  expect(performance.now() - stoppedAt).toBeLessThan(DRAIN_MS / 2)
}, 60_000)

test('a process that stops queues anew what has not begun, and another makes each once', async () => {
  const held: { end(text: string): unknown }[] = []
  let answers = false
  await using receiver = await startReceiver((_request, response) => {
    if (answers) response.end('ok')
    else held.push(response)
  })
  const gateway = await startService({ parts: ['gateway'], limits: { captureRatePerMinute: 100_000 } })
  const { alice, db, database, secretKey, clock } = gateway
  const endpoint = await alice.endpoint({ forwardUrl: receiver.url })
  for (let sent = 0; sent < CAPTURES; sent += 50)
    for (const answer of await Promise.all(Array.from({ length: 50 }, () => endpoint.send())))
      await answer.body?.cancel()
  const waiting = async () => {
    const { rows } = await sql<{ count: number }>`
      select coalesce(sum(jsonb_array_length(data -> 'attempts')), 0)::int as count from pgboss.job
      where name = 'deliveries.attempt' and state < 'active'`.execute(db)
    return rows[0]?.count
  }
  expect(await waiting()).toBe(CAPTURES)
  const metrics = await (await fetch(`${gateway.baseUrl}/metrics`)).text()
  expect(metrics).toContain(`creel_queue_depth{queue="deliveries.attempt"} ${CAPTURES}\n`)

  const first = await startService({ parts: ['jobs'], database, secretKey, clock })
  await receiver.take(UNPROVEN_MAX)
  const stopping = first.stop()
  await eventually('the others, queued anew', async () => (await waiting()) === CAPTURES - UNPROVEN_MAX)
  answers = true
  for (const response of held) response.end('ok')
  await stopping
  expect(receiver.received).toHaveLength(UNPROVEN_MAX)

  await startService({ parts: ['jobs'], database, secretKey, clock })
  await receiver.take(CAPTURES)
  await attemptsEnded(gateway, endpoint, CAPTURES)
  expect(receiver.received).toHaveLength(CAPTURES)
}, 60_000)
