import { z } from 'zod'
import type { Finds } from '../api/contract.ts'
import { foundById } from '../api/errors.ts'
import { route, router } from '../api/route.ts'
import { findsNamedEndpoint } from '../endpoints/index.ts'
import { changeKey } from './change.ts'
import { createKey, issuesOfKey } from './create.ts'
import { findKey, type KeyRow, listKeys } from './queries.ts'
import { revokeKey } from './revoke.ts'
import { rotateKey } from './rotate.ts'
import { ApiKey, createInput, NewApiKey, rotateMembers, updateMembers } from './schema.ts'

const keyId = z.string().meta({ format: 'uuid', description: 'Id of the key' })

const findsKey: Finds<{ namedKey: KeyRow }> = async (ctx, ids) => {
  return { namedKey: await foundById(ids.keyId, 'key', (id) => findKey(ctx.db, ctx.workspace.id, id)) }
}

const Key = ApiKey.meta({ id: 'ApiKey' })
const NewKey = NewApiKey.meta({ id: 'NewApiKey' })

/** Manage the API keys of the caller's own workspace. */
export const keyRoutes = router({
  list: route({
    method: 'GET',
    path: '/api/v1/keys',
    summary: 'List the API keys of the workspace, newest first, with expired and revoked keys',
    scope: 'admin',
    input: z.object({}),
    output: z.object({ items: z.array(Key) }),
  }).query(async ({ ctx }) => ({ items: await listKeys(ctx.db, ctx.workspace.id) })),

  create: route({
    method: 'POST',
    path: '/api/v1/keys',
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

  update: route({
    method: 'PATCH',
    path: '/api/v1/keys/{keyId}',
    summary: 'Change the name, the expiry or the networks of an API key',
    description:
      'Takes effect with the next call of the key. The scope of a key never changes: create another key. The expiry of an agent’s key follows its use.',
    scope: 'admin',
    input: z.object({ keyId, ...updateMembers }),
    example: { name: 'ci', expiresAt: '2027-01-01T00:00:00Z' },
    output: Key,
    finds: findsKey,
    check: (ctx, { expiresAt }) =>
      ctx.namedKey.kind === 'oauth' && expiresAt !== undefined
        ? [
            {
              path: ['expiresAt'],
              code: 'not_allowed',
              detail: 'The key of an agent ends 30 days after its last refresh. Revoke it to end it before.',
            },
          ]
        : issuesOfKey(ctx, { scope: 'read', expiresAt }),
  }).mutation(({ ctx, input }) => changeKey(ctx, ctx.namedKey, input)),

  rotate: route({
    method: 'POST',
    path: '/api/v1/keys/{keyId}/rotate',
    summary: 'Replace an API key with a new one; both work during the overlap',
    description:
      'The new key has the name, scope, endpoint and networks of the old one. A key that has ended, was rotated before or is an agent’s answers 404.',
    scope: 'admin',
    input: z.object({ keyId, ...rotateMembers }),
    example: { overlapSeconds: 3600 },
    output: NewKey,
    status: 201,
    finds: findsKey,
    check: (ctx, { expiresAt }) => issuesOfKey(ctx, { scope: 'read', expiresAt }),
  }).mutation(({ ctx, input: { overlapSeconds, expiresAt } }) =>
    rotateKey(ctx, { workspace: ctx.workspace.id, keyId: ctx.namedKey.id, overlapSeconds, expiresAt }),
  ),

  revoke: route({
    method: 'DELETE',
    path: '/api/v1/keys/{keyId}',
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
