import { randomUUID } from 'node:crypto'
import { countOf, run, statement, type Trx } from '../platform/db/index.ts'
import { DomainError } from './errors.ts'
import { gathering } from './gathering.ts'
import type { Services } from './services.ts'

/**
 * A refused caller is promised a slot for the time that its `Retry-After` names. A slot that is freed within this time
 * before is kept for it, and the promise ends this long after.
 */
const KEPT_MS = 2000
const RETRY_AFTER_MS_MAX = 60_000

/** A slot in use. If its holder dies without calling `free`, the slot ends at its deadline. */
export interface Slot {
  free(): Promise<void>
  /** Moves the deadline to this long from now, for holders without a known end. A no-op after `free`. */
  extend(milliseconds: number): Promise<void>
}

/** A separate statement, because the count must be read after the lock is held. */
const LOCK = statement('lock slots', 'select pg_advisory_xact_lock(hashtextextended($1, 0))')

/**
 * Deletes ended slots and promises of the scope `$1` at `$2`, then takes the slots `$4` until `$5`, in their order. No
 * more than `$3` are ever in use. Slots are kept free for promises that are due by `$6`. A promise that is due already
 * is used up by the next call, whose caller is not known: it gets one of the slots kept, if any is free.
 */
const TAKE = statement(
  'take slots',
  `with ended as (
    delete from concurrency_slots where scope = $1 and ends_at <= $2::timestamptz
  ), live as (
    select id, kept_from, ends_at from concurrency_slots where scope = $1 and ends_at > $2::timestamptz
  ), due as (
    delete from concurrency_slots
    where id in (
      select id from live where kept_from <= $2::timestamptz order by ends_at limit cardinality($4::uuid[]))
    returning id
  ), places as (
    select $3::int - count(*) filter (where kept_from is null) as free,
      count(*) filter (where kept_from > $2::timestamptz and kept_from <= $6::timestamptz) as kept
    from live
  ), room as (
    select least(free, greatest(0, free - kept) + (select count(*) from due)) as slots from places
  )
  insert into concurrency_slots (id, scope, ends_at)
  select wanted.id, $1, wanted.ends_at
  from room, unnest($4::uuid[], $5::timestamptz[]) with ordinality as wanted (id, ends_at, place)
  where place <= slots
  returning id`,
)

/**
 * Takes one of a limited number of slots, counted in Postgres across all processes.
 *
 * @param scope name of the limit, e.g. `await:<key id>`
 * @param longestMs time after which the holder has certainly ended
 * @throws DomainError `rate_limited` while `max` slots are in use, or kept for callers that were refused before; its
 *   `Retry-After` is the time when a slot must be free, a minute at most. Until 2 s before, a slot that is freed early
 *   may go to any caller
 */
export async function takeSlot(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  { scope, max, longestMs, noun }: { scope: string; max: number; longestMs: number; noun: string },
): Promise<Slot> {
  const id = randomUUID()
  const refusedForMs = await take(db, `${max} ${scope}`, { id, scope, max, longestMs, clock })
  if (refusedForMs !== null) {
    throw new DomainError('rate_limited', `At most ${max} ${noun} may run at once.`, {
      retryAfterSeconds: Math.ceil(refusedForMs / 1000),
    })
  }
  return {
    free: () => freeTogether(db, '', id),
    async extend(milliseconds) {
      const endsAt = new Date(clock.now().getTime() + milliseconds)
      await db.updateTable('concurrencySlots').set({ endsAt }).where('id', '=', id).execute()
    },
  }
}

/** Time after which the renewed slot of a killed process is free. */
const RENEWED_FOR_MS = 60_000
const RENEWAL_MS = 20_000

/**
 * Takes a slot for a holder without a known end, and renews it until it is freed.
 *
 * @param failed the log's line if a renewal, or the end, cannot be written: then the slot ends by itself
 * @returns frees the slot; a no-op the second time
 * @throws DomainError like {@link takeSlot}
 */
