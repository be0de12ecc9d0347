import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { DomainError, validationFailed } from '../api/errors.ts'
import { operatorProcedure, operatorRouterOf } from '../api/operatorProcedure.ts'
import type { Services } from '../api/services.ts'
import { getWorkspace, WorkspaceReference } from '../workspaces/index.ts'
import { deleteContact, insertContact, listContacts } from './queries.ts'
import { Contact, ContactEmail, ContactName, ContactReference } from './schema.ts'

export const contactOperatorRoutes = operatorRouterOf({
  add: operatorProcedure
    .input(z.object({ workspace: WorkspaceReference, email: ContactEmail, name: ContactName.optional() }))
    .output(Contact)
    .mutation(({ ctx, input }) => addContact(ctx, input)),
  list: operatorProcedure
    .input(z.object({ workspace: WorkspaceReference }))
    .output(z.array(Contact))
    .query(async ({ ctx, input }) => listContacts(ctx.db, (await getWorkspace(ctx.db, input.workspace)).id)),
  remove: operatorProcedure
    .input(z.object({ workspace: WorkspaceReference, contact: ContactReference }))
    .output(Contact)
    .mutation(({ ctx, input }) => removeContact(ctx, input)),
})

/** @throws DomainError `not_found`; `validation_failed` (`duplicate`) when the workspace has the address */
async function addContact(
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
async function removeContact(services: Services, input: { workspace: string; contact: string }) {
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
