import type { Context } from '../api/context.ts'
import { Download, type Finds } from '../api/contract.ts'
import { createdCursor, pageByTime } from '../api/cursors.ts'
import { foundById } from '../api/errors.ts'
import { envelope, paged } from '../api/pagination.ts'
import { get, post, router } from '../api/route.ts'
import { erasureView, reportOf } from './report.ts'
import type { ErasureRow } from './run.ts'
import { Erasure, erasureInput, listInput, startInput } from './schema.ts'
import { startErasure } from './start.ts'

const erasuresOf = ({ db, workspace }: Pick<Context, 'db' | 'workspace'>) =>
  db.selectFrom('erasures').selectAll().where('workspaceId', '=', workspace.id)

const findsErasure: Finds<{ erasure: ErasureRow }> = async (ctx, ids) => {
  const find = (id: string) => erasuresOf(ctx).where('id', '=', id).executeTakeFirst()
  return { erasure: await foundById(ids.erasureId, 'erasure', find) }
}

/** Find and delete everything that holds a value, like the address of a person who asks to be forgotten. */
export const erasureRoutes = router({
  start: post('/api/v1/erasures', {
    summary: 'Find and delete everything that holds a value',
    description:
      'Captures of all endpoints, also in the recycle bin, delivery attempts, recorded answers of replays, messages of alerts, and events that wait for agents. It works for some seconds before it answers, and continues in the background. The audit log keeps a keyed hash of the value.',
    input: startInput,
    scope: 'admin',
    example: { value: 'ada@example.com', paths: ['body.data.email'], dryRun: true },
    output: Erasure,
    status: 202,
    errors: ['rate_limited'],
  }).mutation(async ({ ctx, input }) => erasureView(await startErasure(ctx, input))),

  list: get('/api/v1/erasures', {
    summary: 'List erasures, newest first',
    input: listInput,
    scope: 'admin',
    output: envelope(Erasure),
  }).query(async ({ ctx, input }) => {
    const found = await pageByTime(erasuresOf(ctx), ['createdAt', 'id'], input)
    return paged(found, input, { view: erasureView, cursorOf: createdCursor('erasures') })
  }),

  get: get('/api/v1/erasures/{erasureId}', {
    summary: 'Read an erasure, also while it runs',
    input: erasureInput,
    scope: 'admin',
    output: Erasure,
    finds: findsErasure,
  }).query(({ ctx }) => erasureView(ctx.erasure)),

  report: get('/api/v1/erasures/{erasureId}/report', {
    summary: 'Read the report of an erasure as Markdown, to hand on',
    input: erasureInput,
    scope: 'admin',
    output: Download,
    media: { gives: ['text/markdown'] },
    finds: findsErasure,
  }).query(async ({ ctx }) => {
    const endpoints = await ctx.db
      .selectFrom('endpoints')
      .where('workspaceId', '=', ctx.workspace.id)
      .select(['id', 'name'])
      .execute()
    return reportOf(ctx.erasure, new Map(endpoints.map(({ id, name }) => [id, name])))
  }),
})
