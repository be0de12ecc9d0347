import pg from 'pg'

/** A statement that was sent on a connection. */
export interface RecordedStatement {
  readonly text: string
  readonly values: readonly unknown[]
  /** How often it was sent. */
  readonly times: number
}

/** Execution of a statement: its nodes with their indexes, from the top down, and the pages and rows that it read. */
export interface Execution {
  readonly nodes: readonly string[]
  /** Rows that scans of the tables read, those that their filters dropped with them. */
  readonly rows: ReadonlyMap<string, number>
  readonly buffers: number
}

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Scan Direction'?: string
  readonly 'Index Name'?: string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows'?: number
  readonly 'Actual Loops'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Shared Hit Blocks'?: number
  readonly 'Shared Read Blocks'?: number
  readonly Plans?: readonly PlanNode[]
}

/** Records the statements of every connection that this process opens from now on. */
export interface StatementRecorder {
  /**
   * Runs `work` and returns the statements that were sent meanwhile, each text once, with the values of its first use.
   */
  during(work: () => Promise<unknown>): Promise<readonly RecordedStatement[]>
}

/** Starts recording. Must be called before the first connection is opened, since each keeps its `query`. */
export function recordStatements(): StatementRecorder {
  let seen = new Map<string, RecordedStatement>()
  const note = (query: unknown, second: unknown) => {
    const config = typeof query === 'object' && query !== null ? query : { text: query, values: second }
    const text: unknown = Reflect.get(config, 'text')
    const values: unknown = Reflect.get(config, 'values') ?? second
    if (typeof text !== 'string') return
    const before = seen.get(text)
    const first: readonly unknown[] = Array.isArray(values) ? values : []
    seen.set(text, { text, values: before?.values ?? first, times: (before?.times ?? 0) + 1 })
  }
  pg.Client.prototype.query = new Proxy(pg.Client.prototype.query, {
    apply(target, client, args) {
      note(args[0], args[1])
      return Reflect.apply(target, client, args)
    },
  })
  return {
    async during(work) {
      seen = new Map()
      await work()
      return [...seen.values()]
    },
  }
}

/** Executes a statement again, with its values, and rolls it back. */
export async function explain(
  pool: pg.Pool,
  { text, values }: Pick<RecordedStatement, 'text' | 'values'>,
): Promise<Execution> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const answer = await client.query(`explain (analyze, buffers, timing off, format json) ${text}`, [
      ...values,
    ])
    const top: PlanNode = answer.rows[0]['QUERY PLAN'][0].Plan
    const rows = new Map<string, number>()
    countRows(top, rows)
    return {
      nodes: nodesOf(top),
      rows,
      buffers: (top['Shared Hit Blocks'] ?? 0) + (top['Shared Read Blocks'] ?? 0),
    }
  } finally {
    await client.query('rollback')
    client.release()
  }
}

function nodesOf(node: PlanNode): string[] {
  const name = [node['Node Type'], node['Scan Direction'], node['Index Name'] ?? node['Relation Name']]
  return [name.filter((part) => part !== undefined).join(' '), ...(node.Plans ?? []).flatMap(nodesOf)]
}

function countRows(node: PlanNode, into: Map<string, number>): void {
  const table = node['Relation Name']
  const once = (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)
  if (table !== undefined && node['Node Type'].includes('Scan'))
    into.set(table, (into.get(table) ?? 0) + once * (node['Actual Loops'] ?? 1))
  for (const child of node.Plans ?? []) countRows(child, into)
}
