import { z } from 'zod'
import { notFound } from '../api/errors.ts'
import { requireOwner } from '../api/ownerGate.ts'
import { router, typedOnly } from '../api/route.ts'
import { deleteSession, listSessions } from './queries.ts'
import { CurrentSession, Session, SignInLinkView } from './schema.ts'
import { makeSignInLink } from './start.ts'

/** Signed-in browsers. They are no part of the REST surface, which takes keys only. */
export const sessionRoutes = router({
  current: typedOnly({ input: z.object({}), output: CurrentSession }).query(({ ctx }) => ({
    session: ctx.session,
    key: ctx.key === null ? null : { name: ctx.key.name, prefix: ctx.key.prefix },
    workspace: ctx.workspace,
    plan: { key: ctx.plan.key, displayName: ctx.plan.displayName },
    limits: { ...ctx.plan.limits },
    urls: ctx.urls,
  })),

  list: typedOnly({
    input: z.object({}),
    output: z.object({ items: z.array(Session) }),
    gate: requireOwner,
  }).query(async ({ ctx }) => {
    const rows = await listSessions(ctx.db, ctx.workspace.id, ctx.clock.now())
    return {
      items: rows.map(({ apiKeyId, ...row }) => ({
        ...row,
        role: apiKeyId === null ? ('owner' as const) : ('key' as const),
        isCurrent: row.id === ctx.session?.id,
      })),
    }
  }),

  end: typedOnly({ input: z.object({ sessionId: z.guid() }), output: z.null(), gate: requireOwner }).mutation(
    async ({ ctx, input }) => {
      const isEnded = await ctx.db
        .transaction()
        .execute((trx) => deleteSession(trx, ctx.workspace.id, input.sessionId))
      if (!isEnded) throw notFound('session')
      return null
    },
  ),

  invite: typedOnly({ input: z.object({}), output: SignInLinkView, gate: requireOwner }).mutation(({ ctx }) =>
    makeSignInLink(ctx, ctx.workspace.id),
  ),
})
