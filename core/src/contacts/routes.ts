import { z } from 'zod'
import { requireOwner } from '../api/ownerGate.ts'
import { router, typedOnly } from '../api/route.ts'
import { addContact, removeContact } from './change.ts'
import { listContacts } from './queries.ts'
import { Contact, ContactEmail, ContactName, ContactReference } from './schema.ts'

/** List, add and remove the contacts of the caller's own workspace; not part of the REST API. */
export const contactRoutes = router({
  /** For every caller, because watchdogs reference contacts by id. */
  list: typedOnly({ input: z.object({}), output: z.object({ items: z.array(Contact) }) }).query(
    async ({ ctx }) => ({ items: await listContacts(ctx.db, ctx.workspace.id) }),
  ),

  add: typedOnly({
    input: z.object({ email: ContactEmail, name: ContactName.optional() }),
    output: Contact,
    gate: requireOwner,
  }).mutation(({ ctx, input }) => addContact(ctx, { ...input, workspace: ctx.workspace.id })),

  remove: typedOnly({
    input: z.object({ contactId: ContactReference }),
    output: z.null(),
    gate: requireOwner,
  }).mutation(async ({ ctx, input }) => {
    await removeContact(ctx, { workspace: ctx.workspace.id, contact: input.contactId })
    return null
  }),
})
