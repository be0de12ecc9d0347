import { z } from 'zod'
import { type Context, operatorProcedure, operatorRouterOf } from '../api/context.ts'
import type { Finds } from '../api/contract.ts'
import { foundById, notFound, validationFailed } from '../api/errors.ts'
import { get, patch, post, remove, router } from '../api/route.ts'
import { recordChange } from '../audit/index.ts'
import { EndpointReference, endpointIdOf, findsNamedEndpoint } from '../endpoints/index.ts'
import type { InputIssue } from '../engine/issues.ts'
import { getWorkspace, lockWorkspace, WorkspaceReference } from '../workspaces/index.ts'
import { createKey, issuesOfKey, requireRoomForKey } from './create.ts'
import { findKey, hasEnded, type KeyRow, listKeys, lockKey, updateKey } from './queries.ts'
import { keyOfReference, revokeKey } from './revoke.ts'
import { rotateKey } from './rotate.ts'
import {
  ApiKey,
  CreatedKey,
  createInput,
  KeyReference,
  NewApiKey,
  rotateMembers,
  updateMembers,
} from './schema.ts'

const which = { workspace: WorkspaceReference, key: KeyReference }

/** Create, list, rotate and revoke the API keys of any workspace. */
export const keyOperatorRoutes = operatorRouterOf({
  create: operatorProcedure
    .input(
      createInput
        .omit({ endpointId: true })
        .extend({ workspace: WorkspaceReference, endpoint: EndpointReference.optional() }),
    )
    .output(CreatedKey)
    .mutation(async ({ ctx, input: { endpoint, ...wish } }) => {
      if (endpoint === undefined) return await createKey(ctx, wish)
      const { id: workspaceId } = await getWorkspace(ctx.db, wish.workspace)
      return await createKey(ctx, { ...wish, endpointId: await endpointIdOf(ctx.db, workspaceId, endpoint) })
    }),
  list: operatorProcedure
    .input(z.object({ workspace: WorkspaceReference }))
    .output(z.array(ApiKey))
    .query(async ({ ctx, input }) => listKeys(ctx.db, (await getWorkspace(ctx.db, input.workspace)).id)),
  rotate: operatorProcedure
    .input(z.object({ ...which, ...rotateMembers }))
    .output(CreatedKey)
    .mutation(async ({ ctx, input: { key, ...input } }) => {
      const { id: keyId } = await keyOfReference(ctx, { workspace: input.workspace, key })
      return await rotateKey(ctx, { ...input, keyId })
    }),
  revoke: operatorProcedure
    .input(z.object(which))
    .output(ApiKey)
    .mutation(async ({ ctx, input }) => revokeKey(ctx, await keyOfReference(ctx, input))),
})

/** Changes of a key. Null removes a limit; an absent member is unchanged. */
interface KeyChanges {
  readonly name?: string | undefined
  readonly expiresAt?: Date | null | undefined
  readonly allowedNetworks?: string[] | null | undefined
}

/**
 * Changes the given members of a key, effective for its next call. The others stay as another call has left them.
 *
 * @throws DomainError `not_found` when it is gone; `validation_failed`, see {@link issuesOfExpiry}; `limit_reached` and
 *   `feature_not_in_plan` as for a new key, for one that has ended and goes on
 */
async function changeKey(
  ctx: Context,
  id: string,
  { name, expiresAt, allowedNetworks }: KeyChanges,
): Promise<KeyRow> {
  const { clock, db, plan, workspace } = ctx
  return await db.transaction().execute(async (trx) => {
    await lockWorkspace(trx, workspace.id)
    const key = await lockKey(trx, workspace.id, id)
    if (key === undefined) throw notFound('key')
    const issues = issuesOfExpiry(key, expiresAt)
    if (issues.length > 0) throw validationFailed(issues)
    const given = {
      ...(name === undefined ? {} : { name }),
      ...(expiresAt === undefined ? {} : { expiresAt }),
      ...(allowedNetworks === undefined ? {} : { allowedNetworks }),
    }
    const changed = { ...key, ...given }
    const now = clock.now()
    if (hasEnded(key, now) && !hasEnded(changed, now))
      await requireRoomForKey(ctx, trx, { id: workspace.id, plan })
    await updateKey(trx, id, given)
    await recordChange(trx, ctx, {
      action: 'keys.update',
      workspaceId: workspace.id,
      subject: { type: 'key', id, name: key.name },
      before: key,
      after: changed,
    })
    return changed
  })
}

