import { CamelCasePlugin, type PluginTransformResultArgs, type QueryResult, type UnknownRow } from 'kysely'

/**
 * Columns in snake_case, members in camelCase. What a column holds stays as it is: Kysely's own plugin asks of every value
 * whether it holds names, and looks up the name of every value, which for a page of rows takes three times as long.
 */
class MemberNames extends CamelCasePlugin {
  override async transformResult({ result }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> {
    return { ...result, rows: this.mapRows(result.rows) }
  }

  /** @param rows of one result, which all have the same columns */
  mapRows(rows: readonly UnknownRow[]): UnknownRow[] {
    const columns = Object.keys(rows[0] ?? {}).map((column) => [column, this.camelCase(column)] as const)
    // A statement may say itself what its members are called.
    if (columns.every(([column, member]) => column === member)) return [...rows]
    return rows.map((row) => {
      const mapped: UnknownRow = {}
      for (const [column, member] of columns) mapped[member] = row[column]
      return mapped
    })
  }
}

/** How our tables are called in SQL, and how in TypeScript. */
export const memberNames = new MemberNames()
