import { z } from 'zod'
import type { InputIssue, ItemCode } from '../issues.ts'
import {
  fromPlain,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MAX_JSON_DEPTH,
  parseJson,
  type SentJson,
  STORED_JSON_DEPTH,
  writeJson,
} from '../json/index.ts'
import { CONDITION_BOUNDS, CONDITION_OPS, type Condition, type Leaf, type Test } from './condition.ts'
import { issuesOfValue } from './leafValue.ts'
import { type Path, parsePath } from './paths.ts'

type IssuePath = readonly (string | number)[]

type Group = 'all' | 'any' | 'not'

const LEAF_MEMBERS = ['path', 'op', 'value', 'ignoreCase']

/**
 * The grammar of conditions, for the API's description. It refers to the rule language, whose conditions are the same.
 */
export const CONDITION_GRAMMAR = {
  anyOf: [{ type: 'object', maxProperties: 0 }, { $ref: '#/$defs/InnerCondition' }],
}

/** A condition in input or output. `parseCondition` checks it and names every wrong part. */
export const ConditionDocument = z.unknown().meta(CONDITION_GRAMMAR)

/** The condition `{}`, which holds for every request. */
export const ALWAYS: Condition = { test: { kind: 'always' }, text: '{}' }

/**
 * Reads a condition: an action's `condition`, a rule's `when`, a watchdog's `match`.
 *
 * @param value the condition as `JSON.parse` made it
 * @param rawText the condition's text as it was sent, if known: keeps key order and the spelling of numbers
 * @returns the condition (a bare leaf at the top becomes `{"all":[leaf]}`), or every wrong part in document order;
 *   paths of issues start at the condition
 */
export function parseCondition(
  value: unknown,
  rawText?: string,
): { condition: Condition } | { issues: InputIssue[] } {
  const json = rawText === undefined ? fromPlain(value, MAX_JSON_DEPTH) : parseJson(rawText)?.value
  if (json === undefined) {
    const detail = `A condition is JSON, nested at most ${MAX_JSON_DEPTH} deep.`
    return { issues: [{ path: [], code: 'too_deep', detail }] }
  }
  return parseConditionJson(json)
}

/**
 * {@link parseCondition} for a member of a call's input. Paths of issues start at the input.
 *
 * @param sent the call's body; null if it did not come as JSON text
 */
export function readCondition(sent: SentJson | null, member: string, value: unknown) {
  const parsed = parseCondition(value, sent?.part([member]))
  if ('condition' in parsed) return parsed
  return { issues: parsed.issues.map((issue) => ({ ...issue, path: [member, ...issue.path] })) }
}

/** {@link parseCondition} for a part of a document that was already read. */
export function parseConditionJson(json: JsonValue): { condition: Condition } | { issues: InputIssue[] } {
  const text = writeJson(json)
  const reader = new ConditionReader()
  const test = reader.top(json)
  if (Buffer.byteLength(text) > CONDITION_BOUNDS.bytes) {
    reader.report([], 'too_long', `A condition has at most ${CONDITION_BOUNDS.bytes} bytes of JSON.`, 'first')
  }
  if (reader.issues.length > 0 || test === undefined) return { issues: reader.issues }
  return { condition: asStored(test, text) }
}

/**
 * Reads back a condition that we stored. It may be longer and deeper than one that is sent: a group was put around a
 * bare leaf, or canonical text spells its numbers.
 *
 * @throws Error when it is not valid; every saved condition is
 */
export function storedCondition(text: string): Condition {
  const json = parseJson(text, STORED_JSON_DEPTH)?.value
  if (json === undefined) throw new Error('A stored condition is not JSON.')
  const reader = new ConditionReader()
  const test = reader.top(json)
  if (reader.issues.length === 0 && test !== undefined) return asStored(test, writeJson(json))
  throw new Error(`A stored condition is not valid: ${reader.issues[0]?.detail ?? 'no reason given'}`)
}

/** A bare leaf gets a group around it. */
function asStored(test: Test, text: string): Condition {
  if (test.kind !== 'leaf') return { test, text }
  return { test: { kind: 'all', tests: [test] }, text: `{"all":[${text}]}` }
}

class ConditionReader {
  readonly issues: InputIssue[] = []
  private leaves = 0

  report(path: IssuePath, code: ItemCode, detail: string, place: 'first' | 'last' = 'last'): undefined {
    this.issues[place === 'first' ? 'unshift' : 'push']({ path, code, detail })
  }

  top(json: JsonValue): Test | undefined {
    if (isJsonObject(json) && json.size === 0) return { kind: 'always' }
    const test = this.condition(json, [], 0)
    if (this.leaves > CONDITION_BOUNDS.leaves) {
      this.report([], 'too_many', `A condition has at most ${CONDITION_BOUNDS.leaves} leaves.`, 'first')
    }
    return test
  }

