import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import type { Db, EndpointsTable, Trx } from '../db/index.ts'
import { type Page, window } from '../pagination.ts'

/** An endpoint with its counts and what its first forward action says for the deprecated members. */
export interface EndpointRow extends Selectable<EndpointsTable> {
  readonly storedRequestCount: number
  readonly lastRequestAt: Date | null
  readonly forwardingEnabled: boolean
  /** The first forward action, which the deprecated members describe. */
  readonly forwardActionId: string | null
  readonly forwardUrl: string | null
  readonly forwardSigningSetAt: Date | null
}

function selectEndpoints(db: Db, workspaceId: string) {
  return db
    .selectFrom('endpoints as e')
    .innerJoin('endpointCounters as c', 'c.endpointId', 'e.id')
    .leftJoinLateral(
      (lateral) =>
        lateral
          .selectFrom('actions as a')
          .whereRef('a.endpointId', '=', 'e.id')
          .where('a.kind', '=', 'forward')
          .orderBy('a.position')
          .limit(1)
          .select(['a.id', 'a.url', 'a.signingSecretSetAt'])
          .as('first'),
      (join) => join.onTrue(),
    )
    .where('e.workspaceId', '=', workspaceId)
    .where('e.deletedAt', 'is', null)
    .selectAll('e')
    .select([
      'c.storedRequestCount',
      'c.lastRequestAt',
      'first.id as forwardActionId',
      'first.url as forwardUrl',
    ])
    .select('first.signingSecretSetAt as forwardSigningSetAt')
    .select((of) =>
      of
        .exists(
          of
            .selectFrom('actions as on')
            .whereRef('on.endpointId', '=', 'e.id')
            .where('on.isActive', '=', true)
            .where('on.suspendedByPlan', '=', false)
            .select('on.id'),
        )
        .as('forwardingEnabled'),
    )
    .$castTo<EndpointRow>()
}

/** The endpoint, unless it is absent, deleted or another workspace's. */
export function findEndpoint(db: Db, workspaceId: string, id: string): Promise<EndpointRow | undefined> {
  return selectEndpoints(db, workspaceId).where('e.id', '=', id).executeTakeFirst()
}

/** One page, newest first; served by `endpoints_by_workspace`. */
export async function listEndpoints(db: Db, workspaceId: string, page: Page) {
  const { limit, offset } = window(page)
  const rows = await selectEndpoints(db, workspaceId)
    .orderBy('e.createdAt', 'desc')
    .orderBy('e.id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
  const { count } = await db
    .selectFrom('endpoints')
    .where('workspaceId', '=', workspaceId)
    .where('deletedAt', 'is', null)
    .select((of) => of.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return { rows, totalCount: count }
}

/** How many count against `endpointsMax`: an expired one no longer does (CONTRACT §2). */
export async function countLiveEndpoints(trx: Trx, workspaceId: string, now: Date): Promise<number> {
  const { count } = await trx
    .selectFrom('endpoints')
    .where('workspaceId', '=', workspaceId)
    .where('deletedAt', 'is', null)
    .where((where) => where.or([where('expiresAt', 'is', null), where('expiresAt', '>', now)]))
    .select((of) => of.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** Serialises whatever counts objects of a workspace against its plan, until the transaction ends. */
export async function lockWorkspace(trx: Trx, workspaceId: string): Promise<void> {
  await trx.selectFrom('workspaces').where('id', '=', workspaceId).select('id').forUpdate().execute()
}

/** Adds the endpoint and its counter row. */
export async function insertEndpoint(trx: Trx, row: Insertable<EndpointsTable>): Promise<void> {
  await trx.insertInto('endpoints').values(row).execute()
  await trx.insertInto('endpointCounters').values({ endpointId: row.id }).execute()
}

/** Changes the named columns only. */
export async function updateEndpoint(
  trx: Trx,
  id: string,
  changes: Updateable<EndpointsTable>,
): Promise<void> {
  if (Object.keys(changes).length === 0) return
  await trx.updateTable('endpoints').set(changes).where('id', '=', id).execute()
}

/** Hides the endpoint from everybody at once; its rows are purged in the background. */
export async function markEndpointDeleted(trx: Trx, id: string, now: Date): Promise<void> {
  await trx
    .updateTable('endpoints')
    .set({ deletedAt: now })
    .where('id', '=', id)
    .where('deletedAt', 'is', null)
    .execute()
}

/** Tells every process that the endpoint's settings changed, once the transaction commits. */
export async function announceEndpointChange(trx: Trx, id: string): Promise<void> {
  await sql`select pg_notify('creel_endpoints', ${id})`.execute(trx)
}
