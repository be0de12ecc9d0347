import { randomUUID } from 'node:crypto'
import { type AbortableQueryOptions, type Insertable, type Selectable, sql } from 'kysely'
import type { Context } from '../api/context.ts'
import { type Between, pageByTime, type TimePlace } from '../api/cursors.ts'
import { notFound } from '../api/errors.ts'
import type { Page } from '../api/pagination.ts'
import { countOf, type Db, type Trx, type WatchdogsTable } from '../platform/db/index.ts'
import { sha256Of } from '../platform/secrets/index.ts'
import { deadlines, type Outage, type WatchdogClock } from './rules.ts'

/** Labels in the answer of the labels route. */
const MAX_LABELS = 200

/** A watchdog with its endpoint's name and the last match that captures noted for its criteria. */
export interface WatchdogRow extends Selectable<WatchdogsTable> {
  readonly endpointName: string
  readonly criteriaMatchedAt: Date | null
  readonly criteriaRequestId: number | null
}

/** Watchdogs of existing endpoints: those of a deleted or expired endpoint are excluded. */
function selectWatchdogs(db: Db, now: Date) {
  return db
    .selectFrom('watchdogs as w')
    .innerJoin('endpoints as e', 'e.id', 'w.endpointId')
    .innerJoin('watchdogCriteria as c', 'c.id', 'w.criteriaId')
    .where('e.deletedAt', 'is', null)
    .where((where) => where.or([where('e.expiresAt', 'is', null), where('e.expiresAt', '>', now)]))
}

function selectRows(db: Db, now: Date) {
  return selectWatchdogs(db, now)
    .selectAll('w')
    .select([
      'e.name as endpointName',
      'c.lastMatchedAt as criteriaMatchedAt',
      'c.lastMatchedRequestId as criteriaRequestId',
    ])
}

/** The watchdog; undefined if it is absent, another workspace's, or its endpoint is gone. */
export function findWatchdog(db: Db, workspaceId: string, id: string, now: Date) {
  return selectRows(db, now)
    .where('w.workspaceId', '=', workspaceId)
    .where('w.id', '=', id)
    .executeTakeFirst()
}

/** One page of the watchdogs visible to the caller, newest first; served by `watchdogs_by_workspace`. */
export async function listWatchdogs(
  { db, workspace, onlyEndpointId }: Pick<Context, 'db' | 'workspace' | 'onlyEndpointId'>,
  page: Page & Between<TimePlace>,
  now: Date,
) {
  const matching = selectRows(db, now)
    .where('w.workspaceId', '=', workspace.id)
    .$if(onlyEndpointId !== null, (query) => query.where('w.endpointId', '=', onlyEndpointId))
  return await pageByTime(matching, ['w.createdAt', 'w.id'], page)
}

/** Number of watchdogs that count against `watchdogsMax`. */
export async function countWatchdogs(db: Db, workspaceId: string, now: Date): Promise<number> {
  return await countOf(selectWatchdogs(db, now).where('w.workspaceId', '=', workspaceId))
}

/** The rows with these ids, locked against changes until the transaction ends. The order prevents deadlocks. */
export function lockWatchdogs(trx: Trx, ids: readonly string[], now: Date): Promise<WatchdogRow[]> {
  return selectRows(trx, now).where('w.id', 'in', ids).orderBy('w.id').forUpdate('w').execute()
}

/** Every watchdog of the workspace, locked, in the order in which the plan keeps them. */
export function lockWatchdogsOfWorkspace(trx: Trx, workspaceId: string, now: Date): Promise<WatchdogRow[]> {
  return selectRows(trx, now)
    .where('w.workspaceId', '=', workspaceId)
    .orderBy('w.createdAt')
    .orderBy('w.id')
    .forUpdate('w')
    .execute()
}

/**
 * Locks watchdogs that need a step and skips those that another worker has locked: overdue ones, and alarmed ones with
 * a match since. Each kind has an index of little else, so that a check costs nothing while nothing is due.
 *
 * @param except ids of those that are not wanted
 */
export async function lockWatchdogsToCheck(
  trx: Trx,
  { now, limit, except }: { readonly now: Date; readonly limit: number; readonly except: readonly string[] },
): Promise<WatchdogRow[]> {
  return await selectRows(trx, now)
    .$if(except.length > 0, (query) => query.where('w.id', 'not in', except))
    .where('w.id', 'in', (of) =>
      of
        .selectFrom('watchdogs as d')
        .where('d.phase', '<>', 'alarmed')
        .where('d.alarmAt', '<=', now)
        .select('d.id')
        .unionAll(
          of
            .selectFrom('watchdogs as a')
            .innerJoin('watchdogCriteria as ac', 'ac.id', 'a.criteriaId')
            .where('a.phase', '=', 'alarmed')
            .whereRef('ac.lastMatchedRequestId', '>', 'a.settledRequestId')
            .select('a.id'),
        ),
    )
    .orderBy('w.alarmAt')
    .limit(limit)
    .forUpdate('w')
    .skipLocked()
    .execute()
}

/** New and edited watchdogs with a history that must be read again. */
export function findWatchdogsToRecheck(db: Db, now: Date, limit: number): Promise<WatchdogRow[]> {
  return selectRows(db, now).where('w.recheckAt', '<=', now).orderBy('w.recheckAt').limit(limit).execute()
}

