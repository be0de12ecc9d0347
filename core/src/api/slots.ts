import { randomUUID } from 'node:crypto'
import { run, statement, type Trx } from '../platform/db/index.ts'
import { DomainError } from './errors.ts'
import { gathering } from './gathering.ts'
import type { Services } from './services.ts'

/** How long a freed slot is kept for a caller that was refused with a time to come back. */
const KEPT_MS = 2000
const RETRY_AFTER_MAX_SECONDS = 60

/** A slot in use; `free` gives it back. Whoever dies without that frees it at its end. */
export interface Slot {
  free(): Promise<void>
  /** Keeps it for so long from now: for holders that nobody can say the end of. Without effect once it is freed. */
  extend(milliseconds: number): Promise<void>
}

interface SlotRow {
  readonly id: string
  readonly keptFrom: Date | null
  readonly endsAt: Date
}

/** A statement of its own: what is counted must be seen after the lock is held. */
const LOCK = statement('lock slots', 'select pg_advisory_xact_lock(hashtextextended($1, 0))')

/**
 * Of the scope `$1` at `$2`: forgets what has ended and takes the slots `$4` until `$5`, in their order, as long as fewer than `$3`
 * are left, or in place of those that were kept and are due.
 */
const TAKE = statement(
  'take slots',
  `with ended as (
    delete from concurrency_slots where scope = $1 and ends_at <= $2::timestamptz
  ), left_over as (
    select id, kept_from, ends_at from concurrency_slots where scope = $1 and ends_at > $2::timestamptz
  ), claimed as (
    delete from concurrency_slots
    where id in (
      select id from left_over where kept_from <= $2::timestamptz order by ends_at limit cardinality($4::uuid[]))
    returning id
  ), room as (
    select (select count(*) from claimed) + greatest(0, $3::int - (select count(*) from left_over)) as slots
  )
  insert into concurrency_slots (id, scope, ends_at)
  select wanted.id, $1, wanted.ends_at
  from room, unnest($4::uuid[], $5::timestamptz[]) with ordinality as wanted (id, ends_at, place)
  where place <= slots
  returning id`,
)

/**
 * Takes one of a bounded number of slots, counted in Postgres over all processes.
 *
 * @param scope what is bounded, e.g. `await:<key id>`
 * @param longestMs after this long the holder has ended for certain
 * @throws DomainError `rate_limited`; its `Retry-After` is when a slot must be free, and that slot is then kept
 *   for 2 s, so that sleeping that long and retrying recovers
 */
export async function takeSlot(
  { db, clock }: Services,
  { scope, max, longestMs, noun }: { scope: string; max: number; longestMs: number; noun: string },
): Promise<Slot> {
  const id = randomUUID()
  const refusedForMs = await take(db, `${max} ${scope}`, { id, scope, max, longestMs, clock })
  if (refusedForMs !== null) {
    const seconds = Math.ceil(refusedForMs / 1000)
    throw new DomainError('rate_limited', `At most ${max} ${noun} may run at once.`, {
      retryAfterSeconds: Math.min(RETRY_AFTER_MAX_SECONDS, Math.max(1, seconds)),
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

const FREE = statement('free slots', 'delete from concurrency_slots where id = any($1::uuid[])')

/** A change may wake a thousand waiters at once. */
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

/** Answers null where the slot is taken, else after how many milliseconds one must be free. */
const take = gathering<WantedSlot, number | null>((db, wanted) =>
  db.transaction().execute((trx) => takeTogether(trx, wanted)),
)

/** @param wanted slots of one scope with the same bound */
async function takeTogether(
  trx: Trx,
  wanted: readonly [WantedSlot, ...WantedSlot[]],
): Promise<(number | null)[]> {
  const [{ scope, max, clock }] = wanted
  await run(trx, LOCK, [scope])
  const now = clock.now()
  const taken = await run<{ id: string }>(trx, TAKE, [
    scope,
    now,
    max,
    wanted.map(({ id }) => id),
    wanted.map(({ longestMs }) => new Date(now.getTime() + longestMs)),
  ])
  const waits = await keepSlots(trx, { scope, now, count: wanted.length - taken.length })
  return [...taken.map(() => null), ...waits]
}

/** How many slots of a scope are in use. */
export async function countSlots(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  scope: string,
): Promise<number> {
  const { count } = await db
    .selectFrom('concurrencySlots')
    .where('scope', '=', scope)
    .where('endsAt', '>', clock.now())
    .where('keptFrom', 'is', null)
    .select((of) => of.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/**
 * For each of those who were refused, keeps the first slot that is not yet promised to anybody; with all promised, they wait for
 * the last.
 *
 * @returns after how many milliseconds it must be free, for each
 */
async function keepSlots(
  trx: Trx,
  { scope, now, count }: { scope: string; now: Date; count: number },
): Promise<number[]> {
  if (count === 0) return []
  const rows: SlotRow[] = await trx
    .selectFrom('concurrencySlots')
    .where('scope', '=', scope)
    .select(['id', 'keptFrom', 'endsAt'])
    .orderBy('endsAt')
    .execute()
  const used = rows.filter((row) => row.keptFrom === null)
  const promisedBefore = rows.length - used.length
  const waitUntil = (row: SlotRow | undefined) => Math.max(1, (row?.endsAt ?? now).getTime() - now.getTime())
  const kept = used.slice(promisedBefore, promisedBefore + count).map((row) => ({ waitMs: waitUntil(row) }))
  if (kept.length > 0) {
    await trx
      .insertInto('concurrencySlots')
      .values(
        kept.map(({ waitMs }) => ({
          id: randomUUID(),
          scope,
          keptFrom: new Date(now.getTime() + waitMs),
          endsAt: new Date(now.getTime() + Math.ceil(waitMs / 1000) * 1000 + KEPT_MS),
        })),
      )
      .execute()
  }
  const last = waitUntil(used.at(-1) ?? rows.at(-1))
  return Array.from({ length: count }, (_, index) => kept[index]?.waitMs ?? last)
}
