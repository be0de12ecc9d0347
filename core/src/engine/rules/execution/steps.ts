import { mayBeEvery, type Path } from '../../conditions/index.ts'
import {
  type AnyJson,
  isJsonArray,
  isJsonNumber,
  type LazyJson,
  membersOf,
  writeJson,
} from '../../json/index.ts'
import { renderTemplate, type Template } from '../../templates/index.ts'
import { boundedText } from '../functions/define.ts'
import { Fault } from '../language/fault.ts'
import { RUN_LIMITS } from '../language/limits.ts'
import type { CompiledStep } from '../language/rule.ts'
import { isProtectedHeader, type SortedTargets, type Target } from '../language/targets.ts'
import { asText, nameOf, type Value } from '../language/values.ts'
import { type CallContext, evaluate } from './compute.ts'
import type { Draft } from './draft.ts'
import { checkFormPlace, checkFormValue } from './form.ts'
import { checkDepth, type Meter } from './meter.ts'
import {
  type KeepTree,
  keepTree,
  type Place,
  placedValue,
  placeOf,
  placesOf,
  placeToWrite,
  reduceTo,
  removePlaces,
  replaceAt,
  valueIn,
} from './nodes.ts'

/**
 * Runs one step on a draft.
 *
 * @returns whether it changed a value
 * @throws Fault
 */
export function runStep(step: CompiledStep, context: CallContext): boolean {
  const { draft, meter, found } = context
  meter.checkTime()
  switch (step.op) {
    case 'keep':
      return keep(step.sorted, draft, meter)
    case 'remove':
      return remove(step.sorted, context)
    case 'redact':
      return substitute(step.sorted, () => step.with, context)
    case 'hash':
      return substitute(step.sorted, digestOf(context), context)
    case 'rename':
      return rename(step.from, step.to, draft, meter)
    case 'set':
      if (write(step.target, step.value, draft, meter)) return true
      return found !== null && step.target.root === 'body' && draft.dropHidden()
    case 'template':
      for (const part of step.template) if (isOfMany(part)) draft.valueAt(part)
      return write(
        step.target,
        boundedText(renderTemplate(step.template, draft, { enough: RUN_LIMITS.textBytes })),
        draft,
        meter,
      )
    case 'compute': {
      // An empty or unstructured body is a fault, whatever the call would have returned.
      if (step.target.root === 'body') draft.root()
      return write(step.target, evaluate(step.call, context), draft, meter)
    }
  }
}

/** Whether a placeholder may mean several values: reading it as one is a fault then. */
function isOfMany(part: Template[number]): part is Path {
  return typeof part !== 'string' && part.root === 'body' && part.segments.some(mayBeEvery)
}

/** The digest that replaces a value. Equal values of a workspace have the same one. */
function digestOf({ hash }: CallContext): (value: AnyJson) => string {
  if (hash === null) throw new Fault('no_secret', 'The workspace has no key for hashes.')
  return (value) => hash(typeof value === 'object' && !isJsonNumber(value) ? writeJson(value) : asText(value))
}

function keep(targets: SortedTargets, draft: Draft, meter: Meter): boolean {
  const { body, headers, query, parts } = targets
  let changed = false
  if (body.length > 0 && !draft.isEmpty && !parts.includes('body')) {
    const root = draft.root()
    const left = reduceTo(root, treeOf(targets), meter) ?? emptyLike(root)
    if (left !== root && !(isEmptyTree(left) && isEmptyTree(root))) {
      draft.replaceRoot(left)
      draft.touch()
      changed = true
    } else changed = draft.dropHidden()
  }
  if (query.size > 0) changed = draft.changeQuery((name) => (query.has(name) ? undefined : null)) || changed
  if (headers.size === 0) return changed
  const stays = (name: string) => {
    const lower = name.toLowerCase()
    return headers.get(name) !== undefined || lower === 'content-type' || isProtectedHeader(lower)
  }
  return draft.keepHeaders(stays) || changed
}

/** Built once a step: rules are kept, and run for many deliveries. */
const trees = new WeakMap<SortedTargets, KeepTree>()

function treeOf(targets: SortedTargets): KeepTree {
  const known = trees.get(targets)
  if (known !== undefined) return known
  const tree = keepTree(targets.body.map(({ segments }) => segments))
  trees.set(targets, tree)
  return tree
}

function emptyLike(root: LazyJson): LazyJson {
  if (root instanceof Map) return new Map()
  return Array.isArray(root) ? [] : null
}

function isEmptyTree(root: LazyJson): boolean {
  if (root instanceof Map) return root.size === 0
  return Array.isArray(root) ? root.length === 0 : root === null
}

function remove(
  { body, headers, query, parts }: SortedTargets,
  { draft, meter, found }: CallContext,
): boolean {
  let changed = false
  if (body.length > 0 && !draft.isEmpty) {
    const places = placesOfAll(body, draft.root(), meter, found)
    removePlaces(places, meter)
    changed = places.length > 0
    if (changed) draft.touch()
    else changed = draft.dropHidden()
  }
  if (query.size > 0) {
    const without = (name: string) => (isTarget(query, name, found) ? null : undefined)
    changed = draft.changeQuery(without) || changed
  }
  for (const part of parts) changed = draft.changePart(part, () => '', found) || changed
  const stays = (name: string) => !isTarget(headers, name, found)
  return (headers.size > 0 && draft.keepHeaders(stays)) || changed
}