/** Adds one row; the plan's limit is not checked here. */
export async function insertWatchdog(trx: Trx, row: Insertable<WatchdogsTable>): Promise<void> {
  await trx.insertInto('watchdogs').values(row).execute()
}

/** The columns that an edit may change, without those of the clock. */
export type WatchdogSettings = Partial<
  Pick<Insertable<WatchdogsTable>, 'name' | 'match' | 'criteriaId' | 'alertContactIds' | 'recheckAt'>
>

/** Stores a clock, and changed settings. */
export async function updateWatchdog(
  trx: Trx,
  id: string,
  columns: ReturnType<typeof clockColumns> & WatchdogSettings,
): Promise<void> {
  await trx.updateTable('watchdogs').set(columns).where('id', '=', id).execute()
}

/** A clock as columns; `alarmAt` serves only the index. */
export function clockColumns(clock: WatchdogClock, outages: readonly Outage[]) {
  return {
    active: clock.active,
    pausedByPlan: clock.pausedByPlan,
    expectedIntervalSeconds: clock.expectedIntervalSeconds,
    graceSeconds: clock.graceSeconds,
    phase: clock.phase,
    armedAt: clock.armedAt,
    baselineAt: clock.baselineAt,
    settledRequestId: clock.settledRequestId,
    lastMatchedAt: clock.lastMatchedAt,
    lastMatchedRequestId: clock.lastMatchedRequestId,
    alarmedAt: clock.alarmedAt,
    recoveredAt: clock.recoveredAt,
    lastAlertedAt: clock.lastAlertedAt,
    alarmAt: deadlines(clock, outages)?.alarmAt ?? null,
  }
}

/** Deletes the watchdog, and its criteria if no other watchdog uses them. The caller locks the workspace. */
export async function deleteWatchdog(trx: Trx, watchdog: { id: string; criteriaId: string }): Promise<void> {
  const gone = await trx.deleteFrom('watchdogs').where('id', '=', watchdog.id).executeTakeFirst()
  if (gone.numDeletedRows === 0n) throw notFound('watchdog')
  await deleteUnusedCriteria(trx, watchdog.criteriaId)
}

export async function deleteUnusedCriteria(trx: Trx, criteriaId: string): Promise<void> {
  await trx
    .deleteFrom('watchdogCriteria as c')
    .where('c.id', '=', criteriaId)
    .where((where) =>
      where.not(
        where.exists(where.selectFrom('watchdogs as w').whereRef('w.criteriaId', '=', 'c.id').select('w.id')),
      ),
    )
    .execute()
}

/**
 * The endpoint's row for these criteria, created if there is none. The caller locks the workspace, so that no two
 * callers create the same row.
 *
 * @param match canonical JSON text
 */
export async function criteriaFor(trx: Trx, endpointId: string, match: string): Promise<{ id: string }> {
  const matchSha256 = sha256Of(match)
  const known = await trx
    .selectFrom('watchdogCriteria')
    .where('endpointId', '=', endpointId)
    .where('matchSha256', '=', matchSha256)
    .select('id')
    .executeTakeFirst()
  if (known !== undefined) return known
  const id = randomUUID()
  await trx.insertInto('watchdogCriteria').values({ id, endpointId, match, matchSha256 }).execute()
  return { id }
}

/** The last request that captures noted for these criteria; 0 if there is none, or no watchdog has these criteria. */
export async function lastNotedRequest(db: Db, endpointId: string, match: string): Promise<number> {
  const row = await db
    .selectFrom('watchdogCriteria')
    .where('endpointId', '=', endpointId)
    .where('matchSha256', '=', sha256Of(match))
    .select('lastMatchedRequestId')
    .executeTakeFirst()
  return row?.lastMatchedRequestId ?? 0
}

/** Times without any gateway that could take captures, in order of time. */
export function listOutages(db: Db): Promise<Outage[]> {
  return db.selectFrom('gatewayOutages').select(['beganAt', 'endedAt']).orderBy('beganAt').execute()
}

/**
 * Alarms of a watchdog that were open within a period, oldest first. They are read from its incidents, which are kept
 * as long as alerts.
 */
export function listAlarms(
  db: Db,
  { id, workspaceId }: { readonly id: string; readonly workspaceId: string },
  { from, to }: { readonly from: Date; readonly to: Date },
) {
  return db
    .selectFrom('incidents')
    .where('workspaceId', '=', workspaceId)
    .where('kind', '=', 'watchdog.alarmed')
    .where('subjectId', '=', id)
    .where('openedAt', '<', to)
    .where((where) => where.or([where('closedAt', 'is', null), where('closedAt', '>', from)]))
    .select(['openedAt as alarmedAt', 'closedAt as recoveredAt'])
    .orderBy('openedAt')
    .execute()
}

/** Labels of stored requests, most frequent first. One scan of the endpoint's rows. */
export function listLabels(
  db: Db,
  endpointId: string,
  options: AbortableQueryOptions,
): Promise<{ label: string; count: number }[]> {
  return db
    .selectFrom('requests')
    .where('endpointId', '=', endpointId)
    .where('deletedAt', 'is', null)
    .where('hiddenAt', 'is', null)
    .where('label', 'is not', null)
    .groupBy('label')
    .select(['label', sql<number>`count(*)`.as('count')])
    .orderBy('count', 'desc')
    .orderBy('label')
    .limit(MAX_LABELS)
    .$castTo<{ label: string; count: number }>()
    .execute(options)
}
