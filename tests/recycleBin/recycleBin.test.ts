import { beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Client, TestEndpoint } from '../support/client.ts'
import { startService, type TestService } from '../support/service.ts'

const BIN = '/api/v1/recycle-bin'
const DAY = 86_400_000

const BinRow = z.strictObject({
  id: z.int(),
  endpointId: z.string(),
  endpointName: z.string(),
  method: z.string(),
  path: z.string(),
  label: z.string().nullable(),
  contentType: z.string().nullable(),
  sizeBytes: z.int(),
  receivedAt: z.string(),
  deletedAt: z.string(),
  purgesAt: z.string(),
})
const BinPage = z.strictObject({
  items: z.array(BinRow),
  totalCount: z.int(),
  page: z.int(),
  pageSize: z.int(),
  totalPages: z.int(),
  next: z.string().nullable(),
  previous: z.string().nullable(),
  evicted: z.strictObject({ count: z.int(), lastAt: z.string().nullable() }),
})

let service: TestService
let alice: Client

beforeAll(async () => {
  service = await startService({ limits: { storedRequestsMax: 3 } })
  alice = await service.newClient()
})

const bin = (client: Client, query = '') => client.expect(client.get(`${BIN}${query}`), BinPage)
const binnedIds = async (client: Client) => (await bin(client)).items.map(({ id }) => id)
const restore = (client: Client, requestIds: readonly number[]) =>
  client.post(`${BIN}/restore`, { requestIds })
const remove = (endpoint: TestEndpoint, id: number) => endpoint.client.delete(endpoint.at(`/requests/${id}`))
const clear = (endpoint: TestEndpoint) => endpoint.client.delete(endpoint.at('/requests'))
const storedCount = async (endpoint: TestEndpoint) =>
  (
    await endpoint.client.expect(
      endpoint.client.get(endpoint.at('')),
      z.looseObject({ storedRequestCount: z.int() }),
    )
  ).storedRequestCount
const ago = (row: { deletedAt: string; purgesAt: string }) =>
  Date.parse(row.purgesAt) - Date.parse(row.deletedAt)

describe('GET /api/v1/recycle-bin', () => {
  test('shows a deleted request with what it was and when it goes for good', async () => {
    const client = await service.newClient()
    const endpoint = await client.endpoint({ name: 'stripe-ci' })
    const captured = await endpoint.capture({ suffix: '/eu', body: '{"type":"invoice.paid"}' })
    await remove(endpoint, captured.id)

    const page = await bin(client)
    expect(page).toMatchObject({ totalCount: 1, page: 1, pageSize: 50, totalPages: 1 })
    expect(page.items[0]).toMatchObject({
      id: captured.id,
      endpointId: endpoint.id,
      endpointName: 'stripe-ci',
      method: 'POST',
      path: '/eu',
      label: 'invoice.paid',
      contentType: 'application/json',
      sizeBytes: 23,
      receivedAt: captured.receivedAt,
    })
    for (const row of page.items) expect(ago(row)).toBe(7 * DAY)
  })

  test('lists the last deleted first, pages, and filters by endpoint', async () => {
    const client = await service.newClient()
    const [one, other] = [await client.endpoint(), await client.endpoint()]
    const [first, second] = await one.captureMany(2)
    const third = await other.capture()
    if (first === undefined || second === undefined) throw new Error('nothing captured')
    for (const [endpoint, id] of [
      [one, second.id],
      [other, third.id],
      [one, first.id],
    ] as const) {
      await remove(endpoint, id)
    }

    expect(await binnedIds(client)).toEqual([first.id, third.id, second.id])
    const page = await bin(client, '?pageSize=2&page=2')
    expect(page).toMatchObject({ totalCount: 3, totalPages: 2 })
    expect(page.items.map(({ id }) => id)).toEqual([second.id])
    const filtered = await bin(client, `?endpointId=${other.id}`)
    expect(filtered.items.map(({ id }) => id)).toEqual([third.id])
    expect((await bin(client, '?page=9')).items).toEqual([])
  })

  test('an unknown or foreign endpointId answers 404, a malformed one 400', async () => {
    const foreign = await service.charlie.endpoint()
    expect((await alice.get(`${BIN}?endpointId=${foreign.id}`)).status).toBe(404)
    expect((await alice.get(`${BIN}?endpointId=${randomUUID()}`)).status).toBe(404)
    expect((await alice.get(`${BIN}?endpointId=nope`)).body).toMatchObject({
      code: 'validation_failed',
      errors: [{ parameter: 'endpointId', code: 'bad_format' }],
    })
  })

  test('purgesAt is the end of the plan retention when that is first, and moves with the plan', async () => {
    const later = await startService({ parts: ['gateway'] })
    const client = await later.newClient('team')
    const endpoint = await client.endpoint()
    const captured = await endpoint.capture()
    await later.clock.advance(10 * DAY)
    await remove(endpoint, captured.id)
    expect((await bin(client)).items.map(ago)).toEqual([7 * DAY])

    await later.operator.workspaces.setPlan({ workspace: client.workspaceId, plan: 'solo' })
    const [row] = (await bin(client)).items
    expect(Date.parse(row?.purgesAt ?? '') - Date.parse(captured.receivedAt)).toBe(14 * DAY)
    await later.clock.advance(4 * DAY)
    expect((await bin(client)).totalCount).toBe(0)
    expect((await restore(client, [captured.id])).body).toEqual({ restoredCount: 0, skippedAtCap: 0 })
    await later.stop()
  })
})

