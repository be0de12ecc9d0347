import { findNode, nodeIn, nodesIn, numberIn, type TreeNode, wordIn } from './nodeTree.ts'

/** Facts of the catalog that decide whether an expression may be null. */
export interface Catalog {
  /** `<table oid>.<column number>` of the columns that are not null. */
  readonly notNullColumns: ReadonlySet<string>
  /** Words that a check allows in a column, by its key as above. */
  readonly words: ReadonlyMap<string, readonly string[]>
  /** Names of PostgreSQL's own aggregates, window functions and strict functions, by their oids. */
  readonly functions: ReadonlyMap<number, string>
  /** Names of PostgreSQL's own strict operators, by their oids. */
  readonly operators: ReadonlyMap<number, string>
}

/** Operators that are null for a null operand, and for no others. */
const TOTAL_OPERATORS = new Set('= <> < <= > >= + - * / % || ~ !~ ~* !~* ~~ !~~ && @> <@'.split(' '))
/** Functions that are null for a null argument, and for no others; casts are among them. */
const TOTAL_FUNCTIONS = new Set(
  `abs bool bytea cardinality ceil char_length clock_timestamp convert_from convert_to date_trunc encode decode float8
  floor hashtextextended int2 int4 int8 length lower make_interval md5 nextval now numeric octet_length pg_advisory_lock
  pg_advisory_unlock pg_advisory_xact_lock pg_notify round sha256 starts_with statement_timestamp strpos
  substring text timestamptz translate upper`.split(/\s+/),
)
/** Window functions that are never null. */
const COUNTING = new Set(['count', 'row_number', 'rank', 'dense_rank'])
/** Aggregates that are not null over rows without null. */
const FOLDING = new Set(['sum', 'min', 'max', 'avg', 'bool_or', 'bool_and', 'array_agg', 'string_agg'])

/** Kinds of entries in a query's range table. */
const RELATION = 0
const SUBQUERY = 1
const JOIN = 2
const FUNCTION = 3
const CTE = 6
const GROUP = 9
const SELECT = 1

/** A query, and the queries around it from the inside to the outside. */
type Scope = readonly [TreeNode, ...TreeNode[]]

export interface Column {
  readonly name: string
  readonly mayBeNull: boolean
  /** Words that a check of its table allows. */
  readonly words: readonly string[] | undefined
  /**
   * Set if an outer join makes this column null together with the others of the same join: the name of the join.
   * `isNullInside`: whether it may be null also when the join finds a row.
   */
  readonly outer: { readonly join: string; readonly isNullInside: boolean } | null
}

/** The columns of a parsed statement, in their order. Conservative: a column that may be null by doubt may be null. */
export function columnsOf(query: TreeNode, catalog: Catalog): Column[] {
  const nullability = new Nullability(catalog)
  const scope: Scope = [query]
  return outputOf(query).map((entry, index) => {
    const expression = nodeIn(entry, 'expr')
    const join = expression === undefined ? undefined : nullability.outerJoinOf(expression)
    return {
      name: wordIn(entry, 'resname'),
      mayBeNull: !nullability.isColumnNotNull(scope, index),
      words: catalog.words.get(`${wordIn(entry, 'resorigtbl')}.${wordIn(entry, 'resorigcol')}`),
      outer:
        expression === undefined || join === undefined
          ? null
          : { join, isNullInside: !nullability.isNotNullInside(expression, scope, join) },
    }
  })
}

/** The columns that a query gives, in their order. */
function outputOf(query: TreeNode): TreeNode[] {
  const list = numberIn(query, 'commandType') === SELECT ? 'targetList' : 'returningList'
  return nodesIn(query, list).filter((entry) => wordIn(entry, 'resjunk') !== 'true')
}

/** Names the outer joins that make a variable null; undefined if there is none. */
function outerJoinOf(variable: TreeNode): string | undefined {
  const joins = variable.fields.get('varnullingrels')
  return Array.isArray(joins) && joins.length > 1 ? joins.slice(1).join('+') : undefined
}

class Nullability {
  readonly #catalog: Catalog
  /** Columns of recursive queries that are being looked at: they are not null if their other parts are not. */
  readonly #assumed = new Set<string>()
  /** The outer join of the whole statement that is supposed to find a row. */
  #found: string | undefined

  constructor(catalog: Catalog) {
    this.#catalog = catalog
  }

