import { beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { ensureDataKey } from '../../core/src/endpoints/index.ts'
import { openDataKey } from '../../core/src/platform/secrets/index.ts'
import { scanRequests, THOROUGH } from '../../core/src/requests/scan.ts'
import { sealNext } from '../../core/src/requests/sealStored.ts'
import { lookUp, makeSearchPages } from '../../core/src/requests/searchPages/index.ts'
import { removeDetached } from '../../core/src/requests/searchPages/store.ts'
import { eraseRequests, reduceRequests } from '../../core/src/retention/index.ts'
import type { TestEndpoint } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { startService, type TestService } from '../support/service.ts'

/** Small blocks, so that few requests fill a page, and some thousand a merged one. */
const BLOCK = { requests: 2, bytes: 512 * 1024, keptPages: 0 }
const PAGE_REQUESTS = 32 * BLOCK.requests
/** Pages that are merged. A run in the service leaves as many newer ones. */
const MERGING = 16

let service: TestService

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 1_000_000 }, parts: ['gateway'] })
})

const noPause = async () => undefined
const makePages = (signal = new AbortController().signal, pause: () => Promise<void> = noPause) =>
  makeSearchPages(service.running.services, signal, { block: BLOCK, pause })

/** Requests of an endpoint, each with a word of its own, of which hardly a part is in another. */
class Stored {
  /** Requests that are erased, reduced or sealed. */
  readonly gone = new Set<number>()

  constructor(readonly endpoint: TestEndpoint) {}

  get id(): string {
    return this.endpoint.id
  }

  wordOf(id: number): string {
    return new Bun.CryptoHasher('sha256').update(`${this.id} ${id}`).digest('hex').slice(0, 16)
  }

  async store(count: number): Promise<void> {
    await service.db.transaction().execute(async (trx) => {
      await sql`select from endpoint_counters where endpoint_id = ${this.id}::uuid for update`.execute(trx)
      await sql`
        insert into requests (endpoint_id, id, received_at, method, path, header_names, header_values, body, size_bytes,
                              body_truncated, body_is_binary, body_preview, dispatch_state)
        select ${this.id}::uuid, n, now(), 'POST', '', '', '',
          convert_to(left(encode(sha256(convert_to(${this.id} || ' ' || n, 'UTF8')), 'hex'), 16), 'UTF8'), 16, false, false, '', 'NotAttempted'
        from (select nextval('request_ids') as n from generate_series(1, ${count}::int)) n`.execute(trx)
      await sql`
        update endpoint_counters
        set stored_request_count = stored_request_count + ${count}::int, stored_bytes = stored_bytes + 16 * ${count}::int
        where endpoint_id = ${this.id}::uuid`.execute(trx)
    })
  }

  /** Ids of the requests that have their words. */
  async ids(): Promise<number[]> {
    const { rows } = await sql<{ id: number }>`
      select id from requests
      where endpoint_id = ${this.id}::uuid and body <> '' and sealed_with is null order by id`.execute(
      service.db,
    )
    return rows.map(({ id }) => id)
  }

  /** Some requests from a place between 0 and 1 on, as those of one caller or of one day are. */
  async some(place: number, count: number): Promise<number[]> {
    const ids = await this.ids()
    const from = Math.floor(place * ids.length)
    return ids.slice(from, from + count)
  }

  async erase(ids: readonly number[]): Promise<void> {
    await service.db
      .transaction()
      .execute((trx) => eraseRequests(service.running.services, trx, this.id, ids))
    for (const id of ids) this.gone.add(id)
  }

  async reduce(ids: readonly number[]): Promise<void> {
    await service.db.transaction().execute((trx) => reduceRequests(trx, this.id, ids))
    for (const id of ids) this.gone.add(id)
  }

  /** Seals the next fifty. */
  async seal([first = 0]: readonly number[]): Promise<void> {
    const { secrets } = service.running.services
    await service.db.transaction().execute(async (trx) => {
      const { workspaceId } = service.alice
      const ref = await ensureDataKey(trx, { workspaceId, endpointId: this.id, secrets })
      const sealing = { ...ref, key: openDataKey(secrets, ref.sealedKey) }
      await sealNext(trx, this.id, { sealing, afterId: first - 1 }, async (rows) => {
        for (const { id } of rows) this.gone.add(id)
      })
    })
  }

  async evict([to = 0]: readonly number[]): Promise<void> {
    await service.db.transaction().execute(async (trx) => {
      await sql`
        update endpoint_counters set oldest_request_id = ${to} where endpoint_id = ${this.id}::uuid`.execute(
        trx,
      )
      await sql`delete from requests where endpoint_id = ${this.id}::uuid and id < ${to}`.execute(trx)
    })
  }

  /** Each of `ids` is found by its word in both orders, and nothing by that of one that is gone. */
  async expectExact(ids: readonly number[]): Promise<void> {
    for (const id of ids) {
      for (const order of ['desc', 'asc'] as const) {
        const wanted = { filters: { q: this.wordOf(id) }, order, skip: 0, take: 10, countsAll: true }
        // Steps of eight requests, so that a small endpoint is searched in many.
        const pace = { ...THOROUGH, budgetMs: 60_000, firstRows: 8 }
        const found = await scanRequests(service.db, this.id, wanted, {}, pace)
        expect({ id, found: found.ids }).toEqual({ id, found: [id] })
      }
    }
  }

