import { randomUUID } from 'node:crypto'
import { DomainError, validationFailed } from '../api/errors.ts'
import type { Services } from '../api/services.ts'
import { getWorkspace } from '../workspaces/index.ts'
import { deleteContact, insertContact, listContacts } from './queries.ts'

/**
 * Adds somebody to mail alerts to.
 *
 * @throws DomainError `not_found`; `validation_failed` (`duplicate`) when the workspace has the address
 */
export async function addContact(
  services: Services,
  input: { workspace: string; email: string; name?: string | undefined },
) {
  const workspace = await getWorkspace(services.db, input.workspace)
  const row = {
    id: randomUUID(),
    workspaceId: workspace.id,
    email: input.email,
    name: input.name ?? null,
    createdAt: services.clock.now(),
  }
  const added = await services.db.transaction().execute((trx) => insertContact(trx, row))
  if (added === undefined) {
    const detail = `The workspace "${workspace.name}" has the contact ${input.email} already.`
    throw validationFailed([{ path: ['email'], code: 'duplicate', detail }])
  }
  return added
}

/**
 * Removes a contact by id or address; watchdogs that name it alarm whoever is left.
 *
 * @throws DomainError `not_found`
 */
export async function removeContact(services: Services, input: { workspace: string; contact: string }) {
  const workspace = await getWorkspace(services.db, input.workspace)
  const contact = (await listContacts(services.db, workspace.id)).find(
    ({ id, email }) => id === input.contact.toLowerCase() || email === input.contact,
  )
  if (contact === undefined) {
    throw new DomainError('not_found', `The workspace "${workspace.name}" has no contact "${input.contact}".`)
  }
  await services.db.transaction().execute((trx) => deleteContact(trx, contact.id))
  return contact
}
