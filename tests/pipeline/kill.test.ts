import { describe, expect, test } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openDatabase } from '@creel/core'
import { sql } from 'kysely'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { type ProcessOptions, startProcess, TEST_SECRET_KEY, temporaryFolder } from '../support/process.ts'
import { clientOf } from '../support/processClient.ts'
import { startReceiver } from '../support/receiver.ts'

const DELIVERIES = 1000
/** The kill comes after this many arrivals: in the middle, with sends in flight and answers outstanding. */
const KILL_AT = 300
const ANSWER_MS = 20
/** An attempt of the surviving process lasts longer than a process may be silent. */
const LONG_ANSWER_MS = 11_000
/** The leases of the attempts are longer: that of the killed process ends because it is silent. */
const NOTICED_SECONDS = 60

describe('SIGKILL of the jobs process in the middle of 1 000 deliveries', () => {
  test('each arrives at least once, cut-off tries say so, and nothing recorded as Succeeded goes out again', async () => {
    const arrivals: number[] = []
    const killed = Promise.withResolvers<void>()
    await using receiver = await startReceiver((request, response) => {
      arrivals.push(Number(request.header('creel-request-id')))
      const answer = () => response.end('ok')
      // From here on attempts are under way until the process is gone.
      if (arrivals.length >= KILL_AT) void killed.promise.then(answer)
      else setTimeout(answer, ANSWER_MS)
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
      },
    }
    const gateway = await startProcess(options, ['--only', 'gateway'])
    const client = await clientOf(gateway, options)
    const endpoint = await client.endpoint({ forwardUrl: receiver.url })
    for (let sent = 0; sent < DELIVERIES; sent += 50) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => endpoint.send()))
      for (const answer of answers) await answer.body?.cancel()
    }

    const answered = Promise.withResolvers<void>()
    await using slow = await startReceiver((_request, response) => {
      void answered.promise.then(() => response.end('ok'))
    })

    const named = { url: `${database.url}${database.url.includes('?') ? '&' : '?'}application_name=killed` }
    const first = await startProcess({ ...options, database: named }, ['--only', 'jobs'])
    await receiver.take(KILL_AT)
    first.signal('SIGKILL')
    await first.exited
    killed.resolve()

    const { db, close } = openDatabase(database.url, 2)
    // What the process had sent to PostgreSQL may be done after its end.
    await eventually('the end of its sessions', async () => {
      const { rows } = await sql`select from pg_stat_activity where application_name = 'killed'
        and datname = current_database()`.execute(db)
      return rows.length === 0
    })
    const attemptsOf = (endpointId: string) =>
      db
        .selectFrom('deliveryAttempts')
        .where('endpointId', '=', endpointId)
        .select(['state', 'requestId'])
        .execute()
    const interrupted = async () => {
      const { count } = await db
        .selectFrom('deliveryAttempts')
        .where('endpointId', '=', endpoint.id)
        .where('state', '=', 'Interrupted')
        .select((of) => of.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
      return count
    }
    const ids = async (state: string) =>
      (await attemptsOf(endpoint.id)).filter((row) => row.state === state).map((row) => row.requestId)
    // Sends whose last bytes were on the wire when the process died have arrived by the time it is gone.
    const cutOff = await ids('Pending')
    const succeeded = new Set(await ids('Succeeded'))
    const arrivedBefore = arrivals.length
    expect(cutOff.length).toBeGreaterThan(0)
    expect(succeeded.size).toBeGreaterThan(0)

    await startProcess(options, ['--only', 'jobs'])
    // A long attempt of a live process, which must not be taken for dead.
    const patient = await client.endpoint()
    const delivery = { timeoutSeconds: 2 * NOTICED_SECONDS }
    await client.post(patient.at('/actions'), { kind: 'forward', url: slow.url, delivery })
    await patient.capture()
    await slow.take(1)
    const sentAt = performance.now()
    await eventually('the cut-off attempts to say so', async () => (await interrupted()) >= cutOff.length, {
      seconds: NOTICED_SECONDS,
    })
    await eventually('the length of the attempt', () => performance.now() - sentAt > LONG_ANSWER_MS)
    expect(await attemptsOf(patient.id)).toMatchObject([{ state: 'Pending' }])
    answered.resolve()
    const left = async () =>
      (
        await db
          .selectFrom('deliveries')
          .select((of) => of.fn.countAll<number>().as('count'))
          .executeTakeFirstOrThrow()
      ).count
    await eventually('the end of every delivery', async () => (await left()) === 0)

    expect(new Set(arrivals).size).toBe(DELIVERIES)
    expect(arrivals.slice(arrivedBefore).filter((id) => succeeded.has(id))).toEqual([])
    expect((await ids('Interrupted')).toSorted()).toEqual(cutOff.toSorted())
    expect(new Set(await ids('Succeeded')).size).toBe(DELIVERIES)
    expect(await ids('Succeeded')).toHaveLength(DELIVERIES)
    expect(await attemptsOf(patient.id)).toMatchObject([{ state: 'Succeeded' }])
    await close()
  })
})
