import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { operatorProcedure, operatorRouterOf } from '../api/context.ts'
import { validationFailed } from '../api/errors.ts'
import { withExample } from '../api/examples.ts'
import { get, router } from '../api/route.ts'
import type { Services } from '../api/services.ts'
import { Timestamp } from '../api/values.ts'
import { recordChange } from '../audit/index.ts'
import { issue } from '../engine/issues.ts'
import { KEY_SCOPES } from '../engine/words/index.ts'
import { type PlanKey, planOf } from '../plans/index.ts'
import { codeOf } from '../platform/db/index.ts'
import { getWorkspace, insertWorkspace, listWorkspaces, lockWorkspace, updateName } from './queries.ts'
import { PlanKeyInput, PlanLimits, Workspace, WorkspaceName, WorkspaceReference } from './schema.ts'

const Me = withExample(
  'Me',
  z.object({
    key: z.object({
      prefix: z.string().describe('The first characters of the key, safe to display'),
      name: z.string().describe('As given when the key was created'),
      scope: z.enum(KEY_SCOPES).describe('Scope of the key'),
      endpointId: z.uuid().nullable().describe('The endpoint that the key is limited to; null: none'),
      expiresAt: Timestamp.nullable().describe('When it stops working; null: never'),
    }),
    workspace: z.object({ name: z.string() }),
    plan: z.object({ key: z.string(), displayName: z.string() }),
    limits: PlanLimits,
  }),
)

export const meRoutes = router({
  get: get('/api/v1/me', {
    summary: 'Read the key of this call, its workspace, the plan and its limits',
    input: z.object({}),
    output: Me,
    narrows: true,
  }).query(({ ctx }) => ({
    key: {
      prefix: ctx.key?.prefix ?? '',
      name: ctx.key?.name ?? 'Console',
      scope: ctx.scope,
      endpointId: ctx.onlyEndpointId,
      expiresAt: ctx.key?.expiresAt ?? null,
    },
    workspace: { name: ctx.workspace.name },
    plan: { key: ctx.plan.key, displayName: ctx.plan.displayName },
    limits: ctx.plan.limits,
  })),
})

/**
 * Creates a workspace.
 *
 * @throws DomainError `validation_failed` (`duplicate`) when the name is taken
 */
async function createWorkspace(services: Services, input: { name: string; plan: PlanKey }) {
  const row = { id: randomUUID(), ...input, createdAt: services.clock.now() }
  const made = await services.db.transaction().execute(async (trx) => {
    const inserted = await insertWorkspace(trx, row)
    if (inserted !== undefined) {
      await recordChange(trx, services, {
        action: 'workspaces.create',
        workspaceId: inserted.id,
        subject: { type: 'workspace', id: inserted.id, name: inserted.name },
        before: null,
        after: inserted,
      })
    }
    return inserted
  })
  if (made === undefined) throw nameTaken(input.name)
  return { ...made, plan: planOf(services.plans, made.plan).key }
}

const nameTaken = (name: string) =>
  validationFailed([issue(['name'], 'duplicate', `There is a workspace named "${name}" already.`)])

/** SQLSTATE of a value that another row has and no two may have. */
const UNIQUE_VIOLATION = '23505'

/**
 * Renames a workspace. Nothing else changes: ids, keys and capture URLs do not contain the name.
 *
 * @throws DomainError `not_found`, and `validation_failed` (`duplicate`) when the name is taken
 */
async function renameWorkspace(services: Services, { workspace, name }: { workspace: string; name: string }) {
  const { id } = await getWorkspace(services.db, workspace)
  const renaming = services.db.transaction().execute(async (trx) => {
    await lockWorkspace(trx, id)
    const before = await getWorkspace(trx, id)
    await updateName(trx, id, name)
    await recordChange(trx, services, {
      action: 'workspaces.rename',
      workspaceId: id,
      subject: { type: 'workspace', id, name },
      before: { name: before.name },
      after: { name },
    })
    return { ...before, name, plan: planOf(services.plans, before.plan).key }
  })
  return await renaming.catch((error: unknown) => {
    throw codeOf(error) === UNIQUE_VIOLATION ? nameTaken(name) : error
  })
}

export const workspaceOperatorRoutes = operatorRouterOf({
  create: operatorProcedure
    .input(z.object({ name: WorkspaceName, plan: PlanKeyInput.optional() }))
    .output(Workspace)
    .mutation(({ ctx, input: { name, plan = ctx.defaultPlan } }) => createWorkspace(ctx, { name, plan })),
  rename: operatorProcedure
    .input(z.object({ workspace: WorkspaceReference, name: WorkspaceName }))
    .output(Workspace)
    .mutation(({ ctx, input }) => renameWorkspace(ctx, input)),
  list: operatorProcedure.output(z.array(Workspace)).query(async ({ ctx }) => {
    const workspaces = await listWorkspaces(ctx.db)
    return workspaces.map((workspace) => ({ ...workspace, plan: planOf(ctx.plans, workspace.plan).key }))
  }),
})
