import { randomUUID } from 'node:crypto'
import { type Db, run, statement, type Trx } from '../platform/db/index.ts'
import { DomainError } from './errors.ts'
import type { Services } from './services.ts'

/** How long a freed slot is kept for a caller that was refused and told when to come back (CONTRACT R9). */
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
 * Of the scope `$1` at `$2`: forgets what has ended and takes a slot `$4` until `$5` when fewer than `$3` are left, or in
 * place of one that was kept and is due.
 */
const TAKE = statement(
  'take slot',
  `with ended as (
    delete from concurrency_slots where scope = $1 and ends_at <= $2::timestamptz
  ), left_over as (
    select id, kept_from, ends_at from concurrency_slots where scope = $1 and ends_at > $2::timestamptz
  ), claimed as (
    delete from concurrency_slots
    where id = (select id from left_over where kept_from <= $2::timestamptz order by ends_at limit 1)
    returning id
  )
  insert into concurrency_slots (id, scope, ends_at)
  select $4::uuid, $1, $5::timestamptz
  where exists (select from claimed) or (select count(*) from left_over) < $3::int
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
  const refusedForMs = await db.transaction().execute(async (trx) => {
    await run(trx, LOCK, [scope])
    const now = clock.now()
    const endsAt = new Date(now.getTime() + longestMs)
    const taken = await run<{ id: string }>(trx, TAKE, [scope, now, max, id, endsAt])
    if (taken.length > 0) return null
    const rows: SlotRow[] = await trx
      .selectFrom('concurrencySlots')
      .where('scope', '=', scope)
      .select(['id', 'keptFrom', 'endsAt'])
      .orderBy('endsAt')
      .execute()
    return await keepSlot(trx, { scope, rows, now })
  })
  if (refusedForMs !== null) {
    const seconds = Math.ceil(refusedForMs / 1000)
    throw new DomainError('rate_limited', `At most ${max} ${noun} may run at once.`, {
      retryAfterSeconds: Math.min(RETRY_AFTER_MAX_SECONDS, Math.max(1, seconds)),
    })
  }
  return {
    free: () => freeSoon(db, id),
    async extend(milliseconds) {
      const endsAt = new Date(clock.now().getTime() + milliseconds)
      await db.updateTable('concurrencySlots').set({ endsAt }).where('id', '=', id).execute()
    },
  }
}

interface Freeing {
  readonly ids: string[]
  readonly done: Promise<void>
}

const freeing = new WeakMap<Db, Freeing>()

/** Slots that are freed in one turn go in one statement: a change may wake a thousand waiters at once. */
function freeSoon(db: Db, id: string): Promise<void> {
  const joined = freeing.get(db)
  if (joined !== undefined) {
    joined.ids.push(id)
    return joined.done
  }
  const ids = [id]
  const done = new Promise<void>((resolve) => setImmediate(resolve)).then(async () => {
    freeing.delete(db)
    await db.deleteFrom('concurrencySlots').where('id', 'in', ids).execute()
  })
  freeing.set(db, { ids, done })
  return done
}

/** Keeps the first slot that is not yet promised to anybody; with all promised, the caller waits for the last. */
async function keepSlot(
  trx: Trx,
  { scope, rows, now }: { scope: string; rows: readonly SlotRow[]; now: Date },
): Promise<number> {
  const used = rows.filter((row) => row.keptFrom === null)
  const kept = rows.length - used.length
  const freed = used[kept] ?? used.at(-1) ?? rows.at(-1)
  const waitMs = Math.max(1, (freed?.endsAt ?? now).getTime() - now.getTime())
  if (kept < used.length) {
    const keptFrom = new Date(now.getTime() + waitMs)
    const endsAt = new Date(now.getTime() + Math.ceil(waitMs / 1000) * 1000 + KEPT_MS)
    await trx.insertInto('concurrencySlots').values({ id: randomUUID(), scope, keptFrom, endsAt }).execute()
  }
  return waitMs
}
