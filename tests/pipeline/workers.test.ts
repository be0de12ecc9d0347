import { beforeAll, describe, expect, test } from 'bun:test'
import {
  beatDeliveryWorker,
  recoverInterrupted,
  registerDeliveryWorker,
  startPresence,
} from '@creel/core/deliveries'
import { sql } from 'kysely'
import type { TestEndpoint } from '../support/client.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
/** Id of another worker in the database. It sends no heartbeats by itself. */
let otherId: number
const ownId = () => service.running.services.workerId ?? 0

beforeAll(async () => {
  // No dispatcher, so that only the tests look for dead workers.
  service = await startService({ parts: ['gateway'] })
  const row = service.db.insertInto('deliveryWorkers').defaultValues().returning('id')
  otherId = (await row.executeTakeFirstOrThrow()).id
})

/**
 * Runs `during` while an attempt of another process is in flight, and returns the states of its attempts afterwards.
 */
async function statesAfter(during: () => Promise<unknown>, workerId = otherId): Promise<string[]> {
  await using receiver = await startReceiver(() => {})
  const endpoint = await service.alice.endpoint({ forwardUrl: receiver.url })
  const { id } = await endpoint.capture()
  const hangsUp = new AbortController()
  const replay = service.alice
    .post(endpoint.at(`/requests/${id}/replay`), {}, { signal: hangsUp.signal })
    .catch(() => undefined)
  await receiver.take(1)
  await sql`update delivery_attempts set worker_id = ${workerId} where endpoint_id = ${endpoint.id}`.execute(
    service.db,
  )
  await during()
  await recoverInterrupted(service.running.services)
  const states = await statesOf(endpoint)
  hangsUp.abort()
  await replay
  return states
}

async function statesOf(endpoint: TestEndpoint): Promise<string[]> {
  const rows = service.db.selectFrom('deliveryAttempts').where('endpointId', '=', endpoint.id).select('state')
  // Waits for a recovery of the service that is under way.
  return (await rows.forUpdate().execute()).map(({ state }) => state)
}

/** Sets the age of a process's last heartbeat, and the time for which it has sent them without a gap. */
async function setLife(id: number, heardSecondsAgo: number, steadySeconds: number) {
  await sql`
    update delivery_workers set beat_at = now() - make_interval(secs => ${heardSecondsAgo}),
      steady_since = now() - make_interval(secs => ${steadySeconds}) where id = ${id}`.execute(service.db)
}

describe('an attempt of another process', () => {
  test('goes on while that process is heard', async () => {
    const states = await statesAfter(async () => {
      await setLife(ownId(), 0, 60)
      await setLife(otherId, 4, 60)
    })
    expect(states).toEqual(['Pending'])
  })

  test('goes on after an outage in which nobody was heard, until the others had time to be heard again', async () => {
    const states = await statesAfter(async () => {
      await setLife(ownId(), 30, 60)
      await setLife(otherId, 30, 60)
      await beatDeliveryWorker(service.db, ownId())
    })
    expect(states).toEqual(['Pending'])
  })

  test('is Interrupted when that process fell silent, and that process may come back', async () => {
    const silent = () => setLife(otherId, 11, 60)
    const states = await statesAfter(async () => {
      await setLife(ownId(), 0, 7)
      await silent()
    })
    expect(states).toEqual(['Interrupted'])
    const back = async () => {
      await beatDeliveryWorker(service.db, otherId)
      await setLife(ownId(), 0, 60)
    }
    expect(await statesAfter(back)).toEqual(['Pending'])
  })

  test('is Interrupted at once when that process was stopped', async () => {
    const { services } = service.running
    const workerId = await registerDeliveryWorker(service.db)
    const other = startPresence({ ...services, workerId })
    expect(await statesAfter(() => other.stop(), workerId)).toEqual(['Interrupted'])
  })
})
