import { expect, test } from 'bun:test'
import { randomBytes, randomUUID } from 'node:crypto'
import { openDatabase } from '@creel/core'
import { createBoss, createQueues } from '@creel/jobs'
import { MIGRATIONS, migrate } from '@creel/migrations'
import { sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import { pino } from 'pino'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'

const LAST_OF_0_1_0 = '20261121T1060_watchdogs'
const AT = '2026-11-21T10:00:00Z'
const FORMER_QUEUE = 'deliveries.attempt'
const HOUR_MS = 3_600_000

test('deliveries of 0.1.0 that were due, under way or due later are made, by lanes and not by their former jobs', async () => {
  await using receiver = await startReceiver()
  const database = await createTestDatabase({ isEmpty: true })
  const { db, close } = openDatabase(database.url, 2)
  const { error } = await new Migrator({
    db,
    provider: { getMigrations: async () => ({ ...MIGRATIONS }) },
  }).migrateTo(LAST_OF_0_1_0)
  expect(error).toBeUndefined()
  const [workspace, endpoint, action] = [randomUUID(), randomUUID(), randomUUID()]
  const delivery = (requestId: number, nextAt: string) =>
    `insert into deliveries (workspace_id, endpoint_id, request_id, action_id, action_name, kind, trigger, attempt_count,
       next_attempt_at, created_at)
     values ('${workspace}', '${endpoint}', ${requestId}, '${action}', 'Shop', 'forward', 'capture', 0, ${nextAt}, '${AT}')`
  const request = `insert into requests (endpoint_id, id, received_at, method, path, header_names, header_values,
      size_bytes, body, body_truncated, body_is_binary, body_preview, dispatch_state)
    values ('${endpoint}', nextval('request_ids'), now(), 'POST', '/', 'Content-Type', 'text/plain', 2, 'hi', false, false,
      'hi', 'Pending')`
  for (const row of [
    `insert into workspaces values ('${workspace}', 'old', 'team', '${AT}')`,
    `insert into endpoints (id, workspace_id, name, is_active, created_at, response_status_code, response_content_type,
       response_headers, response_body)
     values ('${endpoint}', '${workspace}', 'Orders', true, '${AT}', 200, 'text/plain', '{}', '')`,
    `insert into endpoint_counters (endpoint_id, stored_request_count, stored_bytes, last_request_at, oldest_request_id)
     values ('${endpoint}', 3, 6, '${AT}', 1)`,
    ...[request, request, request],
    `insert into actions (id, workspace_id, endpoint_id, kind, name, position, is_active, condition, url, created_at)
     values ('${action}', '${workspace}', '${endpoint}', 'forward', 'Shop', 1, true, '{}', '${receiver.url}', '${AT}')`,
    delivery(1, `now() - interval '1 hour'`),
    delivery(2, `now() - interval '1 hour'`),
    delivery(3, `now() + interval '1 hour'`),
    // Its process has died.
    `insert into delivery_attempts (endpoint_id, delivery_id, workspace_id, request_id, action_id, action_name, kind,
       state, attempt_number, trigger, url, at, lease_until)
     values ('${endpoint}', 2, '${workspace}', 2, '${action}', 'Shop', 'forward', 'Pending', 1, 'capture',
       '${receiver.url}', '${AT}', '${AT}')`,
  ])
    await sql.raw(row).execute(db)
  const former = createBoss(database.url, { log: pino({ level: 'silent' }), works: false })
  await former.start()
  await former.createQueue(FORMER_QUEUE, { partition: true })
  await former.send(FORMER_QUEUE, { deliveryId: 1, attempt: 1, actionId: action, bodyBytes: 2 })
  await former.stop()
  await migrate(db)

  const { clock, running, runJob } = await startService({ database, secretKey: randomBytes(32) })
  const idsOf = async (count: number) =>
    (await receiver.take(count)).map((one) => Number(one.header('creel-request-id'))).toSorted()
  expect(await idsOf(2)).toEqual([1, 2])
  await clock.advance(2 * HOUR_MS)
  await runJob('lanes.sweep', {})
  expect(await idsOf(3)).toEqual([1, 2, 3])
  expect(await running.boss.getQueue(FORMER_QUEUE)).toBeNull()
  await close()
})

test('the former queue is deleted, although that meets a deadlock', async () => {
  const database = await createTestDatabase()
  const { db, close } = openDatabase(database.url, 3)
  const boss = createBoss(database.url, { log: pino({ level: 'silent' }), works: false })
  await boss.start()
  await boss.createQueue(FORMER_QUEUE, { partition: true })
  const [table = ''] = (
    await sql<{
      name: string
    }>`select table_name as name from pgboss.queue where name = ${FORMER_QUEUE}`.execute(db)
  ).rows.map(({ name }) => `pgboss.${name}`)
  const waiters = async () =>
    (await sql`select from pg_locks where not granted and relation = ${table}::regclass`.execute(db)).rows
      .length
  let created: Promise<void> | undefined
  // As the maintenance of queues locks them: a partition, and then the table of all.
  await db.transaction().execute(async (trx) => {
    await sql`set local deadlock_timeout = '1h'`.execute(trx)
    await sql`lock table ${sql.raw(table)} in access share mode`.execute(trx)
    created = createQueues(boss)
    await eventually('the deletion waits', async () => (await waiters()) > 0)
    await sql`select from pgboss.job for share`.execute(trx)
  })
  await created
  expect(await boss.getQueue(FORMER_QUEUE)).toBeNull()
  await boss.stop({ graceful: false })
  await close()
})
