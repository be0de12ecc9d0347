import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { viewerOf } from '../api/context.ts'
import type { Finds } from '../api/contract.ts'
import { createdCursor, timeCursorInput } from '../api/cursors.ts'
import { DomainError, foundById } from '../api/errors.ts'
import { withExample } from '../api/examples.ts'
import { envelope, paged, pageInput } from '../api/pagination.ts'
import { get, post, remove, router } from '../api/route.ts'
import { endpointId, Int64, optional, Timestamp } from '../api/values.ts'
import { recordChange } from '../audit/index.ts'
import { findsRequest } from '../requests/index.ts'
import { newToken } from '../sessions/index.ts'
import { lockWorkspace } from '../workspaces/index.ts'
import {
  countAfterSweep,
  deleteShareLink,
  findShareLink,
  insertShareLink,
  listShareLinks,
  SHARE_LINKS_MAX,
  type ShareLinkRow,
} from './queries.ts'

const EXPIRES_IN_SECONDS = { min: 60, max: 2_592_000, default: 604_800 } as const

const link = z.object({
  id: z.uuid(),
  endpointId: z.uuid(),
  requestId: Int64,
  createdBy: z.string().nullable().describe('Name of the key or session that made it'),
  createdAt: Timestamp,
  expiresAt: Timestamp,
})

const ShareLink = withExample('ShareLink', link)

const NewShareLink = withExample(
  'NewShareLink',
  link.extend({ url: z.url().describe('Shown here only: its SHA-256 is stored') }),
)

const viewOf = ({ workspaceId: _workspaceId, ...row }: ShareLinkRow) => row

const shareLinkId = z.string().meta({ format: 'uuid', description: 'Id of the link' })

const findsShareLink: Finds<{ shareLink: ShareLinkRow }> = async (ctx, ids) => {
  const find = (id: string) => findShareLink(ctx.db, viewerOf(ctx), id)
  return { shareLink: await foundById(ids.shareLinkId, 'share link', find) }
}

const changeOf = (action: string, { id, workspaceId, endpointId, requestId, expiresAt }: ShareLinkRow) => ({
  action,
  workspaceId,
  subject: { type: 'shareLink', id },
  endpointId,
  shown: { requestId, expiresAt },
})

/** Links that show one request to readers without a key. */
export const shareLinkRoutes = router({
  create: post('/api/v1/endpoints/{endpointId}/requests/{requestId}/share-links', {
    summary: 'Make a link that shows a captured request to readers without a key',
    description: `The page at the link is read-only, is not indexed, and masks values with the names of credentials, as for agents. It shows neither deliveries nor the capture URL. It ends with its time, its revocation, or the request. A workspace has at most ${SHARE_LINKS_MAX} links at once.`,
    input: z.object({
      endpointId,
      requestId: Int64.describe('Id of the captured request'),
      expiresInSeconds: optional(z.int().min(EXPIRES_IN_SECONDS.min).max(EXPIRES_IN_SECONDS.max)).describe(
        `Seconds until it ends; default ${EXPIRES_IN_SECONDS.default}, seven days`,
      ),
    }),
    example: { expiresInSeconds: 86_400 },
    output: NewShareLink,
    status: 201,
    errors: ['limit_reached'],
    finds: findsRequest,
  }).mutation(async ({ ctx, input }) => {
    const { token, sha256 } = newToken()
    const createdAt = ctx.clock.now()
    const seconds = input.expiresInSeconds ?? EXPIRES_IN_SECONDS.default
    const row = {
      id: randomUUID(),
      workspaceId: ctx.workspace.id,
      endpointId: ctx.endpoint.id,
      requestId: ctx.request.id,
      createdBy: ctx.actor.name,
      createdAt,
      expiresAt: new Date(createdAt.getTime() + seconds * 1000),
    }
    await ctx.db.transaction().execute(async (trx) => {
      await lockWorkspace(trx, row.workspaceId)
      const count = await countAfterSweep(trx, row.workspaceId, createdAt)
      if (count >= SHARE_LINKS_MAX)
        throw new DomainError('limit_reached', `The workspace has ${SHARE_LINKS_MAX} share links already.`)
      await insertShareLink(trx, { ...row, sha256 })
      const { shown, ...change } = changeOf('shareLinks.create', row)
      await recordChange(trx, ctx, { ...change, before: null, after: shown })
    })
    return { ...viewOf(row), url: `${ctx.urls.baseUrl}/share/${token}` }
  }),

  list: get('/api/v1/share-links', {
    summary: 'List the live share links, newest first, also those of requests in the recycle bin',
    input: z.object({
      requestId: optional(Int64).describe('Only those of this request'),
      ...pageInput,
      ...timeCursorInput('shareLinks'),
    }),
    output: envelope(ShareLink),
    narrows: true,
  }).query(async ({ ctx, input }) =>
    paged(await listShareLinks(ctx.db, viewerOf(ctx), input.requestId, input), input, {
      view: viewOf,
      cursorOf: createdCursor('shareLinks'),
    }),
  ),

  revoke: remove('/api/v1/share-links/{shareLinkId}', {
    summary: 'Revoke a share link: its page answers 404 at once',
    input: z.object({ shareLinkId }),
    output: z.null(),
    finds: findsShareLink,
    narrows: true,
  }).mutation(async ({ ctx }) => {
    await ctx.db.transaction().execute(async (trx) => {
      await deleteShareLink(trx, ctx.shareLink.id)
      const { shown, ...change } = changeOf('shareLinks.revoke', ctx.shareLink)
      await recordChange(trx, ctx, { ...change, before: shown, after: null })
    })
    return null
  }),
})