describe('a deleted request', () => {
  test('is gone from get, list, search, await, replay and delete, whichever call deleted it', async () => {
    const client = await service.newClient()
    const endpoint = await client.endpoint()
    const [single, bulk, cleared] = await endpoint.captureMany(3)
    if (single === undefined || bulk === undefined || cleared === undefined)
      throw new Error('nothing captured')
    expect((await remove(endpoint, single.id)).status).toBe(204)
    expect(await storedCount(endpoint)).toBe(2)
    expect(
      (await client.post(endpoint.at('/requests/bulk-delete'), { requestIds: [bulk.id, 999_999] })).body,
    ).toEqual({
      deletedCount: 1,
    })
    expect((await clear(endpoint)).body).toEqual({ deletedCount: 1 })

    for (const { id } of [single, bulk, cleared]) {
      expect((await client.get(endpoint.at(`/requests/${id}`))).status).toBe(404)
      expect((await client.delete(endpoint.at(`/requests/${id}`))).status).toBe(404)
      expect((await client.post(endpoint.at(`/requests/${id}/replay`))).status).toBe(404)
    }
    expect(await endpoint.requests()).toEqual([])
    expect(await endpoint.requests('q=json')).toEqual([])
    expect((await client.get(endpoint.at('/requests/await?timeoutSeconds=1'))).status).toBe(204)
    expect(
      (await client.post(endpoint.at('/requests/bulk-delete'), { requestIds: [single.id] })).body,
    ).toEqual({
      deletedCount: 0,
    })
    expect(await storedCount(endpoint)).toBe(0)
    expect(new Set(await binnedIds(client))).toEqual(new Set([single.id, bulk.id, cleared.id]))
  })
})

