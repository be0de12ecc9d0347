import {
  CamelCasePlugin,
  type KyselyPlugin,
  type PluginTransformQueryArgs,
  type PluginTransformResultArgs,
  type QueryResult,
  type RootOperationNode,
  type UnknownRow,
} from 'kysely'

/**
 * Maps columns in snake_case to members in camelCase. Values stay unchanged: Kysely's own plugin checks every value for
 * names, and looks up the name of every value, which for a page of rows takes three times as long.
 */
class MemberNames extends CamelCasePlugin {
  override async transformResult({ result }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> {
    return { ...result, rows: this.mapRows(result.rows) }
  }

  /** @param rows of one result, which all have the same columns */
  mapRows(rows: readonly UnknownRow[]): UnknownRow[] {
    const columns = Object.keys(rows[0] ?? {}).map((column) => [column, this.camelCase(column)] as const)
    // A statement may name its columns in camelCase itself.
    if (columns.every(([column, member]) => column === member)) return [...rows]
    return rows.map((row) => {
      const mapped: UnknownRow = {}
      for (const [column, member] of columns) mapped[member] = row[column]
      return mapped
    })
  }
}

/** Maps names between SQL and TypeScript. */
export const memberNames = new MemberNames()

/** Opens rows of one result in place. */
export type OpenRows = (rows: readonly UnknownRow[]) => void

/** Opens the sealed members of rows when they are read. */
export class SealedRows implements KyselyPlugin {
  open: OpenRows = () => {}

  transformQuery({ node }: PluginTransformQueryArgs): RootOperationNode {
    return node
  }

  async transformResult({ result }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> {
    this.open(result.rows)
    return result
  }
}
