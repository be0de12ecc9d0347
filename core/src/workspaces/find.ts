import { DomainError } from '../api/errors.ts'
import type { Db } from '../platform/db/index.ts'
import { findWorkspace } from './queries.ts'

/**
 * Finds the workspace that an operator references by id or name; the id takes precedence.
 *
 * @throws DomainError `not_found`
 */
export async function getWorkspace(db: Db, reference: string) {
  const workspace = await findWorkspace(db, reference)
  if (workspace === undefined) {
    throw new DomainError('not_found', `There is no workspace with the id or name "${reference}".`)
  }
  return workspace
}
