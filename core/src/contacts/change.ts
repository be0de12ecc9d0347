import { randomUUID } from 'node:crypto'
import { DomainError, validationFailed } from '../api/errors.ts'
import type { Services } from '../api/services.ts'
import { type Change, recordChange } from '../audit/index.ts'
import { getWorkspace } from '../workspaces/index.ts'
import { deleteContact, insertContact, listContacts } from './queries.ts'

/**
 * Adds a contact, who gets alerts by mail.
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
  const added = await services.db.transaction().execute(async (trx) => {
    const inserted = await insertContact(trx, row)
    if (inserted !== undefined) {
      await recordChange(
        trx,
        services,
        contactChange('contacts.add', workspace.id, { before: null, after: inserted }),
      )
    }
    return inserted
  })
  if (added === undefined) {
    const detail = `The workspace "${workspace.name}" already has the contact ${input.email}.`
    throw validationFailed([{ path: ['email'], code: 'duplicate', detail }])
  }
  return added
}

/**
 * Removes a contact by id or address. Watchdogs with this contact alert their remaining ones.
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
  await services.db.transaction().execute(async (trx) => {
    await deleteContact(trx, contact.id)
    await recordChange(
      trx,
      services,
      contactChange('contacts.remove', workspace.id, { before: contact, after: null }),
    )
  })
  return contact
}

interface ContactRow {
  readonly id: string
  readonly email: string
}

function contactChange(
  action: string,
  workspaceId: string,
  { before, after }: { readonly before: ContactRow | null; readonly after: ContactRow | null },
): Change {
  const { id = '', email = '' } = after ?? before ?? {}
  return { action, workspaceId, subject: { type: 'contact', id, name: email }, before, after }
}