describe('POST /api/v1/recycle-bin/restore', () => {
  test('brings a request back as it was', async () => {
    const client = await service.newClient()
    const endpoint = await client.endpoint()
    const captured = await endpoint.capture({
      body: 'exact bytes',
      headers: { 'Content-Type': 'text/plain' },
    })
    const before = await client.get(endpoint.at(`/requests/${captured.id}`))
    await remove(endpoint, captured.id)

    expect(await restore(client, [captured.id])).toMatchObject({
      status: 200,
      body: { restoredCount: 1, skippedAtCap: 0 },
    })
    const after = await client.get(endpoint.at(`/requests/${captured.id}`))
    expect(after.body).toEqual(before.body)
    expect(await storedCount(endpoint)).toBe(1)
    expect(await binnedIds(client)).toEqual([])
  })

  test('restores newest first and leaves in the bin what the stored-request limit has no room for', async () => {
    const client = await service.newClient()
    const endpoint = await client.endpoint()
    const [oldest, middle, newest] = await endpoint.captureMany(3)
    if (oldest === undefined || middle === undefined || newest === undefined)
      throw new Error('nothing captured')
    await clear(endpoint)
    await endpoint.captureMany(2)

    expect((await restore(client, [oldest.id, newest.id, middle.id])).body).toEqual({
      restoredCount: 1,
      skippedAtCap: 2,
    })
    expect((await endpoint.requests()).map(({ id }) => id)).toContain(newest.id)
    expect(new Set(await binnedIds(client))).toEqual(new Set([oldest.id, middle.id]))
    expect(await storedCount(endpoint)).toBe(3)
  })

  test('counts the room of each endpoint for itself', async () => {
    const client = await service.newClient()
    const [full, free] = [await client.endpoint(), await client.endpoint()]
    const ofFull = await full.capture()
    const ofFree = await free.capture()
    await clear(full)
    await clear(free)
    await full.captureMany(3)

    expect((await restore(client, [ofFull.id, ofFree.id])).body).toEqual({
      restoredCount: 1,
      skippedAtCap: 1,
    })
    expect(await binnedIds(client)).toEqual([ofFull.id])
  })

  test('a restored old request is the first to be evicted', async () => {
    const client = await service.newClient()
    const endpoint = await client.endpoint()
    const old = await endpoint.capture()
    await remove(endpoint, old.id)
    const later = await endpoint.captureMany(2)
    await restore(client, [old.id])
    const last = await endpoint.capture()

    expect((await endpoint.requests()).map(({ id }) => id)).toEqual([
      last.id,
      ...later.map(({ id }) => id).reverse(),
    ])
    expect(await storedCount(endpoint)).toBe(3)
  })

  test('ignores unknown, stored and foreign ids alike, and ids of deleted and expired endpoints', async () => {
    const client = await service.newClient()
    const hidden = await service.charlie.endpoint()
    const foreign = await hidden.capture()
    await remove(hidden, foreign.id)
    const stored = await (await client.endpoint()).capture()
    const gone = await client.endpoint()
    const ofGone = await gone.capture()
    await remove(gone, ofGone.id)
    await client.delete(gone.at(''))
    const nothing = { restoredCount: 0, skippedAtCap: 0 }
    expect((await restore(client, [foreign.id, stored.id, ofGone.id, 999_999_999])).body).toEqual(nothing)
    expect(await binnedIds(client)).toEqual([])
    expect(await binnedIds(service.charlie)).toContain(foreign.id)
  })

  test('does not wake an await and is not new for afterId', async () => {
    const client = await service.newClient()
    const endpoint = await client.endpoint()
    const captured = await endpoint.capture()
    await remove(endpoint, captured.id)
    await restore(client, [captured.id])
    expect(
      (await client.get(endpoint.at(`/requests/await?timeoutSeconds=1&afterId=${captured.id}`))).status,
    ).toBe(204)
    expect(await endpoint.requests(`afterId=${captured.id}`)).toEqual([])
  })

  test.each([
    ['no list', {}, 'required'],
    ['an empty list', { requestIds: [] }, 'too_short'],
    ['501 ids', { requestIds: Array.from({ length: 501 }, (_, index) => index + 1) }, 'too_many'],
    ['text', { requestIds: ['1'] }, 'type'],
    ['a fraction', { requestIds: [1.5] }, 'type'],
  ])('refuses %s', async (_what, body, code) => {
    const answer = await alice.post(`${BIN}/restore`, body)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ code: 'validation_failed', errors: [{ code }] })
  })

  test('folds duplicates', async () => {
    const client = await service.newClient()
    const endpoint = await client.endpoint()
    const captured = await endpoint.capture()
    await remove(endpoint, captured.id)
    expect((await restore(client, [captured.id, captured.id])).body).toEqual({
      restoredCount: 1,
      skippedAtCap: 0,
    })
    expect(await storedCount(endpoint)).toBe(1)
  })

  test('two restores and a capture at once never exceed the cap nor lose count', async () => {
    const client = await service.newClient()
    const endpoint = await client.endpoint()
    const captured = await endpoint.captureMany(3)
    await clear(endpoint)
    const ids = captured.map(({ id }) => id)
    const [one, two] = await Promise.all([
      restore(client, ids),
      restore(client, ids),
      endpoint.send(),
      endpoint.send(),
    ])
    const Counts = z.object({ restoredCount: z.int(), skippedAtCap: z.int() })
    const restored = Counts.parse(one.body).restoredCount + Counts.parse(two.body).restoredCount
    expect(restored).toBeLessThanOrEqual(3)
    expect(await storedCount(endpoint)).toBe((await endpoint.requests()).length)
    expect(await storedCount(endpoint)).toBeLessThanOrEqual(3)
  })
})