  /** No signature has the parts of what is gone. */
  async expectForgotten(): Promise<void> {
    const everything = { above: -1, below: Number.MAX_SAFE_INTEGER, order: 'desc' } as const
    for (const id of this.gone) {
      const stretches = await lookUp(service.db, this.id, this.wordOf(id), everything, {})
      const candidates = stretches.flatMap(({ next }) => next?.(10_000).candidates ?? [])
      expect({ id, candidates }).toEqual({ id, candidates: [] })
    }
  }

  async pages() {
    const { rows } = await sql<{ above: number; top: number; blockCount: number }>`
      select above, top, block_count as "blockCount" from search_pages
      where endpoint_id = ${this.id}::uuid order by above`.execute(service.db)
    return rows
  }

  async expectNoGaps(): Promise<void> {
    const pages = await this.pages()
    expect(pages.slice(1).map(({ above }) => above)).toEqual(pages.slice(0, -1).map(({ top }) => top))
  }
}

const newEndpoint = async () => new Stored(await service.alice.endpoint())

/** The session of a run that waits to store the signatures that it has read. */
const storing = async () => {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%insert search slices%'`.execute(
    service.db,
  )
  return rows[0]?.pid
}

/** Runs the job, and something else between its reading of requests and its storing of their signatures, if it stores any. */
async function between(during: (pid: number) => Promise<unknown>): Promise<void> {
  // Else the run would wait to delete these.
  await removeDetached(service.db, new AbortController().signal, noPause)
  let ended = false
  let running: Promise<unknown> = Promise.resolve()
  await service.db.transaction().execute(async (holding) => {
    await sql`lock table search_slices in share mode`.execute(holding)
    running = makePages()
      .catch((error: unknown) => error)
      .finally(() => {
        ended = true
      })
    const pid = await eventually('a run that stores a page', async () => ended || (await storing()))
    if (typeof pid === 'number') await during(pid)
  })
  await running
}

const kill = (pid: number) => sql`select pg_terminate_backend(${pid})`.execute(service.db)

describe('requests that are erased while a run has read them', () => {
  test('are in no signature, and what is beside them is found once pages are merged', async () => {
    const stored = await newEndpoint()
    await stored.store(6 * PAGE_REQUESTS)
    await makePages()
    await stored.store(PAGE_REQUESTS)
    const newest = (await stored.ids()).slice(-10)
    // One of a page that is stored, and two of the page that is being made.
    const erased = [...(await stored.some(0.5, 1)), ...newest.slice(0, 2)]
    await between(() => stored.erase(erased))
    await stored.expectForgotten()
    await stored.store((MERGING - 5) * PAGE_REQUESTS)
    await makePages()
    await stored.expectForgotten()
    await stored.expectNoGaps()
    const ids = await stored.ids()
    await stored.expectExact(ids.filter((_, index) => index % 40 === 0 && index < 8 * PAGE_REQUESTS))
  })

  test('are in no merged page', async () => {
    const stored = await newEndpoint()
    await stored.store(MERGING * PAGE_REQUESTS)
    const made = new AbortController()
    await makePages(made.signal, async () => {
      if ((await stored.pages()).length === MERGING) made.abort()
    })
    const [erased = 0] = await stored.some(0.2, 1)
    await between(() => stored.erase([erased]))
    expect(await stored.pages()).not.toContainEqual(expect.objectContaining({ blockCount: 512 }))
    await stored.expectForgotten()
    await makePages()
    expect(await stored.pages()).toContainEqual(expect.objectContaining({ blockCount: 512 }))
    await stored.expectForgotten()
    await stored.expectNoGaps()
    await stored.expectExact(await stored.some(0.2, 20))
  })
})

test('whatever happens, a search finds what a full scan finds, and no signature has what is gone', async () => {
  const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  const change = fc.record({
    kind: fc.constantFrom('erase', 'reduce', 'seal', 'evict', 'store', 'kill'),
    place,
    count: fc.integer({ min: 1, max: 6 }),
  })
  const step = fc.oneof(
    fc.record({ during: fc.constant(true), change }),
    fc.record({ during: fc.constant(false), change }),
    fc.constant('run' as const),
  )
  const apply = async (
    stored: Stored,
    { kind, place: where, count }: { kind: string; place: number; count: number },
    pid?: number,
  ) => {
    if (kind === 'store') return await stored.store(Math.ceil(count / 3) * PAGE_REQUESTS)
    if (kind === 'kill') return pid === undefined ? undefined : await kill(pid)
    if (kind === 'evict') return await stored.evict(await stored.some(where / 4, 1))
    const ids = await stored.some(where, count)
    if (kind === 'erase') await stored.erase(ids)
    else if (kind === 'reduce') await stored.reduce(ids)
    else await stored.seal(ids)
  }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 24 }), async (steps) => {
      const stored = await newEndpoint()
      await stored.store(3 * PAGE_REQUESTS)
      for (const each of steps) {
        if (each === 'run') await makePages()
        else if (!each.during) await apply(stored, each.change)
        else {
          await stored.store(PAGE_REQUESTS)
          await between((pid) => apply(stored, each.change, pid))
        }
      }
      await stored.store(MERGING * PAGE_REQUESTS)
      await makePages()
      await stored.expectNoGaps()
      const ids = await stored.ids()
      await stored.expectExact(ids.filter((_, index) => index % 61 === 0))
      await stored.expectForgotten()
    }),
    { numRuns: 2, endOnFailure: true },
  )
})
