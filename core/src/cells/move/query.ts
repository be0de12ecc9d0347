import { CompiledQuery } from 'kysely'
import type { Db } from '../../platform/db/index.ts'

/** Runs a statement whose table is only known at run time. */
export async function query<Row>(
  db: Db,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Row[]> {
  return (await db.executeQuery<Row>(CompiledQuery.raw(text, [...values]))).rows
}
