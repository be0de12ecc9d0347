import type { Context } from '../api/context.ts'
import { type Db, run, statement } from '../platform/db/index.ts'

const SLUG_CHARACTERS_MAX = 40

/** Endpoints without a slug that are looked at for one name, the oldest first. */
const UNNAMED_MAX = 10_000

const UNNAMED = statement(
  'endpoints without a slug',
  `select e.id as endpoint_id, e.name from endpoints e
  where e.workspace_id = $1::uuid and e.deleted_at is null and ($2::uuid is null or e.id = $2::uuid)
    and not exists (select from event_sources s where s.endpoint_id = e.id)
  order by e.created_at, e.id limit ${UNNAMED_MAX}`,
)

/** An endpoint, and the slug that it has. */
interface Named {
  readonly endpointId: string
  readonly name: string
  readonly slug: string | null
}

/** Slug of an endpoint's name: lower-case letters, digits and dashes, 40 characters at most; never empty. */
function slugOf(name: string): string {
  const slug = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_CHARACTERS_MAX)
    .replaceAll(/^-+|-+$/g, '')
  return slug === '' ? 'endpoint' : slug
}

const withId = (slug: string, endpointId: string) => `${slug}-${endpointId.slice(0, 8)}`

/** Gives a slug to each endpoint without one. If the slug is taken, the id is appended. Returns whether any was given. */
export async function nameSources(
  { db, workspace }: Pick<Context, 'db' | 'workspace'>,
  rows: readonly Named[],
): Promise<boolean> {
  const unnamed = rows.filter(({ slug }) => slug === null)
  for (const { endpointId, name } of unnamed) {
    const slug = slugOf(name)
    const added = await addSource(db, { endpointId, workspaceId: workspace.id, slug })
    if (!added) {
      await addSource(db, { endpointId, workspaceId: workspace.id, slug: withId(slug, endpointId) })
    }
  }
  return unnamed.length > 0
}

/**
 * Gives a slug to the endpoints that no list has named yet, where it may be the one that a caller asks for. Returns
 * whether any was given.
 */
export async function nameAskedFor(
  ctx: Pick<Context, 'db' | 'workspace' | 'onlyEndpointId'>,
  asked: string,
): Promise<boolean> {
  const unnamed = await run(ctx.db, UNNAMED, [ctx.workspace.id, ctx.onlyEndpointId])
  const rows = unnamed.filter(({ endpointId, name }) => {
    const slug = slugOf(name)
    return asked === slug || asked === withId(slug, endpointId)
  })
  return await nameSources(
    ctx,
    rows.map((row) => ({ ...row, slug: null })),
  )
}

async function addSource(
  db: Db,
  row: { endpointId: string; workspaceId: string; slug: string },
): Promise<boolean> {
  const added = await db
    .insertInto('eventSources')
    .values(row)
    .onConflict((on) => on.doNothing())
    .returning('slug')
    .executeTakeFirst()
  return added !== undefined
}
