import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Condition, Leaf, Test } from '../conditions/index.ts'

type Narrowing = RawBuilder<SqlBool>

/**
 * What every stored request (`requests as r`) that satisfies the condition also satisfies in SQL: lets Postgres
 * pass over rows that cannot match, so that few bodies are read. It may let others through; `matches` has the
 * last word.
 *
 * @returns null when nothing can be said
 */
export function narrowing(condition: Condition): Narrowing | null {
  return ofTest(condition.test)
}

/** Which of the columns that are costly to read a condition looks at. */
export function columnsRead(condition: Condition): { headers: boolean; body: 'no' | 'parsed' | 'whole' } {
  const read: { headers: boolean; body: 'no' | 'parsed' | 'whole' } = { headers: false, body: 'no' }
  const visit = (test: Test): void => {
    if (test.kind === 'all' || test.kind === 'any') test.tests.forEach(visit)
    if (test.kind === 'not') visit(test.test)
    if (test.kind !== 'leaf') return
    if (test.path.root === 'headers') read.headers = true
    if (test.path.root !== 'body') return
    if (test.path.segments.length === 0) read.body = 'whole'
    else if (read.body === 'no') read.body = 'parsed'
  }
  visit(condition.test)
  return read
}

function ofTest(test: Test): Narrowing | null {
  switch (test.kind) {
    case 'all': {
      const known = test.tests.map(ofTest).filter((inner) => inner !== null)
      return known.length === 0 ? null : sql`(${sql.join(known, sql` and `)})`
    }
    case 'any': {
      const known = test.tests.map(ofTest).filter((inner) => inner !== null)
      return known.length < test.tests.length ? null : sql`(${sql.join(known, sql` or `)})`
    }
    case 'leaf':
      return ofLeaf(test)
    default:
      return null
  }
}

const FACT_COLUMNS: Readonly<Record<string, RawBuilder<string>>> = {
  method: sql`r.method`,
  path: sql`r.path`,
  label: sql`r.label`,
  contentType: sql`r.content_type`,
  ip: sql`r.ip`,
  'verification.verdict': sql`r.verdict`,
}

function ofLeaf(leaf: Leaf): Narrowing | null {
  const texts = searchedTexts(leaf)
  if (texts === null) return null
  const { path } = leaf
  if (path.root === 'fact') {
    const column = FACT_COLUMNS[path.fact]
    const isExact = leaf.op === 'eq' || leaf.op === 'in'
    return column !== undefined && isExact ? sql`${column} = any(${texts}::text[])` : null
  }
  return sql`(${sql.join(
    texts.map((text) => ofText(path.root, path.root === 'body' && path.segments.length > 0, text)),
    sql` or `,
  )})`
}

/** The literal texts of which one must occur in the value; null when the leaf is not about literal text. */
function searchedTexts({ op, value, ignoreCase, path }: Leaf): string[] | null {
  if (ignoreCase) return null
  const texts = op === 'in' && Array.isArray(value) ? value : [value]
  if (!['eq', 'in', 'startsWith', 'endsWith', 'contains'].includes(op)) return null
  const usable = texts.filter((text): text is string => typeof text === 'string' && isUsable(text, path.root))
  return usable.length === texts.length && usable.length > 0 ? usable : null
}

function isUsable(text: string, root: Leaf['path']['root']): boolean {
  // Postgres holds no NUL. Header values are bytes of either spelling: only ASCII is spelled one way.
  if (text === '' || text.includes('\0') || !text.isWellFormed()) return root === 'fact' && text === ''
  return root !== 'headers' || /^[\x20-\x7e]*$/.test(text)
}

/** Where the text stands as it is, or where an escape may hide it. */
function ofText(root: Leaf['path']['root'], isDocument: boolean, text: string): Narrowing {
  const bytes = Buffer.from(text, 'utf8')
  if (root === 'headers') return sql`position(${bytes}::bytea in r.header_values) > 0`
  if (root === 'query') return sql`(strpos(r.query_string, ${text}) > 0 or r.query_string ~ '[%+]')`
  if (!isDocument) return sql`position(${bytes}::bytea in r.body) > 0`
  return sql`(position(${bytes}::bytea in r.body) > 0 or position('\\x5c'::bytea in r.body) > 0
    or r.content_type ilike '%x-www-form-urlencoded%')`
}
