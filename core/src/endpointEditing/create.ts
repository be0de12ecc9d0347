import type { Accepted } from '../api/checks.ts'
import type { Context } from '../api/context.ts'
import { requireRoom } from '../api/planGates.ts'
import { recordChange } from '../audit/index.ts'
import { newId } from '../cells/index.ts'
import {
  type CreateInput,
  checkDedupe,
  checkPaths,
  checkResponse,
  checkStoring,
  countLiveEndpoints,
  DEFAULT_RESPONSE,
  endpointView,
  findEndpoint,
  insertEndpoint,
  settingsColumns,
} from '../endpoints/index.ts'
import type { InputIssue } from '../engine/issues.ts'
import { checkSettings, NO_VERIFICATION } from '../engine/verification/index.ts'
import { lockWorkspace } from '../workspaces/index.ts'
import { checkAnswers } from './answers.ts'
import { endpointChange } from './change.ts'
import { checkForward, writeForward } from './legacyForward.ts'
import { checkOriginals, prepareStoring } from './storing.ts'

/** Checks of a new endpoint that the schema cannot express. */
export async function checkNewEndpoint(ctx: Context, input: Accepted<CreateInput>): Promise<InputIssue[]> {
  return [
    ...checkResponse(input),
    ...checkSettings(NO_VERIFICATION, input),
    ...checkPaths(input),
    ...checkDedupe(input.dedupe, ctx.plan.limits),
    ...checkStoring(input),
    ...checkOriginals(null, input),
    ...(await checkAnswers(ctx, null, input)),
    ...(await checkForward(ctx, null, input)),
  ]
}

/**
 * Creates an endpoint; with `ttlSeconds` an ephemeral one.
 * @throws DomainError `limit_reached` when the plan's endpoints are all in use
 */
export async function createEndpoint(ctx: Context, input: CreateInput) {
  const now = ctx.clock.now()
  const id = newId(ctx.cell)
  return await ctx.db.transaction().execute(async (trx) => {
    await lockWorkspace(trx, ctx.workspace.id)
    requireRoom(ctx.plan, 'endpointsMax', await countLiveEndpoints(trx, ctx.workspace.id, now), 'endpoints')
    await insertEndpoint(trx, {
      ...settingsColumns(input, { secrets: ctx.secrets, workspaceId: ctx.workspace.id, now }),
      name: input.name ?? 'Untitled endpoint',
      isActive: input.isActive ?? true,
      responseStatusCode: input.responseStatusCode ?? DEFAULT_RESPONSE.responseStatusCode,
      responseContentType: input.responseContentType ?? DEFAULT_RESPONSE.responseContentType,
      responseHeaders: JSON.stringify(input.responseHeaders ?? DEFAULT_RESPONSE.responseHeaders),
      responseBody: input.responseBody ?? DEFAULT_RESPONSE.responseBody,
      id,
      workspaceId: ctx.workspace.id,
      createdAt: now,
      expiresAt: input.ttlSeconds === undefined ? null : new Date(now.getTime() + input.ttlSeconds * 1000),
    })
    await writeForward(ctx, trx, id, null, input)
    const row = await findEndpoint(trx, ctx.workspace.id, id)
    if (row === undefined) throw new Error('The endpoint that was just inserted is gone.')
    const view = endpointView(row, ctx)
    await recordChange(trx, ctx, endpointChange(ctx, 'endpoints.create', null, view))
    return { ...view, ...(await prepareStoring(ctx, trx, { before: null, endpoint: row }, input)) }
  })
}
