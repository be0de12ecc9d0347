import type { AST } from '@effect/schema/AST'
import type * as ParseResult from '@effect/schema/ParseResult'
import * as Schema from '@effect/schema/Schema'
import { type InputIssue, ITEM_CODES, valueAt } from '../../issues.ts'
import { CHOOSE, type Choose, EVALUATE, type Evaluate, KNOWS_ALL, WRONG_WORD } from './evaluated.ts'

type Path = readonly (string | number)[]

/** All errors are reported, unknown members are errors, and an absent member is not `undefined`. */
const OPTIONS = { errors: 'all', onExcessProperty: 'error', exact: true } as const

/** Every wrong part of a value, by a schema of this room; paths start at the value. Empty when the value is valid. */
export function issuesBySchema(
  schema: Schema.Schema.AnyNoContext,
  value: unknown,
  path: Path = [],
): InputIssue[] {
  const decoded = Schema.decodeUnknownEither(schema, OPTIONS)(value)
  if (decoded._tag === 'Right') return []
  const issues = issuesOf(decoded.left.issue, value, path)
  return issues.length > 0 ? issues : [{ path, code: 'type', detail: 'This is not valid here.' }]
}

function issuesOf(issue: ParseResult.ParseIssue, value: unknown, path: Path): InputIssue[] {
  const choose =
    issue._tag === 'Composite' || issue._tag === 'Type' ? annotation<Choose>(issue.ast, CHOOSE) : undefined
  if (choose !== undefined) {
    const chosen = choose(value)
    if ('member' in chosen) return issuesBySchema(chosen.member, value, path)
    return [{ ...chosen.issue, path: [...path, ...chosen.issue.path] }]
  }
  if (issue._tag === 'Composite' && literalsOf(issue.ast).length > 0)
    return [wrongType(issue.ast, value, path)]
  switch (issue._tag) {
    case 'Pointer': {
      const steps = pathOf(issue.path)
      return issuesOf(issue.issue, valueAt(value, steps), [...path, ...steps])
    }
    case 'Composite':
      return several(issue.issues).flatMap((each) => issuesOf(each, value, path))
    case 'Refinement':
      return evaluation(issue, value, path)
    case 'Transformation':
      return issuesOf(issue.issue, value, path)
    case 'Missing':
      return [{ path, code: 'required', detail: `"${lastOf(path)}" is required.` }]
    case 'Unexpected':
      return [{ path, code: 'unknown_field', detail: `"${lastOf(path)}" is not a member of this object.` }]
    case 'Type':
    case 'Forbidden':
      return [wrongType(issue.ast, value, path)]
  }
}

function evaluation(issue: ParseResult.Refinement, value: unknown, path: Path): InputIssue[] {
  const evaluate = annotation<Evaluate>(issue.ast, EVALUATE)
  const own = (evaluate?.(value) ?? []).map((each) => ({ ...each, path: [...path, ...each.path] }))
  const below =
    issue.kind === 'From' && issue.ast.annotations[KNOWS_ALL] !== true
      ? issuesOf(issue.issue, value, path)
      : []
  return [...own, ...below]
}

function wrongType(ast: AST, value: unknown, path: Path): InputIssue {
  const words = literalsOf(ast)
  if (words.length === 0) return { path, code: 'type', detail: `${nameOf(ast)} is needed here.` }
  const wanted = words.map((word) => JSON.stringify(word)).join(', ')
  if (words.some((word) => typeof word === typeof value)) {
    const code = ITEM_CODES.find((known) => known === ast.annotations[WRONG_WORD]) ?? 'unknown_value'
    const shown = JSON.stringify(typeof value === 'string' ? value.slice(0, 40) : value)
    return { path, code, detail: `${shown} is not ${words.length === 1 ? wanted : `one of ${wanted}`}.` }
  }
  return { path, code: 'type', detail: `${words.length === 1 ? wanted : 'Text'} is needed here.` }
}

/** The values of a literal, or of a union of literals; none for anything else. */
function literalsOf(ast: AST): readonly unknown[] {
  if (ast._tag === 'Literal') return [ast.literal]
  if (ast._tag !== 'Union') return []
  const literals = ast.types.flatMap(literalsOf)
  return literals.length === ast.types.length ? literals : []
}

function nameOf(ast: AST): string {
  switch (ast._tag) {
    case 'StringKeyword':
      return 'Text'
    case 'NumberKeyword':
      return 'A number'
    case 'BooleanKeyword':
      return 'true or false'
    case 'TupleType':
      return 'A list'
    case 'TypeLiteral':
      return 'An object'
    case 'Union': {
      const known = ast.types.find((type) => type._tag !== 'UndefinedKeyword')
      return known === undefined ? 'Another value' : nameOf(known)
    }
    case 'Refinement':
      return nameOf(ast.from)
    default:
      return 'Another value'
  }
}

function annotation<T>(ast: AST, key: symbol): T | undefined {
  // Only this room sets these annotations, through evaluated.ts, which gives them this type.
  return ast.annotations[key] as T | undefined
}

function several(
  issues: ParseResult.SingleOrNonEmpty<ParseResult.ParseIssue>,
): readonly ParseResult.ParseIssue[] {
  return Array.isArray(issues) ? issues : [issues as ParseResult.ParseIssue]
}

function pathOf(path: ParseResult.Path): (string | number)[] {
  const parts: readonly PropertyKey[] = Array.isArray(path) ? path : [path as PropertyKey]
  return parts.map((part) => (typeof part === 'number' ? part : String(part)))
}

function lastOf(path: Path): string {
  return String(path.at(-1) ?? '').slice(0, 40)
}
