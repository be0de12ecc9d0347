import { ALWAYS, type Condition, type Path, parseConditionJson, parsePath } from '../../conditions/index.ts'
import { isJsonArray, isJsonObject, type JsonValue } from '../../json/index.ts'
import { parseTemplate, type Template } from '../../templates/index.ts'
import { functionNamed, type RuleFunction } from '../functions/index.ts'
import type { RuleDocument, Step, StoreRuleDocument, StoreStep } from './document.ts'
import {
  parseStoreTarget,
  parseTarget,
  type SortedTargets,
  type StoreTarget,
  sortedTargets,
  type Target,
} from './targets.ts'

/** Ops that remove data. Without such a rule the destination receives more than was intended. */
const TAKING_OUT = ['keep', 'remove', 'redact', 'hash'] as const

/** The ops of a rule that remove data; empty for a rule that only adds or moves. */
export function opsTakingOut({ steps }: Pick<Rule, 'steps'>): readonly string[] {
  return TAKING_OUT.filter((op) => steps.some((step) => step.op === op))
}

/** A valid rule, compiled. Immutable: one serves every delivery. */
export interface Rule {
  readonly name: string
  readonly when: Condition
  readonly steps: readonly CompiledStep[]
  /** The stored JSON text, with the author's key order and number spelling. */
  readonly text: string
}

/** One step with its paths, templates and calls parsed. `readsRaw`: the call takes the raw body somewhere. */
export type CompiledStep =
  | ({ readonly op: 'keep' | 'remove' | 'hash' } & Targets)
  | ({ readonly op: 'redact'; readonly with: string } & Targets)
  | { readonly op: 'rename'; readonly from: Target; readonly to: Target }
  | { readonly op: 'set'; readonly target: Target; readonly value: JsonValue }
  | { readonly op: 'template'; readonly target: Target; readonly template: Template }
  | { readonly op: 'compute'; readonly target: Target; readonly call: Call; readonly readsRaw: boolean }

interface Targets {
  readonly targets: readonly StoreTarget[]
  readonly sorted: SortedTargets
}

/** A call of a function; its arguments may be calls. */
export interface Call {
  readonly kind: 'call'
  readonly called: RuleFunction
  readonly args: readonly CompiledArgument[]
}

/** A valid argument. `base64`: the secret is decoded before it is used. */
export type CompiledArgument =
  | Call
  | { readonly kind: 'path'; readonly path: Path }
  | { readonly kind: 'literal'; readonly value: JsonValue }
  | { readonly kind: 'secret'; readonly base64: boolean }
  | { readonly kind: 'raw' }

const DEFAULT_REDACTION = '***'

/**
 * Compiles a document that the decoder found valid.
 *
 * @param json the same document with the digits of its numbers
 */
export function compileRule(document: RuleDocument | StoreRuleDocument, json: JsonValue, text: string): Rule {
  const steps = memberOf(json, 'steps')
  return {
    name: document.name ?? '',
    when: conditionOf(memberOf(json, 'when')),
    steps: document.steps.map((step, index) =>
      compileStep(step, isJsonArray(steps) ? (steps[index] ?? null) : null),
    ),
    text,
  }
}

function compileStep(step: Step | StoreStep, json: JsonValue): CompiledStep {
  switch (step.op) {
    case 'keep':
    case 'remove':
    case 'hash':
      return { op: step.op, ...targetsOf(step.paths) }
    case 'redact':
      return { op: 'redact', ...targetsOf(step.paths), with: step.with ?? DEFAULT_REDACTION }
    case 'rename':
      return { op: 'rename', from: targetOf(step.from), to: targetOf(step.to) }
    case 'set':
      return { op: 'set', target: targetOf(step.path), value: memberOf(json, 'value') }
    case 'template':
      return { op: 'template', target: targetOf(step.path), template: templateOf(step.template) }
    case 'compute': {
      const call = compileCall(json)
      return { op: 'compute', target: targetOf(step.path), call, readsRaw: readsRaw(call) }
    }
  }
}

function compileCall(json: JsonValue): Call {
  const name = memberOf(json, 'fn')
  const args = memberOf(json, 'args')
  const called = typeof name === 'string' ? functionNamed(name) : undefined
  if (called === undefined || !isJsonArray(args)) throw unchecked('call')
  return { kind: 'call', called, args: args.map(compileArgument) }
}

function compileArgument(json: JsonValue): CompiledArgument {
  if (typeof json === 'string') return { kind: 'path', path: readPathOf(json) }
  if (!isJsonObject(json)) return { kind: 'literal', value: json }
  if (json.has('fn')) return compileCall(json)
  if (json.has('literal')) return { kind: 'literal', value: memberOf(json, 'literal') }
  if (json.has('secret')) return { kind: 'secret', base64: json.has('decode') }
  return { kind: 'raw' }
}

function readsRaw(argument: CompiledArgument): boolean {
  return argument.kind === 'raw' || (argument.kind === 'call' && argument.args.some(readsRaw))
}

function memberOf(json: JsonValue, name: string): JsonValue {
  return isJsonObject(json) ? (json.get(name) ?? null) : null
}

function conditionOf(json: JsonValue): Condition {
  const parsed = json === null ? { condition: ALWAYS } : parseConditionJson(json)
  if ('condition' in parsed) return parsed.condition
  throw unchecked('when')
}

function targetOf(text: string): Target {
  const parsed = parseTarget(text, { every: true, protectedHeaders: true })
  if ('target' in parsed) return parsed.target
  throw unchecked('target')
}

function targetsOf(paths: readonly string[]): Targets {
  const targets = paths.map(storeTargetOf)
  return { targets, sorted: sortedTargets(targets) }
}

/** The decoder has refused the targets that a rule for deliveries may not have. */
function storeTargetOf(text: string): StoreTarget {
  const own = parseTarget(text, { every: true, protectedHeaders: true })
  const parsed = 'target' in own ? own : parseStoreTarget(text)
  if ('target' in parsed) return parsed.target
  throw unchecked('target')
}

function readPathOf(text: string): Path {
  const parsed = parsePath(text, { every: false, deliveryFacts: true })
  if ('path' in parsed) return parsed.path
  throw unchecked('path')
}

function templateOf(text: string): Template {
  const parsed = parseTemplate(text)
  if ('template' in parsed) return parsed.template
  throw unchecked('template')
}

function unchecked(part: string): Error {
  return new Error(`The decoder let a ${part} through that does not compile.`)
}
