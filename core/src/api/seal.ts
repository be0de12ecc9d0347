import { sql } from 'kysely'
import type { Trx } from '../platform/db/index.ts'
import { DomainError } from './errors.ts'
import type { Services } from './services.ts'

/** Milliseconds after which work in a sealed workspace is tried again. */
export const SEALED_MS = 2_000

/** SQL for whether a workspace is sealed: it is about to be in another cell. */
export const isSealed = (table: string) => `coalesce(${table}.sealed_until > statement_timestamp(), false)`

/**
 * Member `isSealed` for the rows that a statement changes, by SQL for the id of their workspace, or null. One that has
 * left for another cell is sealed, too.
 */
export const isSealedOf = (workspaceId: string) => {
  const id = sql.raw(workspaceId)
  const staying = sql`select from workspaces w where w.id = ${id} and not ${sql.raw(isSealed('w'))}`
  return sql<boolean>`(${id} is not null and not exists (${staying}))`.as('isSealed')
}

/** @throws DomainError `unavailable` while the workspace is about to be in another cell */
export function requireUnsealed(isSealed: boolean): void {
  if (!isSealed) return
  throw new DomainError('unavailable', 'The workspace is being moved. Try again in a moment.', {
    retryAfterSeconds: SEALED_MS / 1_000,
  })
}

/**
 * Checks that a change stays in the database, after its last write: for changes without an entry in the audit log, or
 * with one of the service.
 *
 * @throws DomainError `unavailable` while the workspace is about to be in another cell, and when it is there
 */
export async function requireStays(
  { cell }: Pick<Services, 'cell'>,
  trx: Trx,
  workspaceId: string,
): Promise<void> {
  if (cell === null) return
  const staying = trx
    .selectFrom('workspaces as w')
    .where('w.id', '=', workspaceId)
    .where(sql.raw<boolean>(`not ${isSealed('w')}`))
  requireUnsealed((await staying.select('w.id').executeTakeFirst()) === undefined)
}
