import { z } from 'zod'
import { requireOwner } from '../api/access.ts'
import { operatorProcedure, operatorRouterOf } from '../api/context.ts'
import { router, typedOnly } from '../api/route.ts'
import { Timestamp } from '../api/values.ts'
import { getWorkspace, WorkspaceReference } from '../workspaces/index.ts'
import { addContact, listContacts, removeContact } from './change.ts'

/** A person who gets alerts by mail when no channel takes them. */
const Contact = z.object({
  id: z.uuid(),
  email: z.email(),
  name: z.string().nullable(),
  createdAt: Timestamp,
})

/** An email address: trimmed, at most 254 characters. */
const ContactEmail = z.string().trim().max(254).pipe(z.email())

/** A person's name: trimmed, 1 to 100 characters. */
const ContactName = z.string().trim().min(1).max(100)

/** An operator's reference to a contact: its id or its address. */
const ContactReference = z.string().trim().min(1).max(254)

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
