import { z } from 'zod'
import { operatorProcedure, operatorRouterOf } from '../api/operatorProcedure.ts'
import { getWorkspace, WorkspaceReference } from '../workspaces/index.ts'
import { addContact, removeContact } from './change.ts'
import { listContacts } from './queries.ts'
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
