import { randomUUID } from 'node:crypto'
import { type Db, run, statement, type Trx } from '../platform/db/index.ts'
import { DomainError } from './errors.ts'
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
  const refusedForMs = await inLine({ db, scope }, (trx) =>
    take(trx, { id, scope, max, longestMs, now: clock.now() }),
  )
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

/** @returns null when the slot is taken, else after how many milliseconds one must be free. The caller holds the lock. */
async function take(
  trx: Trx,
  wanted: { id: string; scope: string; max: number; longestMs: number; now: Date },
): Promise<number | null> {
  const { id, scope, max, longestMs, now } = wanted
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
}

interface Asking {
  readonly take: (trx: Trx) => Promise<number | null>
  readonly answer: PromiseWithResolvers<number | null>
}

/** Those who wait for the lock of a scope, by database: they take it together. */
const lines = new WeakMap<Db, Map<string, Asking[]>>()
const TOGETHER_MAX = 200

/** Runs `take` under the lock of the scope; who asks while another transaction of this process has it shares the next one. */
function inLine({ db, scope }: { db: Db; scope: string }, take: Asking['take']): Promise<number | null> {
  const ofDb = lines.get(db) ?? new Map<string, Asking[]>()
  lines.set(db, ofDb)
  const answer = Promise.withResolvers<number | null>()
  const line = ofDb.get(scope)
  if (line === undefined) {
    const first = [{ take, answer }]
    ofDb.set(scope, first)
    void serve(db, scope, first).finally(() => ofDb.delete(scope))
  } else line.push({ take, answer })
  return answer.promise
}

/** Until nobody waits. Rejects never: who asked hears of it. */
async function serve(db: Db, scope: string, line: Asking[]): Promise<void> {
  while (line.length > 0) {
    const together = line.splice(0, TOGETHER_MAX)
    try {
      const answers = await db.transaction().execute(async (trx) => {
        await run(trx, LOCK, [scope])
        const taken: (number | null)[] = []
        for (const asking of together) taken.push(await asking.take(trx))
        return taken
      })
      for (const [index, { answer }] of together.entries()) answer.resolve(answers[index] ?? null)
    } catch (error) {
      for (const { answer } of together) answer.reject(error)
    }
  }
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
