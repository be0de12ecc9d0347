import { z } from 'zod'
import { notFound } from '../api/errors.ts'
import { requireOwner } from '../api/ownerGate.ts'
import { type Finds, route, router } from '../api/route.ts'
import { createKey } from './create.ts'
import { listKeys } from './queries.ts'
import { revokeKey } from './revoke.ts'
import { ApiKey, KeyName, NewApiKey } from './schema.ts'

const findsKey: Finds<{ namedKey: { readonly id: string } }> = async (ctx, { keyId }) => {
  const keys = await listKeys(ctx.db, ctx.workspace.id)
  const namedKey = keys.find(({ id }) => id === keyId?.toLowerCase())
  if (namedKey === undefined) throw notFound('key')
  return { namedKey }
}

/** List, create and revoke the API keys of the caller's own workspace; owners only. */
export const keyRoutes = router({
  list: route({
    method: 'GET',
    path: '/api/v1/keys',
    summary: 'List the API keys of the workspace, newest first, revoked ones included',
    input: z.object({}),
    output: z.object({ items: z.array(ApiKey.meta({ id: 'ApiKey' })) }),
    errors: ['forbidden'],
    gate: requireOwner,
  }).query(async ({ ctx }) => ({ items: await listKeys(ctx.db, ctx.workspace.id) })),

  create: route({
    method: 'POST',
    path: '/api/v1/keys',
    summary: 'Make an API key; the answer is the only time that it is shown',
    input: z.object({ name: KeyName }),
    output: NewApiKey.meta({ id: 'NewApiKey' }),
    status: 201,
    errors: ['forbidden', 'limit_reached', 'feature_not_in_plan'],
    gate: requireOwner,
  }).mutation(({ ctx, input }) => createKey(ctx, { workspace: ctx.workspace.id, name: input.name })),

  revoke: route({
    method: 'DELETE',
    path: '/api/v1/keys/{keyId}',
    summary: 'Revoke an API key, at once and for good',
    description: 'Its calls answer 401 from now on; streams and sessions that it opened end within 6 s.',
    input: z.object({ keyId: z.string().meta({ format: 'uuid', description: 'Id of the key' }) }),
    output: z.null(),
    errors: ['forbidden'],
    finds: findsKey,
    gate: requireOwner,
  }).mutation(async ({ ctx }) => {
    await revokeKey(ctx, { workspace: ctx.workspace.id, key: ctx.namedKey.id })
    return null
  }),
})
