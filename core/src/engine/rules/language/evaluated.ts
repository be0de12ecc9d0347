import * as Schema from '@effect/schema/Schema'
import type { InputIssue, ItemCode } from '../../issues.ts'

/** Finds issues of a value beyond its type; paths start at the value. Takes a value of any type. */
export type Evaluate = (value: unknown) => readonly InputIssue[]

/** Annotation of a filter: its `Evaluate`, which says more than yes or no. */
export const EVALUATE = Symbol('evaluate')
/** Annotation of a filter whose `Evaluate` finds every issue: those of the schema below it are left out. */
export const KNOWS_ALL = Symbol('knows all')
/** Annotation of a union: a `Choose`, which finds the member that a value was meant to be. */
export const CHOOSE = Symbol('choose')
/** Annotation of a literal: the code for text that is not one of its values. */
export const WRONG_WORD = Symbol('wrong word')

/**
 * Finds the member of a union that a value was meant to be, by `op` of a step or the shape of an argument; else an
 * issue.
 */
export type Choose = (
  value: unknown,
) => { readonly member: Schema.Schema.AnyNoContext } | { readonly issue: InputIssue }

/** An issue with the value itself: its path is empty. */
export function issue(code: ItemCode, detail: string): InputIssue {
  return { path: [], code, detail }
}

/**
 * Adds an evaluation to a schema.
 *
 * @param jsonSchema the part of the evaluation that JSON Schema can express
 */
export function evaluated<A, I>(
  schema: Schema.Schema<A, I>,
  evaluate: Evaluate,
  jsonSchema: object = {},
  annotations: Readonly<Record<symbol, unknown>> = {},
): Schema.Schema<A, I> {
  return schema.pipe(
    Schema.filter((value) => evaluate(value).length === 0, {
      jsonSchema,
      [EVALUATE]: evaluate,
      ...annotations,
    }),
  )
}

/** JSON's null, by its type: by default the library writes `{"enum":[null]}`. */
export const Null = Schema.Null.annotations({ jsonSchema: { type: 'null' } })

/**
 * Text with at least `least` and at most `most` code points.
 *
 * @param pattern for JSON Schema only; another check decides
 */
export function text(least: number, most: number, pattern?: string): Schema.Schema<string> {
  return evaluated(
    Schema.String,
    (value) => {
      if (typeof value !== 'string') return []
      if ([...value.slice(0, least)].length < least)
        return [issue('too_short', `At least ${least} character is needed.`)]
      if (value.length <= most || [...value].length <= most) return []
      return [issue('too_long', `At most ${most} characters are allowed.`)]
    },
    {
      ...(least > 0 ? { minLength: least } : {}),
      maxLength: most,
      ...(pattern === undefined ? {} : { pattern }),
    },
  )
}

/** A list with at least `least` and at most `most` items. */
export function list<A, I>(
  item: Schema.Schema<A, I>,
  least: number,
  most: number,
): Schema.Schema<readonly A[], readonly I[]> {
  return evaluated(
    Schema.Array(item),
    (value) => {
      if (!Array.isArray(value)) return []
      if (value.length < least) return [issue('too_short', `At least ${least} item is needed.`)]
      return value.length > most ? [issue('too_many', `At most ${most} items are allowed.`)] : []
    },
    { ...(least > 0 ? { minItems: least } : {}), maxItems: most },
  )
}

/** A member that may be left out; neither `undefined` nor null is a value for it. */
export function absent<A, I>(schema: Schema.Schema<A, I>) {
  return Schema.optionalWith(schema, { exact: true })
}
