import * as JSONSchema from '@effect/schema/JSONSchema'
import * as Schema from '@effect/schema/Schema'
import { MAX_PATH_LENGTH, parsePath, pathPattern } from '../../conditions/index.ts'
import type { ItemCode } from '../../issues.ts'
import { isPlainObject } from '../../json/index.ts'
import { MAX_TEMPLATE_LENGTH, parseTemplate } from '../../templates/index.ts'
import { FUNCTION_NAMES } from '../functions/index.ts'
import { When } from './conditionSchema.ts'
import { absent, CHOOSE, type Choose, evaluated, issue, list, Null, text, WRONG_WORD } from './evaluated.ts'
import { DOCUMENT_LIMITS } from './limits.ts'
import {
  parseStoreTarget,
  parseTarget,
  STORE_TARGET_PATTERN,
  type TargetOptions,
  targetPattern,
} from './targets.ts'

/**
 * The rule document, declared once: its types, its decoder (decode.ts) and the JSON Schema that the service serves are
 * derived from this file.
 */

type ParsedPath = object | { readonly problem: { readonly code: ItemCode; readonly reason: string } }

/** A path, which `parse` decides on; the pattern is for JSON Schema. */
function path(
  parse: (text: string) => ParsedPath,
  pattern: string,
  description: string,
): Schema.Schema<string> {
  return evaluated(
    Schema.String,
    (value) => {
      const parsed = typeof value === 'string' ? parse(value) : {}
      return 'problem' in parsed ? [issue(parsed.problem.code, parsed.problem.reason)] : []
    },
    { type: 'string', maxLength: MAX_PATH_LENGTH, pattern, description },
  )
}

function target(options: TargetOptions, description: string): Schema.Schema<string> {
  return path((text) => parseTarget(text, options), targetPattern(options), description)
}

const paths = (each: Schema.Schema<string>) => list(each, 1, DOCUMENT_LIMITS.paths)

const EVERY_WORDS = 'body.<path> or headers.<name>; [*] is every element.'
const one = target(
  { every: false, protectedHeaders: false },
  'Target of the step: body.<path> or headers.<name>; no [*].',
)
const some = paths(target({ every: true, protectedHeaders: false }, EVERY_WORDS))
const kept = paths(target({ every: true, protectedHeaders: true }, EVERY_WORDS))

/** Targets of the steps of a rule for storing that take data out. */
const stored = paths(
  path(
    parseStoreTarget,
    STORE_TARGET_PATTERN,
    'body, body.<path>, headers.<name>, query.<name>, path or ip; [*] is every element.',
  ),
)

const READ = { every: false, deliveryFacts: true } as const
const readPath = path(
  (text) => parsePath(text, READ),
  pathPattern(READ),
  'A path to read; text is {"literal":"…"}.',
)

const template = evaluated(
  Schema.String,
  (value) => {
    const parsed = typeof value === 'string' ? parseTemplate(value) : undefined
    if (parsed === undefined || 'template' in parsed) return []
    return parsed.problems.slice(0, 1).map(({ code, reason }) => issue(code, reason))
  },
  { type: 'string', maxLength: MAX_TEMPLATE_LENGTH, description: 'Text with {{ path }} placeholders.' },
)

const json = Schema.Unknown.annotations({ jsonSchema: { description: 'Any JSON value.' } })

const smallJson = evaluated(json, (value) =>
  value !== undefined && Buffer.byteLength(JSON.stringify(value)) > DOCUMENT_LIMITS.valueBytes
    ? [issue('too_long', `A value has at most ${DOCUMENT_LIMITS.valueBytes} bytes of JSON.`)]
    : [],
)

const functionName = Schema.Literal(...FUNCTION_NAMES).annotations({ [WRONG_WORD]: 'unknown_function' })

/** One argument of a function. A bare string is always a path; a constant text is a `literal`. */
export type Argument =
  | string
  | number
  | boolean
  | null
  | { readonly literal: unknown }
  | { readonly fn: string; readonly args: readonly Argument[] }
  | { readonly secret: 'signing'; readonly decode?: 'base64' }
  | { readonly raw: 'body' }

const Literal = Schema.Struct({ literal: json })
const Call = Schema.Struct({
  fn: functionName,
  args: list(
    Schema.suspend(() => Argument),
    0,
    DOCUMENT_LIMITS.args,
  ),
})
const Secret = Schema.Struct({
  secret: Schema.Literal('signing'),
  decode: absent(Schema.Literal('base64')),
})
const Raw = Schema.Struct({ raw: Schema.Literal('body') })

const chooseArgument: Choose = (value) => {
  if (typeof value === 'string') return { member: readPath }
  if (isPlainObject(value)) {
    if ('fn' in value || 'args' in value) return { member: Call }
    if ('literal' in value) return { member: Literal }
    if ('secret' in value) return { member: Secret }
    if ('raw' in value) return { member: Raw }
  }
  return {
    issue: issue(
      'type',
      'An argument is a path, a number, true, false, null, {"literal":…}, {"fn":…,"args":[…]}, {"secret":"signing"} or {"raw":"body"}.',
    ),
  }
}