  isColumnNotNull(scope: Scope, index: number): boolean {
    const [query] = scope
    if (nodeIn(query, 'setOperations') !== undefined)
      return nodesIn(query, 'rtable')
        .map((entry) => nodeIn(entry, 'subquery'))
        .filter((part) => part !== undefined)
        .every((part) => this.isColumnNotNull([part, ...scope], index))
    const expression = nodeIn(outputOf(query)[index] ?? query, 'expr')
    return expression !== undefined && this.#isNotNull(expression, scope)
  }

  /** The outer join that alone makes an expression null; undefined if there is none. */
  outerJoinOf(node: TreeNode): string | undefined {
    if (node.tag === 'VAR') return numberIn(node, 'varlevelsup') === 0 ? outerJoinOf(node) : undefined
    if (!this.#isTotal(node)) return undefined
    const joins = new Set(nodesIn(node, 'args').map((one) => this.outerJoinOf(one)))
    joins.delete(undefined)
    return joins.size === 1 ? [...joins][0] : undefined
  }

  /** Whether an expression is not null in the rows that an outer join of the whole statement finds. */
  isNotNullInside(node: TreeNode, scope: Scope, join: string): boolean {
    this.#found = join
    const isNotNull = this.#isNotNull(node, scope)
    this.#found = undefined
    return isNotNull
  }

  #isVariableNotNull(variable: TreeNode, scope: Scope): boolean {
    const level = numberIn(variable, 'varlevelsup')
    const [query, ...around] = scope.slice(level)
    if (query === undefined) return false
    const column = numberIn(variable, 'varattno')
    // The whole row, and system columns.
    if (column <= 0) return true
    const entry = nodesIn(query, 'rtable')[numberIn(variable, 'varno') - 1]
    return entry !== undefined && this.#isEntryNotNull(entry, column, [query, ...around])
  }

  #isEntryNotNull(entry: TreeNode, column: number, scope: Scope): boolean {
    const of = (list: string) => {
      const expression = nodesIn(entry, list)[column - 1]
      return expression !== undefined && this.#isNotNull(expression, scope)
    }
    switch (numberIn(entry, 'rtekind')) {
      case RELATION:
        return this.#catalog.notNullColumns.has(`${wordIn(entry, 'relid')}.${column}`)
      case SUBQUERY: {
        const query = nodeIn(entry, 'subquery')
        return query !== undefined && this.isColumnNotNull([query, ...scope], column - 1)
      }
      case JOIN:
        return of('joinaliasvars')
      case GROUP:
        return of('groupexprs')
      case FUNCTION:
        return wordIn(entry, 'funcordinality') === 'true' && column === columnCountOf(entry)
      case CTE:
        return this.#isCteNotNull(entry, column, scope)
      default:
        return false
    }
  }

  #isCteNotNull(entry: TreeNode, column: number, scope: Scope): boolean {
    const name = wordIn(entry, 'ctename')
    const [owner, ...around] = scope.slice(numberIn(entry, 'ctelevelsup'))
    const cte = owner && nodesIn(owner, 'cteList').find((one) => wordIn(one, 'ctename') === name)
    const query = cte && nodeIn(cte, 'ctequery')
    if (owner === undefined || query === undefined) return false
    const key = `${name}.${column}`
    if (this.#assumed.has(key)) return true
    this.#assumed.add(key)
    const isNotNull = this.isColumnNotNull([query, owner, ...around], column - 1)
    this.#assumed.delete(key)
    return isNotNull
  }

  #isNotNull(node: TreeNode, scope: Scope): boolean {
    const all = (list: string) => nodesIn(node, list).every((one) => this.#isNotNull(one, scope))
    const some = (list: string) => nodesIn(node, list).some((one) => this.#isNotNull(one, scope))
    const is = (field: string) => {
      const part = nodeIn(node, field)
      return part !== undefined && this.#isNotNull(part, scope)
    }
    switch (node.tag) {
      case 'VAR':
        return this.#isJoined(node, scope) && this.#isVariableNotNull(node, scope)
      case 'CONST':
        return wordIn(node, 'constisnull') !== 'true'
      case 'AGGREF':
        return this.#isAggregateNotNull(node, scope)
      case 'WINDOWFUNC':
        return COUNTING.has(this.#functionOf(node, 'winfnoid'))
      case 'FUNCEXPR':
      case 'OPEXPR':
        return this.#isTotal(node) && all('args')
      case 'BOOLEXPR':
        return all('args')
      case 'COALESCEEXPR':
      case 'MINMAXEXPR':
        return some('args')
      case 'CASEEXPR':
        return is('defresult') && all('args')
      case 'CASEWHEN':
        return is('result')
      case 'RELABELTYPE':
      case 'COERCEVIAIO':
      case 'ARRAYCOERCEEXPR':
      case 'COLLATEEXPR':
      case 'COERCETODOMAIN':
        return is('arg')
      case 'NULLTEST':
      case 'BOOLEANTEST':
      case 'DISTINCTEXPR':
      case 'ARRAYEXPR':
      case 'ROWEXPR':
      case 'SQLVALUEFUNCTION':
        return true
      case 'SUBLINK':
        return this.#isSublinkNotNull(node, scope)
      default:
        return false
    }
  }

  #isTotal(node: TreeNode): boolean {
    if (node.tag === 'FUNCEXPR') return TOTAL_FUNCTIONS.has(this.#functionOf(node, 'funcid'))
    const operator = this.#catalog.operators.get(numberIn(node, 'opno')) ?? ''
    return node.tag === 'OPEXPR' && TOTAL_OPERATORS.has(operator)
  }

  /** Whether no outer join makes a variable null. */
  #isJoined(variable: TreeNode, scope: Scope): boolean {
    const join = outerJoinOf(variable)
    return join === undefined || (join === this.#found && scope.length === 1)
  }

  #isAggregateNotNull(node: TreeNode, scope: Scope): boolean {
    const name = this.#functionOf(node, 'aggfnoid')
    if (name === 'count') return true
    const [query] = scope
    const hasRows = nodesIn(query, 'groupClause').length > 0 && nodeIn(node, 'aggfilter') === undefined
    const areNotNull = nodesIn(node, 'args').every((argument) => {
      const expression = nodeIn(argument, 'expr')
      return expression !== undefined && this.#isNotNull(expression, scope)
    })
    return hasRows && FOLDING.has(name) && areNotNull
  }

  /** `exists (…)` and `array(…)` are never null. A query for one value is not, if it has exactly one row. */
  #isSublinkNotNull(node: TreeNode, scope: Scope): boolean {
    const kind = numberIn(node, 'subLinkType')
    const query = nodeIn(node, 'subselect')
    if (kind === EXISTS || kind === ARRAY) return true
    if (kind !== EXPR || query === undefined) return false
    return hasOneRow([query, ...scope]) && this.isColumnNotNull([query, ...scope], 0)
  }

  #functionOf(node: TreeNode, field: string): string {
    return this.#catalog.functions.get(numberIn(node, field)) ?? ''
  }
}

