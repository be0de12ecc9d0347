import type { Context } from '../api/context.ts'
import type { Db } from '../platform/db/index.ts'

const SLUG_CHARACTERS_MAX = 40

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
      const unique = `${slug}-${endpointId.slice(0, 8)}`
      await addSource(db, { endpointId, workspaceId: workspace.id, slug: unique })
    }
  }
  return unnamed.length > 0
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