export async function takeRenewedSlot(
  services: Services,
  spec: { readonly scope: string; readonly max: number; readonly noun: string },
  failed: string,
): Promise<() => void> {
  const slot = await takeSlot(services, { ...spec, longestMs: RENEWED_FOR_MS })
  const warn = (error: unknown) => services.log.warn({ err: error }, failed)
  const renewal = setInterval(() => {
    slot.extend(RENEWED_FOR_MS).catch(warn)
  }, RENEWAL_MS)
  renewal.unref()
  let isFreed = false
  return () => {
    if (isFreed) return
    isFreed = true
    clearInterval(renewal)
    slot.free().catch(warn)
  }
}

const FREE = statement('free slots', 'delete from concurrency_slots where id = any($1::uuid[])')

/** Coalesced, because one change may wake a thousand waiting calls at once. */
const freeTogether = gathering<string, void>(async (db, ids) => {
  await run(db, FREE, [ids])
  return ids.map(() => undefined)
})

interface WantedSlot extends Pick<Services, 'clock'> {
  readonly id: string
  readonly scope: string
  readonly max: number
  readonly longestMs: number
}

/** Returns null if the slot is taken, else the milliseconds after which to call again. */
const take = gathering<WantedSlot, number | null>((db, wanted) =>
  db.transaction().execute((trx) => takeTogether(trx, wanted)),
)

/** @param wanted slots of one scope with the same bound */
async function takeTogether(trx: Trx, wanted: readonly [WantedSlot, ...WantedSlot[]]) {
  const [{ scope, max, clock }] = wanted
  await run(trx, LOCK, [scope])
  const now = clock.now()
  const taken = await run(trx, TAKE, [
    scope,
    now,
    max,
    wanted.map(({ id }) => id),
    wanted.map(({ longestMs }) => new Date(now.getTime() + longestMs)),
    new Date(now.getTime() + KEPT_MS),
  ])
  const waits = await promiseSlots(trx, { scope, max, now, count: wanted.length - taken.length })
  return [...taken.map(() => null), ...waits]
}

export async function countSlots({ db, clock }: Pick<Services, 'db' | 'clock'>, scope: string) {
  const taken = db
    .selectFrom('concurrencySlots')
    .where('scope', '=', scope)
    .where('endsAt', '>', clock.now())
    .where('keptFrom', 'is', null)
  return await countOf(taken)
}

/**
 * Promises each refused caller the first slot in use that is not promised yet, for the time when it must have ended.
 * Callers beyond those slots get no promise: they wait for the last slot, or for the end of the first promise where
 * slots are only kept.
 *
 * @returns the milliseconds that each caller must wait
 */
async function promiseSlots(
  trx: Trx,
  { scope, max, now, count }: { scope: string; max: number; now: Date; count: number },
): Promise<number[]> {
  if (count === 0) return []
  const rows = await trx
    .selectFrom('concurrencySlots')
    .where('scope', '=', scope)
    .select(['id', 'keptFrom', 'endsAt'])
    .orderBy('endsAt')
    .execute()
  const used = rows.filter((row) => row.keptFrom === null)
  const promised = rows.filter((row) => row.keptFrom !== null)
  const waitUntil = (row: { readonly endsAt: Date } | undefined) =>
    Math.min(RETRY_AFTER_MS_MAX, Math.max(1, (row?.endsAt ?? now).getTime() - now.getTime()))
  const waits = used.slice(promised.length, promised.length + count).map(waitUntil)
  if (waits.length > 0) {
    await trx
      .insertInto('concurrencySlots')
      .values(
        waits.map((waitMs) => ({
          id: randomUUID(),
          scope,
          keptFrom: new Date(now.getTime() + waitMs),
          endsAt: new Date(now.getTime() + Math.ceil(waitMs / 1000) * 1000 + KEPT_MS),
        })),
      )
      .execute()
  }
  const otherwise = waitUntil(used.length < max ? promised[0] : used.at(-1))
  return Array.from({ length: count }, (_, index) => waits[index] ?? otherwise)
}
