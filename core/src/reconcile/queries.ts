import { sql, type Updateable } from 'kysely'
import { countOf, type Db, type ReconciliationsTable, type Trx } from '../platform/db/index.ts'
import type { SentEvent } from './senders/index.ts'
import type { RunRow } from './view.ts'

/** The query of the runs of an endpoint; served by `reconciliations_by_endpoint`. */
export const runsOf = (db: Db, endpointId: string) =>
  db.selectFrom('reconciliations').selectAll().where('endpointId', '=', endpointId)

/** Locks a run, whatever its state; undefined when it is gone. */
export async function lockRun(trx: Trx, id: string): Promise<RunRow | undefined> {
  return await trx
    .selectFrom('reconciliations')
    .where('id', '=', id)
    .selectAll()
    .forUpdate()
    .executeTakeFirst()
}

/** Endpoints of the running runs of a workspace. */
export async function endpointsOfRunning(trx: Trx, workspaceId: string): Promise<readonly string[]> {
  const rows = await trx
    .selectFrom('reconciliations')
    .where('workspaceId', '=', workspaceId)
    .where('state', '=', 'running')
    .select('endpointId')
    .execute()
  return rows.map(({ endpointId }) => endpointId)
}

export async function updateRun(
  trx: Trx,
  id: string,
  changes: Updateable<ReconciliationsTable>,
): Promise<RunRow> {
  return await trx
    .updateTable('reconciliations')
    .set(changes)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/**
 * States of a listed event. `asked`: its sender was asked to send it again; `brought`: it was fetched and captured;
 * `refused`: the sender did not give it, or `dedupe` discards it.
 */
type EventState = 'present' | 'old' | 'missing' | 'asked' | 'brought' | 'refused'

export interface StagedEvent extends SentEvent {
  readonly digest: string | null
  readonly state: EventState
}

/**
 * Stores a page of listed events. An event that an earlier page had already does not change.
 *
 * @param from position of the first event
 * @returns the number of new events, by their states
 */
export async function stageEvents(
  trx: Trx,
  id: string,
  { events, from }: { readonly events: readonly StagedEvent[]; readonly from: number },
): Promise<Readonly<Record<EventState, number>>> {
  const counts = { present: 0, old: 0, missing: 0, asked: 0, brought: 0, refused: 0 }
  if (events.length === 0) return counts
  const rows = await trx
    .insertInto('reconciliationEvents')
    .values(
      events.map(({ eventId, digest, reference, type, state }, index) => ({
        reconciliationId: id,
        position: from + index,
        eventId,
        eventDigest: digest,
        reference,
        eventType: type,
        state,
      })),
    )
    .onConflict((conflict) => conflict.columns(['reconciliationId', 'eventId']).doNothing())
    .returning('state')
    .execute()
  for (const { state } of rows) counts[state] += 1
  return counts
}

/**
 * The oldest missing event that was neither requested nor fetched yet, and all others with the same reference, oldest
 * first. Empty when none is left.
 */
export async function nextMissing(db: Db, id: string) {
  return await db
    .selectFrom('reconciliationEvents')
    .where('reconciliationId', '=', id)
    .where('state', '=', 'missing')
    .where('reference', '=', (of) =>
      of
        .selectFrom('reconciliationEvents')
        .where('reconciliationId', '=', id)
        .where('state', '=', 'missing')
        .select('reference')
        .orderBy('position', 'desc')
        .limit(1),
    )
    .select(['eventId', 'reference'])
    .orderBy('position', 'desc')
    .execute()
}

export async function setEventStates(
  trx: Trx,
  id: string,
  eventIds: readonly string[],
  state: EventState,
): Promise<void> {
  if (eventIds.length === 0) return
  await trx
    .updateTable('reconciliationEvents')
    .set({ state })
    .where('reconciliationId', '=', id)
    .where('eventId', 'in', eventIds)
    .execute()
}

/**
 * Counts listed events whose id no capture of the endpoint has.
 *
 * @param states states of the events to count
 */
export async function countOutstanding(
  db: Db,
  { id, endpointId }: Pick<RunRow, 'id' | 'endpointId'>,
  states: readonly EventState[],
): Promise<number> {
  const outstanding = db
    .selectFrom('reconciliationEvents as e')
    .where('e.reconciliationId', '=', id)
    .where('e.state', 'in', states)
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom('requests as r')
            .where('r.endpointId', '=', endpointId)
            .where((id) =>
              id.or([
                id('r.eventId', '=', id.ref('e.eventId')),
                id('r.eventId', '=', id.ref('e.eventDigest')),
              ]),
            )
            .select(sql`1`.as('one')),
        ),
      ),
    )
  return await countOf(outstanding)
}

/** Types of missing events with their counts, most frequent first. */
export async function countMissingTypes(db: Db, id: string, limit: number) {
  return await db
    .selectFrom('reconciliationEvents')
    .where('reconciliationId', '=', id)
    .where('state', '=', 'missing')
    .select((of) => ['eventType as type', of.fn.countAll<number>().as('count')])
    .groupBy('eventType')
    .orderBy('count', 'desc')
    .orderBy('type')
    .limit(limit)
    .execute()
}

/**
 * The time since which all captures of the endpoint are still stored. Whether an older event was captured is unknown.
 *
 * @returns null if none was ever evicted; `now` if nothing is left
 */
export async function keptSince(db: Db, endpointId: string, now: Date): Promise<Date | null> {
  const row = await db
    .selectFrom('endpointCounters as c')
    .where('c.endpointId', '=', endpointId)
    .select((of) => [
      'c.evictedCount',
      of
        .selectFrom('requests as r')
        .whereRef('r.endpointId', '=', 'c.endpointId')
        .where('r.imported', '=', false)
        // Captures before it are in the bin, or wait for their deliveries: others of their time are gone.
        .whereRef('r.id', '>', 'c.removedUpTo')
        .select('r.receivedAt')
        .orderBy('r.id')
        .limit(1)
        .as('oldestAt'),
    ])
    .executeTakeFirst()
  return row === undefined || row.evictedCount === 0 ? null : (row.oldestAt ?? now)
}
