import { isRecord, parsed } from '../json.ts'

export const OPS = [
  ['eq', 'is'],
  ['neq', 'is not'],
  ['startsWith', 'starts with'],
  ['endsWith', 'ends with'],
  ['contains', 'contains'],
  ['like', 'is like'],
  ['in', 'is one of'],
  ['nin', 'is none of'],
  ['gt', '>'],
  ['gte', '≥'],
  ['lt', '<'],
  ['lte', '≤'],
  ['exists', 'exists'],
] as const

export type Op = (typeof OPS)[number][0]

export interface LeafDraft {
  readonly kind: 'leaf'
  readonly path: string
  readonly op: Op
  /** JSON, or plain text. */
  readonly value: string
  readonly ignoreCase: boolean
}

/** A group. `all` or `any` of its items must match; `not` requires that not all of them match. */
export interface GroupDraft {
  readonly kind: 'group'
  readonly mode: 'all' | 'any' | 'not'
  readonly items: readonly Draft[]
}

export type Draft = LeafDraft | GroupDraft

export const ALWAYS: GroupDraft = { kind: 'group', mode: 'all', items: [] }

export const EMPTY_LEAF: LeafDraft = { kind: 'leaf', path: '', op: 'eq', value: '', ignoreCase: false }

/**
 * Reads a condition document into the builder.
 *
 * @returns null for a document that the builder cannot show, and that stays JSON
 */
export function draftOf(document: unknown): GroupDraft | null {
  const draft = read(document, true)
  if (draft === null) return null
  return draft.kind === 'group' && draft.mode !== 'not'
    ? draft
    : { kind: 'group', mode: 'all', items: [draft] }
}

function read(document: unknown, isTop: boolean): Draft | null {
  if (!isRecord(document)) return null
  const names = Object.keys(document)
  if (names.length === 0) return isTop ? ALWAYS : null
  if ('path' in document) return readLeaf(document)
  const [name] = names
  if (names.length !== 1) return null
  if (name === 'not') {
    const inner = read(document.not, false)
    if (inner === null) return null
    const isGroup = inner.kind === 'group' && inner.mode === 'all'
    return { kind: 'group', mode: 'not', items: isGroup ? inner.items : [inner] }
  }
  if (name !== 'all' && name !== 'any') return null
  const list = document[name]
  if (!Array.isArray(list)) return null
  const items = list.map((item: unknown) => read(item, false))
  return items.every((item) => item !== null) ? { kind: 'group', mode: name, items } : null
}

function readLeaf({
  path,
  op,
  value,
  ignoreCase,
  ...others
}: Readonly<Record<string, unknown>>): LeafDraft | null {
  const known = OPS.find(([name]) => name === op)?.[0]
  if (typeof path !== 'string' || known === undefined || Object.keys(others).length > 0) return null
  return { kind: 'leaf', path, op: known, value: textOf(known, value), ignoreCase: ignoreCase === true }
}

function textOf(op: Op, value: unknown): string {
  if (op === 'exists') return value === false ? 'false' : 'true'
  if ((op === 'in' || op === 'nin') && Array.isArray(value)) {
    const isPlain = value.every((item) => typeof item === 'string' && !item.includes(',') && isOwnText(item))
    return isPlain ? value.join(', ') : JSON.stringify(value)
  }
  return typeof value === 'string' && isOwnText(value)
    ? value
    : JSON.stringify(value === undefined ? '' : value)
}

function documentOf(draft: Draft): Record<string, unknown> {
  if (draft.kind === 'leaf') {
    const { ignoreCase, op, path, value } = draft
    return { path, op, value: typedValue(op, value), ...(ignoreCase ? { ignoreCase } : {}) }
  }
  const items = draft.items.map(documentOf)
  if (draft.mode === 'not') return { not: items.length === 1 ? items[0] : { all: items } }
  return { [draft.mode]: items }
}

/** The document of a whole condition. Without comparisons it matches every request. */
export function conditionOf(draft: GroupDraft): Record<string, unknown> {
  return draft.items.length === 0 ? {} : documentOf(draft)
}

/** Parses a typed value: numbers, `true`, `false`, `null`, lists and quoted texts are JSON; everything else is text. */
function typedValue(op: Op, typed: string): unknown {
  if (op === 'exists') return typed !== 'false'
  const value = parsed(typed)
  if (op === 'in' || op === 'nin') {
    if (Array.isArray(value)) return value
    return typed
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
      .map((item) => typedValue('eq', item))
  }
  return value === undefined ? typed : value
}

function isOwnText(text: string): boolean {
  return text !== '' && text.trim() === text && parsed(text) === undefined
}