/** Issues of a new expiry for this key. Undefined: it stays. */
function issuesOfExpiry(key: KeyRow, expiresAt: Date | null | undefined): InputIssue[] {
  if (expiresAt === undefined || keepsExpiry(key, expiresAt)) return []
  const refused = (detail: string) => [{ path: ['expiresAt'], code: 'not_allowed' as const, detail }]
  if (key.kind === 'oauth')
    return refused('The key of an agent ends 30 days after its last refresh. Revoke it to end it before.')
  const end = key.replacedById === null ? null : key.expiresAt
  if (end !== null && (expiresAt === null || expiresAt > end))
    return refused('The key was rotated: it can end sooner, but not later. Use the key that replaced it.')
  return []
}

/** Whether an expiry is the one that the key has, which is not checked again. */
const keepsExpiry = (key: KeyRow, expiresAt: Date | null | undefined): boolean =>
  expiresAt === undefined || expiresAt?.getTime() === key.expiresAt?.getTime()

const keyId = z.string().meta({ format: 'uuid', description: 'Id of the key' })

const findsKey: Finds<{ namedKey: KeyRow }> = async (ctx, ids) => {
  return { namedKey: await foundById(ids.keyId, 'key', (id) => findKey(ctx.db, ctx.workspace.id, id)) }
}

const Key = ApiKey.meta({ id: 'ApiKey' })
const NewKey = NewApiKey.meta({ id: 'NewApiKey' })

/** Manage the API keys of the caller's own workspace. */
export const keyRoutes = router({
  list: get('/api/v1/keys', {
    summary: 'List the API keys of the workspace, newest first, with expired and revoked keys',
    scope: 'admin',
    input: z.object({}),
    output: z.object({ items: z.array(Key) }),
  }).query(async ({ ctx }) => ({ items: await listKeys(ctx.db, ctx.workspace.id) })),

  create: post('/api/v1/keys', {
    summary: 'Create an API key; only this answer shows it',
    description:
      'For a key of one endpoint, other endpoints answer 404, lists have its endpoint only, and routes about the whole workspace answer 403.',
    scope: 'admin',
    input: createInput,
    example: { name: 'ci', scope: 'write', allowedNetworks: ['203.0.113.0/24'] },
    output: NewKey,
    status: 201,
    errors: ['not_found', 'limit_reached', 'feature_not_in_plan'],
    finds: findsNamedEndpoint,
    check: (ctx, input) => issuesOfKey(ctx, input),
  }).mutation(({ ctx, input }) => createKey(ctx, { ...input, workspace: ctx.workspace.id })),

  update: patch('/api/v1/keys/{keyId}', {
    summary: 'Change the name, the expiry or the networks of an API key',
    description:
      'Takes effect with the next call of the key. The scope of a key never changes: create another key. The expiry of an agent’s key follows its use, and that of a rotated key only comes nearer. An expired key goes on with a new expiry, and then counts against the plan again.',
    scope: 'admin',
    errors: ['limit_reached', 'feature_not_in_plan'],
    input: z.object({ keyId, ...updateMembers }),
    example: { name: 'ci', expiresAt: '2027-01-01T00:00:00Z' },
    output: Key,
    finds: findsKey,
    check: (ctx, { expiresAt }) => {
      if (keepsExpiry(ctx.namedKey, expiresAt)) return []
      const issues = issuesOfExpiry(ctx.namedKey, expiresAt)
      return issues.length > 0 ? issues : issuesOfKey(ctx, { scope: 'read', expiresAt })
    },
  }).mutation(({ ctx, input }) => changeKey(ctx, ctx.namedKey.id, input)),

  rotate: post('/api/v1/keys/{keyId}/rotate', {
    summary: 'Replace an API key with a new one; both work during the overlap',
    description:
      'The new key has the name, scope, endpoint and networks of the old one. A key that has ended, was rotated before or is an agent’s answers 404. Rotated keys that still work can be as many as the plan has keys; with `overlapSeconds` 0 there is always room.',
    scope: 'admin',
    errors: ['limit_reached'],
    input: z.object({ keyId, ...rotateMembers }),
    example: { overlapSeconds: 3600 },
    output: NewKey,
    status: 201,
    finds: findsKey,
    check: (ctx, { expiresAt }) => issuesOfKey(ctx, { scope: 'read', expiresAt }),
  }).mutation(({ ctx, input: { overlapSeconds, expiresAt } }) =>
    rotateKey(ctx, { workspace: ctx.workspace.id, keyId: ctx.namedKey.id, overlapSeconds, expiresAt }),
  ),

  revoke: remove('/api/v1/keys/{keyId}', {
    summary: 'Revoke an API key, at once and permanently',
    description: 'Its calls answer 401 from now on; streams and sessions that it opened end within 6 s.',
    scope: 'admin',
    input: z.object({ keyId }),
    output: z.null(),
    finds: findsKey,
  }).mutation(async ({ ctx }) => {
    await revokeKey(ctx, ctx.namedKey)
    return null
  }),
})
