import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Condition, Leaf, Test } from '../engine/conditions/index.ts'
import { isStorable } from '../engine/issues.ts'

type Narrowing = RawBuilder<SqlBool>

/**
 * SQL that is true for every stored request (`requests as r`) that satisfies the condition. PostgreSQL skips rows that
 * cannot match, so that few bodies are read. It may be true for other rows too: evaluate the condition on them.
 *
 * @returns null if no such SQL is known
 */
export function narrowing(condition: Condition): Narrowing | null {
  return ofTest(condition.test)
}

/** SQL of whether a stored request may have an encoded body, which PostgreSQL cannot read. */
export const MAY_BE_ENCODED = sql<SqlBool>`strpos(lower(r.header_names), 'content-encoding') > 0`

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
  const { path, op } = leaf
  // These operators are true if the path is missing.
  if (op === 'neq' || op === 'nin' || (op === 'exists' && leaf.value === false)) return null
  const texts = searchedTexts(leaf)
  switch (path.root) {
    case 'fact': {
      const column = FACT_COLUMNS[path.fact]
      const isExact = op === 'eq' || op === 'in'
      return column !== undefined && isExact && texts !== null ? sql`${column} = any(${texts}::text[])` : null
    }
    case 'headers':
      return texts === null
        ? sql`strpos(lower(r.header_names), ${path.name.toLowerCase()}) > 0`
        : anyOf(texts, (text) => sql`position(${bytesOf(text)}::bytea in r.header_values) > 0`)
    case 'query': {
      const found = texts && anyOf(texts, (text) => sql`strpos(r.query_string, ${text}) > 0`)
      // The text may be escaped in the query.
      return found && sql`(${found} or r.query_string ~ '[%+]')`
    }
    case 'body': {
      const found = texts && anyOf(texts, isInBody)
      if (path.segments.length === 0) return found && sql`(${found} or ${MAY_BE_ENCODED})`
      const names = path.segments.filter((name) => typeof name === 'string' && isUsable(name)).map(String)
      const needed = found === null ? names.map(isInBody) : [found]
      if (needed.length === 0) return null
      return sql`(${sql.join(needed, sql` and `)} or position('\\x5c'::bytea in r.body) > 0
        or r.content_type ilike '%x-www-form-urlencoded%' or ${MAY_BE_ENCODED})`
    }
  }
}

function anyOf(texts: readonly string[], isFound: (text: string) => Narrowing): Narrowing {
  return sql`(${sql.join(texts.map(isFound), sql` or `)})`
}

function isInBody(text: string): Narrowing {
  return sql`position(${bytesOf(text)}::bytea in r.body) > 0`
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text, 'utf8')
}

/** Literal texts of which one must occur in the value; null if the leaf does not test for literal text. */
function searchedTexts({ op, value, ignoreCase, path }: Leaf): string[] | null {
  if (ignoreCase || !['eq', 'in', 'startsWith', 'endsWith', 'contains'].includes(op)) return null
  const texts = op === 'in' && Array.isArray(value) ? value : [value]
  const usable = texts.filter((text): text is string => typeof text === 'string' && isUsable(text))
  if (usable.length < texts.length || usable.length === 0) return null
  // A header value may be spelled in UTF-8 or latin1: only ASCII looks the same in both.
  return path.root === 'headers' && !usable.every((text) => /^[\x20-\x7e]*$/.test(text)) ? null : usable
}

/** Whether a search for the text is useful: every text contains the empty one. */
function isUsable(text: string): boolean {
  return text !== '' && isStorable(text)
}
