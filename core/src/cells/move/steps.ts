import type { Db } from '../../platform/db/index.ts'
import { type MovedTable, query } from './tables.ts'

/** One of several statements that make one round trip. If it is a query, it gives one JSON value. */
export interface Step {
  /** SQL in which `$1` is the workspace, and `$2` what is given. */
  readonly text: string
  /** JSON. */
  readonly given?: string
}

/** Readies a session for {@link runSteps}. */
export async function prepareSteps(session: Db): Promise<void> {
  await query(
    session,
    `create or replace function pg_temp.run_steps(workspace uuid, texts text[], given text[])
    returns json[] language plpgsql as $$
    declare
      results json[] = '{}';
      result json;
    begin
      for n in 1 .. cardinality(texts) loop
        result = null;
        if texts[n] ~ '^(select|with) ' then execute texts[n] into result using workspace, given[n]::json;
        else execute texts[n] using workspace, given[n]::json;
        end if;
        results = array_append(results, result);
      end loop;
      return results;
    end $$`,
  )
}

/** Runs statements one after the other in one round trip, so that a database that is far takes no longer. */
export async function runSteps<Result = unknown>(
  session: Db,
  workspaceId: string,
  steps: readonly Step[],
): Promise<readonly (Result | null)[]> {
  if (steps.length === 0) return []
  const [row] = await query<{ results: readonly (Result | null)[] }>(
    session,
    'select pg_temp.run_steps($1, $2, $3) as results',
    [workspaceId, steps.map(({ text }) => text), steps.map(({ given }) => given ?? null)],
  )
  return row?.results ?? []
}

/** Deletes the rows of the workspace in a table. */
export const deletingAll = ({ name, condition }: MovedTable): Step => ({
  text: `delete from ${name} where ${condition}`,
})
