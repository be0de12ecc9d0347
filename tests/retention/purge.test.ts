import { beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { eventually } from '../support/eventually.ts'
import { holdOpen, holdUpWrites } from '../support/heldWrites.ts'
import { countLockWaits, isWaitingForLock } from '../support/lockWaits.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { expectCountersEqualRows, rowsOf } from './support.ts'

let service: TestService
let receiver: Receiver

beforeAll(async () => {
  service = await startService({ parts: ['gateway'] })
  receiver = await startReceiver()
})

describe('the support purge', () => {
  test('of a request removes it for good, stored or binned, with what was to be delivered', async () => {
    const client = await service.newClient()
    const endpoint = await client.endpoint({ forwardUrl: receiver.url })
    const [stored, binned] = await endpoint.captureMany(3)
    if (stored === undefined || binned === undefined) throw new Error('nothing captured')
    await client.delete(endpoint.at(`/requests/${binned.id}`))
    for (const { id } of [stored, binned]) {
      const target = { workspace: client.workspaceId, endpoint: endpoint.id, request: id }
      expect(await service.operator.retention.countPurge(target)).toEqual({ requestCount: 1 })
      expect(await service.operator.retention.purge(target)).toEqual({ purgedCount: 1 })
      await expect(service.operator.retention.purge(target)).rejects.toThrow('no request')
    }
    expect(await rowsOf(service, endpoint.id)).toMatchObject({ requests: 1, deliveries: 1 })
    await expectCountersEqualRows(service, endpoint.id)
    expect((await client.get('/api/v1/recycle-bin')).body).toMatchObject({ totalCount: 0 })
  })

  test('of an endpoint removes its captures and keeps the endpoint; of a workspace, those of all of them', async () => {
    const client = await service.newClient()
    const [one, other] = [await client.endpoint(), await client.endpoint()]
    await one.captureMany(3)
    await client.delete(one.at('/requests'))
    await one.capture()
    await other.captureMany(2)
    const bystander = await service.charlie.endpoint()
    await bystander.capture()
    const workspace = client.workspaceId

    expect(await service.operator.retention.countPurge({ workspace })).toEqual({ requestCount: 6 })
    expect(await service.operator.retention.purge({ workspace, endpoint: one.id })).toEqual({
      purgedCount: 4,
    })
    expect((await rowsOf(service, other.id)).requests).toBe(2)
    await expectCountersEqualRows(service, one.id)
    expect(await service.operator.retention.purge({ workspace })).toEqual({ purgedCount: 2 })
    expect(await service.operator.retention.purge({ workspace })).toEqual({ purgedCount: 0 })
    for (const endpoint of [one, other]) {
      await endpoint.capture()
      expect(await endpoint.requests()).toHaveLength(1)
      await expectCountersEqualRows(service, endpoint.id)
    }
    expect((await rowsOf(service, bystander.id)).requests).toBe(1)
  })

  test('refuses what is not there or another workspace’s, and a request without its endpoint', async () => {
    const foreign = await service.charlie.endpoint()
    const workspace = service.alice.workspaceId
    const { retention } = service.operator
    await expect(retention.purge({ workspace: randomUUID() })).rejects.toThrow('no workspace')
    await expect(retention.purge({ workspace, endpoint: foreign.id })).rejects.toThrow('no endpoint')
    await expect(retention.purge({ workspace, request: 1 })).rejects.toThrow('together with its endpoint')
  })
})

describe('a purge while an attempt is recorded', () => {
  test('waits for the attempt before it takes the delivery, as the record does', async () => {
    const client = await service.newClient()
    const endpoint = await client.endpoint({ forwardUrl: receiver.url })
    const { id } = await endpoint.capture()
    await sql`insert into delivery_attempts (endpoint_id, delivery_id, workspace_id, request_id, action_id, action_name, kind,
        state, attempt_number, trigger, url, at, lease_until)
      select endpoint_id, id, workspace_id, request_id, action_id, action_name, kind, 'Pending', 1, trigger, '', now(), now()
      from deliveries where request_id = ${id}`.execute(service.db)
    await using record = holdOpen(service.db, (trx) =>
      sql`select from delivery_attempts where request_id = ${id} for no key update`.execute(trx),
    )
    await record.isOpen
    const purged = service.operator.retention.purge({
      workspace: client.workspaceId,
      endpoint: endpoint.id,
      request: id,
    })
    await eventually('the purge waits', () => isWaitingForLock(service.db))
    const free = sql`select from deliveries where request_id = ${id} for update skip locked`.execute(
      service.db,
    )
    expect((await free).rows).toHaveLength(1)
    await record.release()
    expect(await purged).toEqual({ purgedCount: 1 })
    expect(await rowsOf(service, endpoint.id)).toMatchObject({ deliveries: 0, attempts: 0 })
  })

  test('leaves no record of a replay', async () => {
    const client = await service.newClient()
    const endpoint = await client.endpoint({ forwardUrl: receiver.url })
    const { id } = await endpoint.capture()
    await using held = await holdUpWrites(service.db, 'update on delivery_attempts')
    const replayed = client.post(endpoint.at(`/requests/${id}/replay`))
    await held.arrived()
    const purged = service.operator.retention.purge({
      workspace: client.workspaceId,
      endpoint: endpoint.id,
      request: id,
    })
    await eventually('the purge waits', async () => (await countLockWaits(service.db)) >= 2)
    await held.release()
    await replayed
    expect(await purged).toEqual({ purgedCount: 1 })
    expect(await rowsOf(service, endpoint.id)).toMatchObject({ attempts: 0, details: 0 })
  })
})
