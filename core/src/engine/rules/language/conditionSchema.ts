import * as Schema from '@effect/schema/Schema'
import { CONDITION_BOUNDS, MAX_PATH_LENGTH, parseCondition, pathPattern } from '../../conditions/index.ts'
import { isPlainObject } from '../../json/index.ts'
import { absent, evaluated, issue, KNOWS_ALL, list, Null, text } from './evaluated.ts'

const { groupItems, listItems, textLength, likeLength, likeStars } = CONDITION_BOUNDS

const path = text(0, MAX_PATH_LENGTH, pathPattern({ every: true, deliveryFacts: false })).annotations({
  description: 'A path like body.type, headers.X-Env or query.page.',
})
const ignoreCase = absent(Schema.Boolean)

/** Any JSON value. Its length is bounded if it is a text. */
const comparable = Schema.Unknown.annotations({
  jsonSchema: {
    anyOf: [
      { type: 'string', maxLength: textLength },
      ...['number', 'boolean', 'null'].map((type) => ({ type })),
      { type: 'array', items: {} },
      { type: 'object' },
    ],
  },
})

const DATE_TIME =
  '^\\d{4}-\\d{2}-\\d{2}(?:[Tt]\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,30})?)?(?:[Zz]|[+-]\\d{2}:\\d{2}))?$'
const LIKE = `^(\\\\\\*|[^*])*(\\*(\\\\\\*|[^*])*){0,${likeStars}}$`

/**
 * The condition language as JSON Schema. `parseCondition` decides: it is the only implementation, for actions and
 * watchdogs, too. A test checks that the two agree.
 */
const Leaf = Schema.Union(
  Schema.Struct({ path, op: Schema.Literal('eq', 'neq', 'contains'), value: comparable, ignoreCase }),
  Schema.Struct({ path, op: Schema.Literal('in', 'nin'), value: list(comparable, 0, listItems), ignoreCase }),
  Schema.Struct({
    path,
    op: Schema.Literal('gt', 'gte', 'lt', 'lte'),
    value: Schema.Union(
      Schema.Number,
      Schema.String.annotations({ jsonSchema: { type: 'string', pattern: DATE_TIME } }),
    ),
    ignoreCase,
  }),
  Schema.Struct({
    path,
    op: Schema.Literal('startsWith', 'endsWith'),
    value: text(0, textLength),
    ignoreCase,
  }),
  Schema.Struct({
    path,
    op: Schema.Literal('like'),
    value: Schema.String.annotations({
      jsonSchema: { type: 'string', maxLength: likeLength, pattern: LIKE },
    }),
    ignoreCase,
  }),
  Schema.Struct({ path, op: Schema.Literal('exists'), value: absent(Schema.Boolean), ignoreCase }),
).annotations({ identifier: 'Leaf' })

type Leaf = typeof Leaf.Type
type Inner =
  | Leaf
  | { readonly all: readonly Inner[] }
  | { readonly any: readonly Inner[] }
  | { readonly not: Inner }

const Inner: Schema.Schema<Inner> = Schema.suspend(
  (): Schema.Schema<Inner> =>
    Schema.Union(
      Leaf,
      Schema.Struct({ all: list(Inner, 1, groupItems) }),
      Schema.Struct({ any: list(Inner, 1, groupItems) }),
      Schema.Struct({ not: Inner }),
    ),
).annotations({ identifier: 'InnerCondition' })

const Always = evaluated(
  Schema.Unknown.annotations({ jsonSchema: { type: 'object', maxProperties: 0 } }),
  (value) =>
    isPlainObject(value) && Object.keys(value).length === 0 ? [] : [issue('type', 'This is not {}.')],
)

/** A rule's `when`: omitted, null and `{}` mean always. */
export const When = evaluated(
  Schema.Union(Always, Inner, Null),
  (value) => {
    const parsed = value === null ? undefined : parseCondition(value)
    return parsed !== undefined && 'issues' in parsed ? parsed.issues : []
  },
  {},
  { [KNOWS_ALL]: true },
)
