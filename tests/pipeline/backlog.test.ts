import { expect, test } from 'bun:test'
import { sql } from 'kysely'
import { attemptsEnded } from '../support/attempts.ts'
import { eventually } from '../support/eventually.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'

/** More than one look takes. */
const CAPTURES = 400
/** The most attempts in flight to a destination that has not answered yet. */
const UNPROVEN_MAX = 128

test('a process that stops leaves what has not begun, another makes each once, and all of it costs a few jobs', async () => {
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
      select count(*)::int as count from deliveries where flow_state = 'waiting'`.execute(db)
    return rows[0]?.count
  }
  const jobs = await sql`select from pgboss.job where name = 'deliveries.lanes'`.execute(db)
  expect(jobs.rows.length).toBeWithin(1, 5)
  expect(await waiting()).toBe(CAPTURES)
  const metrics = await (await fetch(`${gateway.baseUrl}/metrics`)).text()
  expect(metrics).toContain(`creel_sends_waiting{kind="delivery"} ${CAPTURES}\n`)

  const first = await startService({ parts: ['jobs'], database, secretKey, clock })
  await receiver.take(UNPROVEN_MAX)
  const stopping = first.stop()
  await eventually('the others, left', async () => (await waiting()) === CAPTURES - UNPROVEN_MAX)
  answers = true
  for (const response of held) response.end('ok')
  await stopping
  expect(receiver.received).toHaveLength(UNPROVEN_MAX)

  await startService({ parts: ['jobs'], database, secretKey, clock })
  await receiver.take(CAPTURES)
  await attemptsEnded(gateway, endpoint, CAPTURES)
  expect(receiver.received).toHaveLength(CAPTURES)
})