/** Replaces each value by another: the fixed text of `redact`, or the digest of `hash`. */
function substitute(
  { body, headers, query, parts }: SortedTargets,
  replacement: (value: AnyJson) => string,
  { draft, meter, found }: CallContext,
): boolean {
  let changed = false
  if (body.length > 0 && !draft.isEmpty) {
    for (const place of placesOfAll(body, draft.root(), meter, found)) {
      const value = placedValue(place)
      const replaced = replacement(value)
      if (value === replaced) continue
      replaceAt(place, replaced)
      changed = true
    }
    if (changed) draft.touch()
    else changed = draft.dropHidden()
  }
  if (headers.size > 0) {
    const replaced = (name: string, value: string) =>
      isTarget(headers, name, found) ? replacement(value) : undefined
    changed = draft.replaceHeaders(replaced) || changed
  }
  if (query.size > 0) {
    const replaced = (name: string, value: string) =>
      isTarget(query, name, found) ? replacement(value) : undefined
    changed = draft.changeQuery(replaced) || changed
  }
  for (const part of parts) changed = draft.changePart(part, replacement, found) || changed
  return changed
}

/** The places of all targets, before any is changed; `found` gets the texts of targets that have one. */
function placesOfAll(
  targets: SortedTargets['body'],
  root: LazyJson,
  meter: Meter,
  found: string[] | null,
): Place[] {
  return targets.flatMap(({ segments, text }) => {
    const places = placesOf(root, segments, meter)
    if (places.length > 0) found?.push(text)
    return places
  })
}

/** Whether a name is a target; `found` gets its text. */
function isTarget(
  targets: Pick<SortedTargets['headers'], 'get'>,
  name: string,
  found: string[] | null,
): boolean {
  const text = targets.get(name)
  if (text !== undefined) found?.push(text)
  return text !== undefined
}

function rename(from: Target, to: Target, draft: Draft, meter: Meter): boolean {
  if ((from.root === 'body' || to.root === 'body') && draft.isEmpty) return false
  if (from.root === 'headers') return renameHeader(from.name, to, draft, meter)
  const root = draft.root()
  const source = placeOf(root, from.segments, meter)
  if (source === undefined) return false
  if (to.root === 'headers') {
    draft.setHeader(to.name, headerValueOf(placedValue(source)))
    removePlaces([source], meter)
    draft.touch()
    return true
  }
  if (draft.isForm) checkFormValue(placedValue(source), to.segments)
  const target = placeToWrite(root, to.segments)
  if (draft.isForm) checkFormPlace(target, root)
  // Read only now: if the target lies inside the value, finding it has opened the value.
  const value = placedValue(source)
  if (target.holder === source.holder && target.key === source.key) return false
  checkMove(value, target.holder, to.segments.length, meter)
  // Write first, then remove: an object may be moved out of the value that it overwrites.
  if (target.holder instanceof Map) target.holder.delete(String(target.key))
  replaceAt(target, value)
  removePlaces([source], meter)
  draft.touch()
  return true
}

function renameHeader(name: string, to: Target, draft: Draft, meter: Meter): boolean {
  const bytes = draft.headerBytes(name)
  if (bytes === undefined) return false
  const lower = name.toLowerCase()
  if (to.root === 'headers') {
    if (to.name.toLowerCase() === lower) return false
    draft.setHeader(to.name, bytes)
  } else write(to, draft.headerValues(name).join(', '), draft, meter)
  draft.keepHeaders((known) => known.toLowerCase() !== lower)
  return true
}

/**
 * Checks a value that is about to move to `depth`, into `holder`.
 *
 * @throws Fault `type` when the holder is part of the value, `too_large` when the value would nest too deep
 */
function checkMove(value: AnyJson, holder: LazyJson, depth: number, meter: Meter): void {
  meter.tick()
  checkDepth(depth)
  if (value === holder) throw new Fault('type', 'A value cannot be moved into itself.')
  const inside = isJsonArray(value) ? value : (membersOf(value)?.map(([, member]) => member) ?? [])
  for (const member of inside) checkMove(member, holder, depth + 1, meter)
}

function write(target: Target, value: Value, draft: Draft, meter: Meter): boolean {
  if (target.root === 'headers') return draft.setHeader(target.name, headerValueOf(value))
  const root = draft.root()
  if (draft.isForm && !(value instanceof Uint8Array)) checkFormValue(value, target.segments)
  const written = meter.copy(value instanceof Uint8Array ? asText(value) : value, target.segments.length)
  const place = placeToWrite(root, target.segments)
  if (draft.isForm) checkFormPlace(place, root)
  const before = valueIn(place)
  if (before !== undefined && sameSpelling(before, written)) return false
  replaceAt(place, written)
  draft.touch()
  return true
}

function headerValueOf(value: Value): string {
  if (value !== null && typeof value === 'object' && !isJsonNumber(value) && !(value instanceof Uint8Array)) {
    throw new Fault('type', `A header holds text, not ${nameOf(value)}.`)
  }
  return asText(value)
}

/** Whether two values print the same, digits and order included. Writing one over the other is then no change. */
function sameSpelling(left: AnyJson, right: AnyJson): boolean {
  if (left === right) return true
  if (typeof left !== typeof right || left === null || typeof left !== 'object') return false
  return writeJson(left) === writeJson(right)
}
