import { sql } from 'kysely'
import { closeIncidentsOfEndpoints } from '../alerts/index.ts'
import type { Services } from '../api/services.ts'
import { reapplyPlanLimits } from '../planLimits/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import { Failures, run, statement } from '../platform/db/index.ts'
import { forgetNextOriginals, lockCounters } from '../requests/index.ts'
import { deleteShareLinksOf } from '../shareLinks/index.ts'
import { sweptRows } from './declarations.ts'
import { BATCH_ROWS, inBatches, inTurns, type SweepServices, sweepTransaction } from './endpointsToSweep.ts'
import { purgeClaims } from './eventClaims.ts'

/** The services that sweeping endpoints needs. `actor` is for entries about lifted suspensions. */
type EndpointSweepServices = SweepServices & Pick<Services, 'actor'>

/** Time for which an expired endpoint stays readable, because CI collects results late. */
const EXPIRED_KEPT_MS = 15 * 60_000
/** Longer than a capture or a send that began before the deletion can still write. */
const SETTLED_AFTER_MS = 2 * 60_000

/**
 * Deletes expired endpoints 15 minutes after `expiresAt`, and the rows of deleted ones, including captures. Lifts
 * suspensions by plan where there is room again.
 *
 * Works in small batches. May be interrupted at any time, and several workers may sweep at once.
 *
 * @throws what has failed, at the end
 */
export async function sweepEndpoints(services: EndpointSweepServices, signal: AbortSignal): Promise<void> {
  const failures = new Failures()
  await deleteExpired(services)
  await failures.unless(() => liftSuspensions(services, signal, failures))
  const settledBefore = services.clock.now().getTime() - SETTLED_AFTER_MS
  const all = () => deletedEndpoints(services)
  await inTurns({ signal, failures }, all, async ({ id, deletedAt }, turn) => {
    await inBatches(turn, () => sweepTransaction(services.db, (trx) => forgetNextOriginals(trx, id)))
    await purgeRows(services, id, turn)
    await purgeClaims(services, id, turn)
    if (turn.aborted) return
    if (deletedAt !== null && deletedAt.getTime() <= settledBefore) await purgeEndpoint(services, id)
  })
  failures.throwAny()
}

async function* deletedEndpoints({ db }: SweepServices) {
  yield* await db
    .selectFrom('endpoints')
    .where('deletedAt', 'is not', null)
    .select(['id', 'deletedAt'])
    .orderBy('deletedAt')
    .execute()
}

async function deleteExpired({ db, clock }: SweepServices): Promise<void> {
  const now = clock.now()
  await db.transaction().execute(async (trx) => {
    const expired = await trx
      .updateTable('endpoints')
      .set({ deletedAt: now })
      .where('expiresAt', '<=', new Date(now.getTime() - EXPIRED_KEPT_MS))
      .where('deletedAt', 'is', null)
      .returning('id')
      .execute()
    const ids = expired.map(({ id }) => id)
    await closeIncidentsOfEndpoints({ clock }, trx, ids)
    for (const id of ids) await announceEndpointChange(trx, id)
  })
}

const FIND_SUSPENDED = statement(
  'find suspended workspaces',
  `select workspace_id from endpoints where suspended_by_plan and deleted_at is null
  union select workspace_id from watchdogs where paused_by_plan`,
  { isPrepared: false },
)

/** Lifts suspensions by plan. Endpoints expire without a call, so only this sweep can notice the free room. */
async function liftSuspensions(
  services: EndpointSweepServices,
  signal: AbortSignal,
  failures: Failures,
): Promise<void> {
  const rows = await run(services.db, FIND_SUSPENDED, [])
  for (const { workspaceId } of rows) {
    if (signal.aborted) return
    await failures.unless(() => reapplyPlanLimits(services, workspaceId))
  }
}

/** A table with many rows per endpoint, and the column that orders an endpoint's rows in an index. */
const bigTable = <Table extends string>(table: Table, key: string) => ({
  table,
  key,
  /** Last of the next rows of the endpoint `$1` after `$2`. */
  next: statement(
    `next rows of ${table}`,
    `select max(key) as up_to from (
      select ${key} as key from ${table} where endpoint_id = $1 and ${key} > $2 order by ${key} limit ${BATCH_ROWS}
    ) as next`,
    { isPrepared: false },
  ),
})

const BIG_TABLES = [
  bigTable('attempt_details', 'attempt_id'),
  bigTable('delivery_attempts', 'id'),
  bigTable('deliveries', 'request_id'),
  bigTable('requests', 'id'),
] as const

/** Deletes rows along the index and resumes where the last batch ended, to avoid scanning dead rows again. */
async function purgeRows({ db }: SweepServices, endpointId: string, signal: AbortSignal): Promise<void> {
  for (const { table, key, next } of BIG_TABLES) {
    const [name, column] = [sql.table(table), sql.ref(key)]
    let done = 0
    await inBatches(signal, async () => {
      const rows = await run(db, next, [endpointId, done])
      const upTo = rows[0]?.upTo ?? null
      if (upTo === null) return false
      await sweepTransaction(db, (trx) =>
        sql`
          delete from ${name}
          where endpoint_id = ${endpointId} and ${column} > ${done} and ${column} <= ${upTo}`.execute(trx),
      )
      done = upTo
      return true
    })
  }
}

/**
 * Deletes the endpoint itself, with its counters, actions, rules, watchdogs and share links. It holds the counters' lock: captures
 * in flight have ended by then, and none can begin.
 */
async function purgeEndpoint(services: SweepServices, endpointId: string): Promise<void> {
  await services.db.transaction().execute(async (trx) => {
    await lockCounters(trx, endpointId)
    for (const { table } of BIG_TABLES) {
      await sql`delete from ${sql.table(table)} where endpoint_id = ${endpointId}`.execute(trx)
    }
    await sql`delete from event_claims where endpoint_id = ${endpointId}`.execute(trx)
    await sql`delete from attempt_bytes where endpoint_id = ${endpointId}`.execute(trx)
    await deleteShareLinksOf(trx, endpointId)
    // Work that was under way at the deletion may have opened some since.
    await closeIncidentsOfEndpoints(services, trx, [endpointId])
    await trx.deleteFrom('endpoints').where('id', '=', endpointId).execute()
    sweptRows.inc({ sweep: 'endpoints' })
  })
}
