import * as Schema from '@effect/schema/Schema'
import { type InputIssue, inDocumentOrder, onePerPart } from '../../issues.ts'
import {
  canonicalJson,
  fromPlain,
  type JsonValue,
  MAX_JSON_DEPTH,
  parseJson,
  toPlain,
  writeJson,
} from '../../json/index.ts'
import { RuleDocument, StoreRuleDocument } from './document.ts'
import { DOCUMENT_LIMITS } from './limits.ts'
import { issuesOfPlacement } from './placement.ts'
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
  const plain: unknown = JSON.parse(JSON.stringify(toPlain(json)))
  const text = writeJson(json)
  const issues = onePerPart([
    ...issuesOfSize(text),
    ...issuesBySchema(schema, plain),
    ...issuesOfPlacement(json),
  ])
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

/** Whether two documents are the same (RFC 8785): saving one over the other makes no new version. */
export function sameDocument(left: string, right: string): boolean {
  return left === right || canonicalText(left) === canonicalText(right)
}

function canonicalText(text: string): string | undefined {
  const read: { value: JsonValue } | undefined = parseJson(text)
  return read && canonicalJson(read.value)
}

function issuesOfSize(text: string): InputIssue[] {
  if (Buffer.byteLength(text) <= DOCUMENT_LIMITS.bytes) return []
  return [
    { path: [], code: 'too_long', detail: `A rule has at most ${DOCUMENT_LIMITS.bytes} bytes of JSON.` },
  ]
}