/** Kinds of queries within an expression. */
const EXISTS = 0
const EXPR = 4
const ARRAY = 6

/** Columns of an entry, from the names in `eref`. */
function columnCountOf(entry: TreeNode): number {
  const eref = nodeIn(entry, 'eref')
  const names = eref?.fields.get('colnames')
  return Array.isArray(names) ? names.length : 0
}

/** Whether a query gives exactly one row: an aggregate of all, or expressions over queries that do. */
function hasOneRow(scope: Scope): boolean {
  const [query] = scope
  const stopped = [
    'setOperations',
    'havingQual',
    'limitCount',
    'limitOffset',
    'distinctClause',
    'groupClause',
  ]
  if (numberIn(query, 'commandType') !== SELECT) return false
  if (stopped.some((field) => query.fields.get(field) !== null)) return false
  if (wordIn(query, 'hasAggs') === 'true') return true
  const from = nodeIn(query, 'jointree')
  if (from === undefined || nodeIn(from, 'quals') !== undefined) return false
  if (wordIn(query, 'hasTargetSRFs') === 'true') return false
  return nodesIn(from, 'fromlist').every((item) => {
    const entry = nodesIn(query, 'rtable')[numberIn(item, 'rtindex') - 1]
    if (item.tag !== 'RANGETBLREF' || entry === undefined) return false
    const subquery = nodeIn(entry, 'subquery')
    if (subquery !== undefined) return hasOneRow([subquery, ...scope])
    const [owner, ...around] = scope.slice(numberIn(entry, 'ctelevelsup'))
    const name = wordIn(entry, 'ctename')
    const cte = owner && nodesIn(owner, 'cteList').find((one) => wordIn(one, 'ctename') === name)
    const ctequery = cte === undefined ? undefined : nodeIn(cte, 'ctequery')
    if (owner === undefined || cte === undefined || ctequery === undefined) return false
    return wordIn(cte, 'cterecursive') !== 'true' && hasOneRow([ctequery, owner, ...around])
  })
}

export function queryIn(tree: Parameters<typeof findNode>[0]): TreeNode {
  const query = findNode(tree, 'QUERY')
  if (query === undefined) throw new Error('PostgreSQL gave no parsed statement.')
  return query
}
