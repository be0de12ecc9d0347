import { afterEach, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { z } from 'zod'
import { AlertReceiver } from '../support/alertReceiver.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startProcess, TEST_SECRET_KEY } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'

const PATH = '/api/v1/alert-channels'
const FAILURES = 1000

const Payload = z.looseObject({ id: z.string(), event_kind: z.string(), status: z.string(), count: z.int() })
const Counted = z.looseObject({ totalCount: z.int() })
const History = z.looseObject({ items: z.array(z.looseObject({ eventKind: z.string(), count: z.int() })) })

let receiver: AlertReceiver | undefined
const services: TestService[] = []
const databases: TestDatabase[] = []

afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.stop()))
  await receiver?.stop()
})

describe('an outage of a destination', () => {
  test(`${FAILURES} dead letters make one alert with their count, and the first success one recovery`, async () => {
    const service = await startService({
      limits: { captureRatePerMinute: 100_000, apiRatePerMinute: 100_000 },
    })
    services.push(service)
    const { alice } = service
    receiver = await AlertReceiver.start()
    await using destination = await startReceiver({ status: 410 })
    await alice.post(PATH, { kind: 'webhook', settings: { url: `${receiver.url}/alerts` } })
    const endpoint = await alice.endpoint()
    const action = await alice.expect(
      alice.post(endpoint.at('/actions'), { kind: 'forward', name: 'Billing', url: destination.url }),
      z.looseObject({ id: z.string() }),
    )

    for (let sent = 0; sent < FAILURES; sent += 50) {
      await Promise.all(Array.from({ length: 50 }, () => endpoint.send().then((answer) => answer.text())))
    }
    await eventually(`${FAILURES} dead letters`, async () => {
      const answer = alice.get(endpoint.at('/deliveries?state=DeadLetter&pageSize=1'))
      return (await alice.expect(answer, Counted)).totalCount === FAILURES
    })
    destination.answer = { status: 200 }
    await endpoint.send()

    const messages = (await receiver.received(2)).map(({ json }) => Payload.parse(json))
    expect(messages).toHaveLength(2)
    expect(messages[0]).toMatchObject({
      event_kind: 'delivery.parked',
      status: 'open',
      subject_type: 'action',
      subject_id: action.id,
      subject_name: 'Billing',
    })
    expect(messages[1]).toMatchObject({ event_kind: 'delivery.recovered', status: 'closed', count: FAILURES })
    const rows = await eventually(
      'both alerts in the history',
      async () => {
        const { items } = await alice.expect(alice.get(`${PATH}/deliveries`), History)
        return items.length >= 2 && items.map(({ eventKind, count }) => `${eventKind} ${count}`)
      },
      { every: 100 },
    )
    expect(rows).toEqual([`delivery.recovered ${FAILURES}`, `delivery.parked ${FAILURES}`])
  })
})

describe('SIGKILL', () => {
  /** A workspace with a webhook channel and an action whose destination refuses for good; its jobs run elsewhere. */
  async function prepared() {
    const database = await createTestDatabase()
    databases.push(database)
    receiver = await AlertReceiver.start()
    const gateway = await startService({
      database,
      secretKey: Buffer.from(TEST_SECRET_KEY, 'base64'),
      parts: ['gateway'],
    })
    services.push(gateway)
    await gateway.alice.post(PATH, { kind: 'webhook', settings: { url: `${receiver.url}/alerts` } })
    const endpoint = await gateway.alice.endpoint()
    return { database, gateway, endpoint, receiver }
  }
  const jobs = (database: TestDatabase) =>
    startProcess({ database, env: { CREEL_ALLOW_DESTINATIONS: '127.0.0.0/8' } }, ['--only', 'jobs'])

  /** Another worker, after the dead one's claims have ended. */
  async function nextWorker(database: TestDatabase, { clock }: TestService) {
    await clock.advance(120_000)
    const secretKey = Buffer.from(TEST_SECRET_KEY, 'base64')
    services.unshift(await startService({ database, clock, secretKey, parts: ['jobs'] }))
  }

  test('between decision and send loses no alert', async () => {
    const { database, gateway, endpoint, receiver } = await prepared()
    await using destination = await startReceiver({ status: 410 })
    await gateway.alice.post(endpoint.at('/actions'), { kind: 'forward', url: destination.url })
    const doomed = await jobs(database)
    const { promise: killed, resolve: release } = Promise.withResolvers<void>()
    // No process can fan an alert out while this lock is held. The decision itself needs no such row.
    const locking = gateway.db.transaction().execute(async (trx) => {
      await sql`lock table alert_deliveries in access exclusive mode`.execute(trx)
      await endpoint.send()
      await killed
    })
    const alerts = gateway.db.selectFrom('alerts').select('id')
    await eventually('the alert in the outbox', async () => (await alerts.execute()).length > 0)
    doomed.signal('SIGKILL')
    await doomed.exited
    release()
    await locking
    expect(receiver.messages).toEqual([])

    await nextWorker(database, gateway)
    const [sent] = (await receiver.received(1)).map(({ json }) => Payload.parse(json))
    expect(sent).toMatchObject({ event_kind: 'delivery.parked', count: 1 })
  })

  test('in the middle of a send makes it again, with the same id', async () => {
    const { database, gateway, endpoint, receiver } = await prepared()
    await using destination = await startReceiver({ status: 410 })
    await gateway.alice.post(endpoint.at('/actions'), { kind: 'forward', url: destination.url })
    receiver.replies = [{ hold: new Promise(() => {}) }, { status: 200 }]
    const doomed = await jobs(database)
    await endpoint.send()
    await receiver.received(1)
    doomed.signal('SIGKILL')
    await doomed.exited

    await nextWorker(database, gateway)
    const [lost, sent] = (await receiver.received(2)).map(({ json }) => Payload.parse(json))
    expect(sent?.event_kind).toBe('delivery.parked')
    expect(sent?.id).toBe(lost?.id ?? '')
  })
})
