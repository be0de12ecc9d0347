import type { z } from 'zod'
import {
  type InputIssue,
  ITEM_CODES,
  type ItemCode,
  inDocumentOrder,
  issue,
  onePerPart,
  valueAt,
} from '../engine/issues.ts'

/** Many times what an answer names: a body may hold a hundred thousand wrong parts. */
export const ISSUES_MAX = 1000

/**
 * Zod's issues about an input as issues of the API (docs/errors.md), one for each wrong part, in document order. The first
 * thousand are read.
 *
 * @param input the raw input: zod's issues do not say whether a member was missing or of the wrong type
 */
export function issuesOf(error: z.ZodError | undefined, input: unknown): InputIssue[] {
  if (error === undefined) return []
  const issues = error.issues.slice(0, ISSUES_MAX).flatMap((issue) => translate(issue, input))
  return onePerPart(inDocumentOrder(issues, input))
}

function translate(issue: z.core.$ZodIssue, input: unknown): InputIssue[] {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)))
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, ISSUES_MAX).map((key) => ({
      path: [...path, key],
      code: 'unknown_field' as const,
      detail: `${words([...path, key])} is not a known member.`,
    }))
  }
  const name = words(path)
  const value = valueAt(input, path)
  if (value === undefined || (value === null && isOmission(path)))
    return [{ path, code: 'required', detail: `${name} is required.` }]
  if (issue.code === 'invalid_union') {
    const forms = bestForms(issue, input)
    const [best, ...others] = forms
    if (best !== undefined && others.length === 0) return best
    if (best !== undefined) return [{ path, code: 'type', detail: eitherOf(forms) }]
  }
  return [{ path, code: codeOf(issue, value), detail: detailOf(issue, name) }]
}

/** The issues of the forms that fit best: those with the fewest. */
function bestForms({ errors, path }: z.core.$ZodIssueInvalidUnion, input: unknown): InputIssue[][] {
  const forms = errors.map((form) =>
    form.slice(0, ISSUES_MAX).flatMap((part) => translate({ ...part, path: [...path, ...part.path] }, input)),
  )
  return forms.filter(({ length }) => forms.every((other) => length <= other.length))
}

/** Faults of a form that a sentence names. */
const NAMED_MAX = 5

function eitherOf(forms: readonly (readonly InputIssue[])[]): string {
  const texts = forms.map((form) => {
    const named = form.slice(0, NAMED_MAX).map(({ detail }) => detail.replace(/\.$/, ''))
    return [...named, ...(form.length > NAMED_MAX ? ['more'] : [])].join(' and ')
  })
  return `${[...new Set(texts)].join(', or ')}.`
}

/**
 * A null member counts as missing. A null in a list is an item of the wrong type, and inside a sample it is a JSON
 * value.
 */
function isOmission(path: readonly (string | number)[]): boolean {
  return typeof path.at(-1) !== 'number' && !(path.length > 1 && path[0] === 'sample')
}

function codeOf(issue: z.core.$ZodIssue, value: unknown): ItemCode {
  switch (issue.code) {
    case 'too_small':
      return issue.origin === 'string' || issue.origin === 'array' ? 'too_short' : 'out_of_range'
    case 'too_big':
      if (issue.origin === 'string') return 'too_long'
      return issue.origin === 'array' || issue.origin === 'record' ? 'too_many' : 'out_of_range'
    case 'invalid_value':
      return issue.values.some((known) => typeof known === typeof value) ? 'unknown_value' : 'type'
    case 'invalid_format':
      return issue.format === 'url' ? 'bad_url' : 'bad_format'
    case 'custom':
      return ITEM_CODES.find((code) => code === issue.params?.code) ?? 'not_allowed'
    default:
      return 'type'
  }
}