/** An argument of a function: a path to read, a constant, a call, the signing secret or the raw body. */
export const Argument: Schema.Schema<Argument> = Schema.suspend(
  (): Schema.Schema<Argument> =>
    Schema.Union(readPath, Schema.Number, Schema.Boolean, Literal, Call, Secret, Raw, Null).annotations({
      [CHOOSE]: chooseArgument,
    }),
).annotations({ identifier: 'Argument' })

const STEPS = {
  keep: Schema.Struct({ op: Schema.Literal('keep'), paths: kept }),
  remove: Schema.Struct({ op: Schema.Literal('remove'), paths: some }),
  rename: Schema.Struct({ op: Schema.Literal('rename'), from: one, to: one }),
  redact: Schema.Struct({
    op: Schema.Literal('redact'),
    paths: some,
    with: absent(text(0, DOCUMENT_LIMITS.withLength)),
  }),
  set: Schema.Struct({ op: Schema.Literal('set'), path: one, value: smallJson }),
  template: Schema.Struct({ op: Schema.Literal('template'), path: one, template }),
  compute: Schema.Struct({ op: Schema.Literal('compute'), path: one, ...Call.fields }),
} as const

/** The seven ops, in the order of the documentation. */
export const STEP_OPS: readonly string[] = Object.keys(STEPS)

/** Steps of a rule for storing: those that take data out, and `set`. */
const STORE_STEPS = {
  keep: Schema.Struct({ op: Schema.Literal('keep'), paths: stored }),
  remove: Schema.Struct({ op: Schema.Literal('remove'), paths: stored }),
  redact: Schema.Struct({
    op: Schema.Literal('redact'),
    paths: stored,
    with: absent(text(0, DOCUMENT_LIMITS.withLength)),
  }),
  hash: Schema.Struct({ op: Schema.Literal('hash'), paths: stored }),
  set: STEPS.set,
} as const

const chooseStep =
  (steps: Readonly<Record<string, Schema.Schema.AnyNoContext>>): Choose =>
  (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return { issue: issue('type', 'A step is an object with "op".') }
    }
    const op = 'op' in value ? value.op : undefined
    const member = Object.entries(steps).find(([name]) => name === op)?.[1]
    if (member !== undefined) return { member }
    const known = Object.keys(steps).join(', ')
    if (op === undefined)
      return { issue: { path: ['op'], code: 'required', detail: `"op" is required: one of ${known}.` } }
    if (typeof op !== 'string')
      return { issue: { path: ['op'], code: 'type', detail: `"op" is one of ${known}.` } }
    const detail = `${JSON.stringify(op.slice(0, 40))} is not one of ${known}.`
    return { issue: { path: ['op'], code: 'unknown_op', detail } }
  }

const Step = Schema.Union(...Object.values(STEPS)).annotations({
  identifier: 'Step',
  [CHOOSE]: chooseStep(STEPS),
})

/** One step of a document after decoding. */
export type Step = typeof Step.Type

const StoreStep = Schema.Union(...Object.values(STORE_STEPS)).annotations({
  identifier: 'StoreStep',
  [CHOOSE]: chooseStep(STORE_STEPS),
})

/** One step of a rule for storing after decoding. */
export type StoreStep = typeof StoreStep.Type

/** Name of a rule, without NUL, which PostgreSQL's text cannot hold. */
const name = evaluated(
  text(1, DOCUMENT_LIMITS.nameLength),
  (value) =>
    typeof value === 'string' && value.includes('\0')
      ? [issue('not_allowed', 'A name holds no NUL character.')]
      : [],
  { pattern: '^[^\\u0000]*$' },
)

/** A whole document: version 1, a name, an optional condition, and at least one step. */
export const RuleDocument = Schema.Struct({
  version: Schema.Literal(1),
  name,
  when: absent(When),
  steps: list(Step, 1, DOCUMENT_LIMITS.steps),
})

/** A whole document after decoding. */
export type RuleDocument = typeof RuleDocument.Type

/** A rule for storing: the same document with other steps. Version and name may be left out. */
export const StoreRuleDocument = Schema.Struct({
  version: absent(Schema.Literal(1)),
  name: absent(name),
  when: absent(When),
  steps: list(StoreStep, 1, DOCUMENT_LIMITS.steps),
})

/** A rule for storing after decoding. */
export type StoreRuleDocument = typeof StoreRuleDocument.Type

/** The rule document as JSON Schema 2020-12, served at `GET /api/v1/transformations/schema`. */
export function ruleJsonSchema(): Record<string, unknown> {
  return {
    ...JSONSchema.make(RuleDocument),
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Creel transformation rule, version 1',
  }
}
