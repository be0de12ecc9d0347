import type { SelectQueryBuilder } from 'kysely'

/** The number of rows of a query that has selected nothing yet. */
export async function countOf<DB, Tables extends keyof DB>(
  query: SelectQueryBuilder<DB, Tables, object>,
): Promise<number> {
  const { count } = await query
    .select((of) => of.fn.countAll<number>().as('count'))
    .$castTo<{ readonly count: number }>()
    .executeTakeFirstOrThrow()
  return count
}