/** Describes the issue of one part of an input in a sentence that names the part. */
export function detailOf(issue: z.core.$ZodIssue, name: string): string {
  switch (issue.code) {
    case 'too_small':
      return `${name} must ${bounded(issue.origin, `at least ${issue.minimum}`)}.`
    case 'too_big':
      return `${name} must ${bounded(issue.origin, `at most ${issue.maximum}`)}.`
    case 'invalid_value':
      return `${name} must be one of ${issue.values.map((value) => (value === '' ? '""' : String(value))).join(', ')}.`
    case 'invalid_type':
      return `${name} must be of type ${issue.expected === 'record' ? 'object' : issue.expected}.`
    case 'invalid_format':
      if (issue.format !== 'regex') return `${name} must be a valid ${issue.format}.`
      // The message of a pattern says what the text must be. Its default is the pattern itself.
      return `${name} ${issue.message.startsWith('must ') ? issue.message : 'does not have the right form'}.`
    case 'custom':
      return issue.message.startsWith('must ') ? `${name} ${issue.message}.` : issue.message
    default:
      return `${name} is not valid: ${issue.message}.`
  }
}

function bounded(origin: string, bound: string): string {
  const plural = bound.endsWith(' 1') ? '' : 's'
  if (origin === 'string') return `be ${bound} character${plural} long`
  if (origin === 'array' || origin === 'record') return `have ${bound} item${plural}`
  return `be ${bound}`
}

/** Characters of a name in a path for people. */
const NAME_LENGTH_MAX = 200

/** A path in readable form: `steps[1].op`. */
export function words(path: readonly (string | number)[]): string {
  if (path.length === 0) return 'The input'
  return path
    .map((part, at) => {
      if (typeof part === 'number') return `[${part}]`
      const name = part.length > NAME_LENGTH_MAX ? `${part.slice(0, NAME_LENGTH_MAX)}…` : part
      return at === 0 ? name : `.${name}`
    })
    .join('')
}

/** More than any list, rule or condition may have: 10,000 ids are the longest list. */
const VALUES_MAX = 20_000
/** Members of a sample that are not its body, which may hold any number of values. */
const COUNTED_OF_SAMPLE = ['headers', 'query'] as const

/**
 * The member with which an input holds over 20,000 values, or the input itself, if any. A body of 1 MiB may have
 * 300,000, each of which would be checked on its own.
 */
export function widthIssues(input: unknown): InputIssue[] {
  const tooMany = (path: InputIssue['path']) => [
    issue(path, 'too_many', `${words(path)} must not hold over ${VALUES_MAX} values.`),
  ]
  const members = Object.entries(input ?? {})
  let count = members.length
  if (count > VALUES_MAX) return tooMany([])
  const isTooWide = (value: unknown): boolean => {
    if (typeof value !== 'object' || value === null) return false
    for (const name in value) {
      count += 1
      if (count > VALUES_MAX || isTooWide(Reflect.get(value, name))) return true
    }
    return false
  }
  for (const [name, member] of members) {
    const counted = name === 'sample' ? COUNTED_OF_SAMPLE.map((part) => valueAt(member, [part])) : member
    if (isTooWide(counted)) return tooMany([name])
  }
  return []
}

/**
 * Issues for text that PostgreSQL cannot store: members of the input, and of its lists and objects, that contain NUL.
 * Deeper ones are parts of documents, which are stored as JSON text.
 */
export function nulIssues(input: unknown): InputIssue[] {
  const issues: InputIssue[] = []
  const look = (value: unknown, ...path: (string | number)[]) => {
    if (typeof value !== 'string' || !value.includes('\0')) return
    issues.push({ path, code: 'not_allowed', detail: `${words(path)} must not hold the NUL character.` })
  }
  for (const [name, member] of Object.entries(input ?? {})) {
    look(member, name)
    if (Array.isArray(member)) for (let at = 0; at < member.length; at += 1) look(member[at], name, at)
    else if (typeof member === 'object' && member !== null)
      for (const [inner, value] of Object.entries(member)) look(value, name, inner)
  }
  return issues
}
