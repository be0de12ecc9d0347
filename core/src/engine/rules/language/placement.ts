import type { InputIssue } from '../../issues.ts'
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../json/index.ts'
import { arityOf, functionNamed, parameterAt, type RuleFunction } from '../functions/index.ts'
import { DOCUMENT_LIMITS } from './limits.ts'

type Path = readonly (string | number)[]

/**
 * Checks that JSON Schema cannot express: strings for headers, arity and depth of calls, the places where a secret and
 * the raw body are allowed, literals that a function would refuse. Takes any JSON, valid or not, so that one answer
 * names everything that is wrong.
 */
export function issuesOfPlacement(document: JsonValue): InputIssue[] {
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
    issues.push({
      path: at,
      code: 'arity',
      detail: `${String(name)} takes ${arityInWords(called)}, not ${args.length}.`,
    })
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
