import * as Schema from '@effect/schema/Schema'
import type { InputIssue, ItemCode } from '../../issues.ts'

/** What is wrong with a value beyond its type; paths start at the value. Looks at any value, of any type. */
export type Evaluate = (value: unknown) => readonly InputIssue[]

/** Annotation of a filter: the evaluate that says more than yes or no. */
export const EVALUATE = Symbol('evaluate')
/** Annotation of a filter whose evaluate knows all about the value: what the schema below it says is left out. */
export const KNOWS_ALL = Symbol('knows all')
/** Annotation of a union: which member a value was meant to be, or what is wrong when none. */
export const CHOOSE = Symbol('choose')
/** Annotation of a literal: the code for text that is not one of its values. */
export const WRONG_WORD = Symbol('wrong word')

/** The member of a union that a value was meant to be: `op` of a step, the shape of an argument. */
export type Choose = (
  value: unknown,
) => { readonly member: Schema.Schema.AnyNoContext } | { readonly issue: InputIssue }

/** An issue with the value itself: its path is empty. */
export function issue(code: ItemCode, detail: string): InputIssue {
  return { path: [], code, detail }
}

/**
 * A schema with a evaluation on top.
 *
 * @param jsonSchema as much of the evaluation as JSON Schema can say
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

/** JSON's null, by its type: the library alone would write `{"enum":[null]}`. */
export const Null = Schema.Null.annotations({ jsonSchema: { type: 'null' } })

/**
 * Text of so many code points.
 *
 * @param pattern what JSON Schema says of the text besides; another check decides
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

/** A list of so many items. */
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

/** A member that may be left out; `undefined` and null are no values for it. */
export function absent<A, I>(schema: Schema.Schema<A, I>) {
  return Schema.optionalWith(schema, { exact: true })
}
