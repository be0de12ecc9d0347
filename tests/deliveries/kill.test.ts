import { expect, test } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openDatabase } from '@creel/core'
import { z } from 'zod'
import { createTestDatabase } from '../support/database.ts'
import { type ProcessOptions, startProcess, TEST_SECRET_KEY, temporaryFolder } from '../support/process.ts'
import { clientOf } from '../support/processClient.ts'
import { startReceiver } from '../support/receiver.ts'
import { governedAction, numbered, sendAll } from './governed.ts'

const EVENTS = 150
const KEYS = 10
const KILL_AT = 40

const Body = z.object({ n: z.int(), key: z.string() })

/** The full numbers: `bun bench/flows.ts faults`. */
test('two processes keep the order of every key while a third of the attempts fail and one of them is killed', async () => {
  const successes: z.output<typeof Body>[] = []
  let attempts = 0
  await using receiver = await startReceiver((request, response) => {
    attempts += 1
    const fails = attempts % 3 === 0
    if (!fails) successes.push(Body.parse(JSON.parse(request.body.toString())))
    response.writeHead(fails ? 500 : 200)
    setTimeout(() => response.end(), 5)
  })
  const folder = await temporaryFolder()
  const plans = join(folder, 'plans.json')
  await writeFile(plans, '{"team":{"captureRatePerMinute":1000000}}')
  const database = await createTestDatabase()
  const options: ProcessOptions = {
    database,
    cwd: folder,
    env: {
      CREEL_SECRET_KEY: TEST_SECRET_KEY,
      CREEL_PLANS_FILE: plans,
      CREEL_ALLOW_DESTINATIONS: '127.0.0.1',
      CREEL_RETRY_SCHEDULE: Array(40).fill('50ms').join(','),
    },
  }
  const gateway = await startProcess(options, ['--only', 'gateway'])
  const client = await clientOf(gateway, options)
  const action = await governedAction(client, receiver.url, { order: { by: 'body.key' } })
  const [killed] = await Promise.all([
    startProcess(options, ['--only', 'jobs']),
    startProcess(options, ['--only', 'jobs']),
  ])
  const sending = sendAll(action.endpoint, numbered(EVENTS, KEYS))
  await receiver.take(KILL_AT)
  killed.signal('SIGKILL')
  await killed.exited
  await sending
  await action.isDone()

  const { db, close } = openDatabase(database.url, 1)
  const rows = await db.selectFrom('requests').select('body').orderBy('id').execute()
  await close()
  const stored = rows.map(({ body }) => Body.parse(JSON.parse(body.toString())))
  const seen = new Set<number>()
  const first = successes.filter(({ n }) => !seen.has(n) && seen.add(n))
  expect(first).toHaveLength(EVENTS)
  for (const [ofKey, got] of Map.groupBy(first, (one) => one.key))
    expect(got.map(({ n }) => n)).toEqual(stored.filter((one) => one.key === ofKey).map(({ n }) => n))
})
