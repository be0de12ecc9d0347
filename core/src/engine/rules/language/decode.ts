import * as Schema from '@effect/schema/Schema'
import { type InputIssue, inDocumentOrder, onePerPart } from '../../issues.ts'
import {
  fromPlain,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MAX_JSON_DEPTH,
  parseJson,
  toPlain,
  writeJson,
} from '../../json/index.ts'
import { arityOf, functionNamed, parameterAt, type RuleFunction } from '../functions/index.ts'
import { RuleDocument, StoreRuleDocument } from './document.ts'
import { DOCUMENT_LIMITS } from './limits.ts'
import { compileRule, type Rule } from './rule.ts'
import { issuesBySchema } from './schemaIssues.ts'

/**
 * Reads a rule document.
 *
 * @param value the document as `JSON.parse` made it
 * @param rawText the document's text as it was sent, if known: keeps key order and the spelling of numbers
 * @returns the rule, ready to run, or every wrong part in document order; paths of issues start at the document
 */
export function decodeRule(value: unknown, rawText?: string): DecodedRule {
  return decode(RuleDocument, value, rawText)
}

/** {@link decodeRule} for a rule that is applied before a request is stored. */
export function decodeStoreRule(value: unknown): DecodedRule {
  return decode(StoreRuleDocument, value)
}

type DecodedRule = { readonly rule: Rule } | { readonly issues: InputIssue[] }

function decode(
  schema: typeof RuleDocument | typeof StoreRuleDocument,
  value: unknown,
  rawText?: string,
): DecodedRule {
  if (value === undefined && rawText === undefined) {
    return { issues: [{ path: [], code: 'required', detail: 'A rule document is required.' }] }
  }
  const json = rawText === undefined ? fromPlain(value, MAX_JSON_DEPTH) : parseJson(rawText)?.value
  if (json === undefined) {
    const detail = `A rule is JSON, nested at most ${MAX_JSON_DEPTH} deep.`
    return { issues: [{ path: [], code: 'too_deep', detail }] }
  }
  const text = writeJson(json)
  // A document that is much too long may have thousands of wrong parts, which take long to name.
  const tooLong = issuesOfSize(text)
  if (tooLong.length > 0) return { issues: tooLong }
  const plain: unknown = JSON.parse(JSON.stringify(toPlain(json)))
  const issues = onePerPart([...issuesBySchema(schema, plain), ...issuesOfPlacement(json)])
  if (issues.length > 0) return { issues: inDocumentOrder(issues, plain) }
  return { rule: compileRule(decodeDocument(schema, plain), json, text) }
}

function decodeDocument(schema: typeof RuleDocument | typeof StoreRuleDocument, plain: unknown) {
  return schema === RuleDocument
    ? Schema.decodeUnknownSync(RuleDocument)(plain)
    : Schema.decodeUnknownSync(StoreRuleDocument)(plain)
}

/** Cache of compiled rules by their text: deliveries run the same few rules. */
const compiled = new Map<string, Rule>()
const COMPILED_MAX = 500

/**
 * Reads back a rule that we stored.
 *
 * @throws Error when it is not valid; every saved rule is
 */
export function storedRule(text: string): Rule {
  const known = compiled.get(text)
  if (known !== undefined) return known
  const decoded = decodeRule(undefined, text)
  if ('issues' in decoded) {
    throw new Error(`A stored rule is not valid: ${decoded.issues[0]?.detail ?? 'no reason given'}`)
  }
  if (compiled.size >= COMPILED_MAX) compiled.clear()
  compiled.set(text, decoded.rule)
  return decoded.rule
}

function issuesOfSize(text: string): InputIssue[] {
  if (Buffer.byteLength(text) <= DOCUMENT_LIMITS.bytes) return []
  return [
    { path: [], code: 'too_long', detail: `A rule has at most ${DOCUMENT_LIMITS.bytes} bytes of JSON.` },
  ]
}

type Path = readonly (string | number)[]

/**
 * Checks that JSON Schema cannot express: strings for headers, arity and depth of calls, the places where a secret and
 * the raw body are allowed, literals that a function would refuse. Takes any JSON, valid or not, so that one answer
 * names everything that is wrong.
 */
function issuesOfPlacement(document: JsonValue): InputIssue[] {
  const steps = isJsonObject(document) ? document.get('steps') : undefined
  if (!isJsonArray(steps)) return []
  return steps.flatMap((step, index) => (isJsonObject(step) ? issuesOfStep(step, ['steps', index]) : []))
}

function issuesOfStep(step: JsonObject, path: Path): InputIssue[] {
  const op = step.get('op')
  const writes = step.get('path')
  const toHeader = typeof writes === 'string' && writes.startsWith('headers.')
  if (op === 'set' && toHeader) {
    const value = step.get('value')
    if (value === undefined || typeof value === 'string') return []
    return [{ path: [...path, 'value'], code: 'type', detail: 'The value of a header is text.' }]
  }
  return op === 'compute' ? issuesOfCall(step, path, 1, toHeader) : []
}

function issuesOfCall(call: JsonObject, path: Path, depth: number, toHeader: boolean): InputIssue[] {
  if (depth > DOCUMENT_LIMITS.callDepth) {
    return [{ path, code: 'too_deep', detail: `Calls nest at most ${DOCUMENT_LIMITS.callDepth} deep.` }]
  }
  const name = call.get('fn')
  const args = call.get('args')
  const called = typeof name === 'string' ? functionNamed(name) : undefined
  if (!isJsonArray(args)) return []
  const at = [...path, 'args']
  const issues: InputIssue[] = []
  if (called !== undefined && !fits(called, args.length)) {
    const detail = `${String(name)} takes ${arityInWords(called)}, not ${args.length}.`
    issues.push({ path: at, code: 'arity', detail })
  }
  args.forEach((arg, index) => {
    const here = [...at, index]
    if (isJsonObject(arg) && arg.has('fn')) issues.push(...issuesOfCall(arg, here, depth + 1, toHeader))
    else issues.push(...issuesOfArgument(arg, here, called, index, toHeader))
  })
  return issues
}

function issuesOfArgument(
  arg: JsonValue,
  path: Path,
  called: RuleFunction | undefined,
  index: number,
  toHeader: boolean,
): InputIssue[] {
  const parameter = called === undefined ? undefined : parameterAt(called, index)
  const object = isJsonObject(arg) ? arg : undefined
  if (object?.has('raw') === true && !toHeader) {
    const detail =
      'The raw body may be read by steps that write a header only: it is known after all other steps.'
    return [{ path, code: 'not_allowed', detail }]
  }
  if (object?.has('secret') === true && called !== undefined && parameter?.kind.takesSecret !== true) {
    return [{ path, code: 'not_allowed', detail: 'The signing secret may stand as the key of an HMAC only.' }]
  }
  const literal =
    object?.has('literal') === true ? object.get('literal') : typeof arg === 'string' ? undefined : arg
  if (literal === undefined || (object !== undefined && !object.has('literal')) || parameter === undefined)
    return []
  const reason = parameter.kind.refuses?.(literal)
  return reason == null ? [] : [{ path, code: 'unknown_value', detail: `${parameter.name} ${reason}.` }]
}

function fits(called: RuleFunction, count: number): boolean {
  const { least, most } = arityOf(called)
  return count >= least && count <= most
}

function arityInWords(called: RuleFunction): string {
  const { least, most } = arityOf(called)
  if (least === most) return least === 1 ? '1 argument' : `${least} arguments`
  return `${least} to ${most} arguments`
}
