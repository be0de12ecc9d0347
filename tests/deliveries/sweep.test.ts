import { expect, test } from 'bun:test'
import { sql } from 'kysely'
import { startReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'
import { governedAction, numbered, sendAll } from './governed.ts'

test('deliveries of a flow whose signals are lost are made by a job', async () => {
  await using receiver = await startReceiver()
  const { alice, db, runJob } = await startService()
  const action = await governedAction(alice, receiver.url, { order: { by: 'endpoint' } })
  await action.pause()
  await sendAll(action.endpoint, numbered(2))
  // As if the process that resumed the action, and the one that had a timer, had died.
  await sql`update deliveries set flow_due_at = now() - interval '1 minute'`.execute(db)
  await sql`update actions set paused_at = null where id = ${action.id}`.execute(db)
  await runJob('deliveries.flows', {})
  const received = await receiver.take(2)
  expect(received.map(({ body }) => JSON.parse(body.toString()).n)).toEqual([0, 1])
})