  /** @param groups number of groups around this condition */
  private condition(json: JsonValue, path: IssuePath, groups: number): Test | undefined {
    if (!isJsonObject(json)) {
      return this.report(
        path,
        'type',
        'A condition is an object: {"all":[…]}, {"any":[…]}, {"not":{…}} or {"path","op","value"}.',
      )
    }
    if (json.size === 0) {
      return this.report(
        path,
        'not_allowed',
        'An empty condition may stand at the top only, where it means always.',
      )
    }
    const kind = [...json.keys()].find((name) => name === 'all' || name === 'any' || name === 'not')
    return kind === undefined ? this.leaf(json, path) : this.group(json, kind, path, groups + 1)
  }

  private group(json: JsonObject, kind: Group, path: IssuePath, depth: number): Test | undefined {
    if (depth > CONDITION_BOUNDS.depth) {
      return this.report(path, 'too_deep', `Groups nest at most ${CONDITION_BOUNDS.depth} deep.`)
    }
    let test: Test | undefined
    for (const [name, member] of json) {
      const at = [...path, name]
      if (name !== kind)
        this.report(at, 'unknown_field', `A group has one member; this one has "${kind}" already.`)
      else if (kind === 'not') {
        const inner = this.condition(member, at, depth)
        test = inner && { kind, test: inner }
      } else test = this.list(member, kind, at, depth)
    }
    return test
  }

  private list(json: JsonValue, kind: 'all' | 'any', path: IssuePath, depth: number): Test | undefined {
    if (!isJsonArray(json)) return this.report(path, 'type', `"${kind}" is a list of conditions.`)
    if (json.length === 0) return this.report(path, 'too_short', `"${kind}" needs at least one condition.`)
    if (json.length > CONDITION_BOUNDS.groupItems) {
      return this.report(
        path,
        'too_many',
        `"${kind}" takes at most ${CONDITION_BOUNDS.groupItems} conditions.`,
      )
    }
    const tests: Test[] = []
    json.forEach((item, index) => {
      const test = this.condition(item, [...path, index], depth)
      if (test !== undefined) tests.push(test)
    })
    return { kind, tests }
  }

  private leaf(json: JsonObject, at: IssuePath): Test | undefined {
    this.leaves += 1
    const before = this.issues.length
    const op = CONDITION_OPS.find((known) => known === json.get('op'))
    let path: Path | undefined
    for (const [name, member] of json) {
      const here = [...at, name]
      if (name === 'path') path = this.path(member, here)
      else if (name === 'op') {
        if (typeof member !== 'string')
          this.report(here, 'type', `"op" is one of ${CONDITION_OPS.join(', ')}.`)
        else if (op === undefined) {
          const shown = JSON.stringify(member.slice(0, 40))
          this.report(here, 'unknown_op', `${shown} is not one of ${CONDITION_OPS.join(', ')}.`)
        }
      } else if (name === 'value') {
        if (op !== undefined)
          for (const issue of issuesOfValue(op, member))
            this.issues.push({ ...issue, path: [...here, ...issue.path] })
      } else if (name === 'ignoreCase') {
        if (typeof member !== 'boolean') this.report(here, 'type', '"ignoreCase" is true or false.')
      } else
        this.report(here, 'unknown_field', `"${name.slice(0, 40)}" is not one of ${LEAF_MEMBERS.join(', ')}.`)
    }
    if (!json.has('path'))
      this.report([...at, 'path'], 'required', '"path" is required: what to look at, like body.type.')
    if (!json.has('op'))
      this.report([...at, 'op'], 'required', `"op" is required: one of ${CONDITION_OPS.join(', ')}.`)
    if (!json.has('value') && json.has('op') && op !== 'exists') {
      this.report([...at, 'value'], 'required', '"value" is required with every op but exists.')
    }
    if (path === undefined || op === undefined || this.issues.length > before) return undefined
    const ignoreCase = json.get('ignoreCase') === true
    return {
      kind: 'leaf',
      path,
      op,
      value: json.get('value') ?? (op === 'exists' ? true : null),
      ignoreCase,
    } satisfies Leaf
  }

  private path(json: JsonValue, at: IssuePath): Path | undefined {
    if (typeof json !== 'string')
      return this.report(at, 'type', '"path" is text like body.type or headers.X-Env.')
    const parsed = parsePath(json, { every: true, deliveryFacts: false })
    if ('path' in parsed) return parsed.path
    return this.report(at, parsed.problem.code, parsed.problem.reason)
  }
}
