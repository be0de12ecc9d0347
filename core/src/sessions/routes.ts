import { z } from 'zod'
import { requireOwner } from '../api/access.ts'
import { operatorProcedure, operatorRouterOf } from '../api/context.ts'
import { notFound } from '../api/errors.ts'
import { post, router, typedOnly } from '../api/route.ts'
import { Timestamp } from '../api/values.ts'
import { recordChange } from '../audit/index.ts'
import { KEY_SCOPES } from '../engine/words/index.ts'
import { getWorkspace, PlanLimits, WorkspaceReference } from '../workspaces/index.ts'
import { deleteSession, listSessions } from './queries.ts'
import { makeSignInLink } from './start.ts'

const Role = z
  .enum(['key', 'owner'])
  .describe('`key`: may what the key may that it was made with; `owner`: also keys, contacts and sessions')

/** A signed-in browser. */
const Session = z.object({
  id: z.uuid(),
  role: Role,
  keyName: z.string().nullable(),
  userAgent: z.string().nullable(),
  createdAt: Timestamp,
  seenAt: Timestamp.describe('Last used, to the minute'),
  expiresAt: Timestamp,
  isCurrent: z.boolean(),
})

const CurrentSession = z.object({
  session: z.object({ id: z.uuid(), role: Role }).nullable(),
  key: z.object({ name: z.string(), prefix: z.string() }).nullable(),
  scope: z.enum(KEY_SCOPES).describe('Scope of the caller'),
  endpointId: z.uuid().nullable().describe('The one endpoint that the caller sees; null: all'),
  workspace: z.object({ id: z.uuid(), name: z.string() }),
  plan: z.object({ key: z.string(), displayName: z.string() }),
  limits: PlanLimits,
  urls: z.object({ baseUrl: z.string(), captureUrl: z.string() }),
})

/** A link that signs a browser in once, until `expiresAt`. */
const SignInLinkView = z.object({ url: z.string(), expiresAt: Timestamp }).meta({ id: 'SignInLink' })

/** Signed-in browsers. The REST API takes keys only; here it offers nothing but sign-in links. */
export const sessionRoutes = router({
  current: typedOnly({ input: z.object({}), output: CurrentSession, narrows: true }).query(({ ctx }) => ({
    session: ctx.session,
    key: ctx.key === null ? null : { name: ctx.key.name, prefix: ctx.key.prefix },
    scope: ctx.scope,
    endpointId: ctx.onlyEndpointId,
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
      const isEnded = await ctx.db.transaction().execute(async (trx) => {
        const isDeleted = await deleteSession(trx, ctx.workspace.id, input.sessionId)
        if (isDeleted) {
          await recordChange(trx, ctx, {
            action: 'sessions.end',
            workspaceId: ctx.workspace.id,
            subject: { type: 'session', id: input.sessionId },
            before: {},
            after: null,
          })
        }
        return isDeleted
      })
      if (!isEnded) throw notFound('session')
      return null
    },
  ),

  invite: typedOnly({ input: z.object({}), output: SignInLinkView, gate: requireOwner }).mutation(({ ctx }) =>
    makeSignInLink(ctx, { workspaceId: ctx.workspace.id, apiKeyId: null }),
  ),

  signInLink: post('/api/v1/sign-in-links', {
    summary: 'Create a one-time sign-in link to the console, with the scope of this key',
    description:
      'The link works for 15 minutes. The session ends with the key, and can manage neither contacts nor sessions.',
    input: z.object({}),
    output: SignInLinkView,
    status: 201,
    scope: 'read',
    narrows: true,
  }).mutation(({ ctx }) =>
    makeSignInLink(ctx, { workspaceId: ctx.workspace.id, apiKeyId: ctx.key?.id ?? null }),
  ),
})

export const sessionOperatorRoutes = operatorRouterOf({
  link: operatorProcedure
    .input(z.object({ workspace: WorkspaceReference }))
    .output(SignInLinkView)
    .mutation(async ({ ctx, input }) =>
      makeSignInLink(ctx, {
        workspaceId: (await getWorkspace(ctx.db, input.workspace)).id,
        apiKeyId: null,
      }),
    ),
})
