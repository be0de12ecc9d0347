import type { Context } from '../api/context.ts'
import { run, statement } from '../platform/db/index.ts'

const SLUG_CHARACTERS_MAX = 40

/** Endpoints without a slug that get one at once, the oldest first. */
const UNNAMED_MAX = 10_000

const UNNAMED = statement(
  'endpoints without a slug',
  `select e.id as endpoint_id, e.name, null::text as slug from endpoints e
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

/** Gives slugs to endpoints. Those that have one, and slugs that are taken, are left out. */
const NAME = statement(
  'name event sources',
  `insert into event_sources (endpoint_id, workspace_id, slug)
  select x.endpoint_id, $1::uuid, x.slug
  from unnest($2::uuid[], $3::text[]) with ordinality as x (endpoint_id, slug, place) order by x.place
  on conflict do nothing`,
)

/** Gives a slug to each endpoint without one. If the slug is taken, the id is appended. Returns whether any was given. */
export async function nameSources(
  { db, workspace }: Pick<Context, 'db' | 'workspace'>,
  rows: readonly Named[],
): Promise<boolean> {
  const unnamed = rows.filter(({ slug }) => slug === null)
  if (unnamed.length === 0) return false
  const ids = unnamed.map(({ endpointId }) => endpointId)
  const slugs = unnamed.map(({ name }) => slugOf(name))
  await run(db, NAME, [workspace.id, ids, slugs])
  await run(db, NAME, [workspace.id, ids, slugs.map((slug, at) => `${slug}-${ids[at]?.slice(0, 8)}`)])
  return true
}

/** Gives slugs to the endpoints that no list has named yet. Returns whether any was given. */
export async function nameUnlisted(
  ctx: Pick<Context, 'db' | 'workspace' | 'onlyEndpointId'>,
): Promise<boolean> {
  const rows = await run(ctx.db, UNNAMED, [ctx.workspace.id, ctx.onlyEndpointId])
  return await nameSources(ctx, rows)
}
