import {
  type AnyJson,
  isJsonArray,
  isJsonNumber,
  type LazyJson,
  membersOf,
  writeJson,
} from '../../json/index.ts'
import { renderTemplate } from '../../templates/index.ts'
import { boundedText } from '../functions/define.ts'
import { Fault } from '../language/fault.ts'
import { RUN_LIMITS } from '../language/limits.ts'
import type { CompiledStep } from '../language/rule.ts'
import { isProtectedHeader, type StoreTarget, type Target } from '../language/targets.ts'
import { asText, nameOf, type Value } from '../language/values.ts'
import { type CallContext, evaluate } from './compute.ts'
import type { Draft } from './draft.ts'
import { checkFormPlace, checkFormValue } from './form.ts'
import { checkDepth, type Meter } from './meter.ts'
import {
  type KeepTree,
  keepTree,
  placedValue,
  placesOf,
  placeToWrite,
  reduceTo,
  removePlaces,
  replaceAt,
} from './nodes.ts'

type BodyTarget = Extract<Target, { root: 'body' }>

/**
 * Runs one step on a draft.
 *
 * @returns whether it changed a value
 * @throws Fault
 */
export function runStep(step: CompiledStep, context: CallContext): boolean {
  const { draft, meter, isForStoring } = context
  meter.checkTime()
  switch (step.op) {
    case 'keep':
      return keep(step.targets, draft, meter)
    case 'remove':
      return remove(step.targets, draft, meter)
    case 'redact':
      return substitute(step.targets, () => step.with, draft, meter)
    case 'hash':
      return substitute(step.targets, digestOf(context), draft, meter)
    case 'rename':
      return rename(step.from, step.to, draft, meter)
    case 'set':
      if (write(step.target, step.value, draft, meter)) return true
      return isForStoring && step.target.root === 'body' && draft.dropHidden()
    case 'template':
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

function bodyTargets(targets: readonly StoreTarget[]): BodyTarget[] {
  return targets.filter((target) => target.root === 'body')
}

function headerNames(targets: readonly StoreTarget[]): Set<string> {
  return new Set(targets.flatMap((target) => (target.root === 'headers' ? [target.name.toLowerCase()] : [])))
}

function queryNames(targets: readonly StoreTarget[]): Set<string> {
  return new Set(targets.flatMap((target) => (target.root === 'query' ? [target.name] : [])))
}

function partsOf(targets: readonly StoreTarget[]) {
  return targets.flatMap((target) => (target.root === 'part' ? [target.part] : []))
}

/** The digest that replaces a value. Equal values of a workspace have the same one. */
function digestOf({ hash }: CallContext): (value: AnyJson) => string {
  if (hash === null) throw new Fault('no_secret', 'The workspace has no key for hashes.')
  return (value) => hash(typeof value === 'object' && !isJsonNumber(value) ? writeJson(value) : asText(value))
}

function keep(targets: readonly StoreTarget[], draft: Draft, meter: Meter): boolean {
  const names = headerNames(targets)
  const inBody = bodyTargets(targets)
  let changed = false
  if (inBody.length > 0 && !draft.isEmpty && !partsOf(targets).includes('body')) {
    const root = draft.root()
    const left = reduceTo(root, treeOf(targets, inBody), meter) ?? emptyLike(root)
    if (left !== root && !(isEmptyTree(left) && isEmptyTree(root))) {
      draft.replaceRoot(left)
      draft.touch()
      changed = true
    } else changed = draft.dropHidden()
  }
  const inQuery = queryNames(targets)
  if (inQuery.size > 0)
    changed = draft.changeQuery((name) => (inQuery.has(name) ? undefined : null)) || changed
  if (names.size === 0) return changed
  const stays = (name: string) => {
    const lower = name.toLowerCase()
    return names.has(lower) || lower === 'content-type' || isProtectedHeader(lower)
  }
  return draft.keepHeaders(stays) || changed
}

/** Built once a step: rules are kept, and run for many deliveries. */
const trees = new WeakMap<readonly StoreTarget[], KeepTree>()

function treeOf(targets: readonly StoreTarget[], inBody: readonly BodyTarget[]): KeepTree {
  const known = trees.get(targets)
  if (known !== undefined) return known
  const tree = keepTree(inBody.map((target) => target.segments))
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

function remove(targets: readonly StoreTarget[], draft: Draft, meter: Meter): boolean {
  const names = headerNames(targets)
  const inBody = bodyTargets(targets)
  let changed = false
  if (inBody.length > 0 && !draft.isEmpty) {
    const root = draft.root()
    const places = inBody.flatMap((target) => placesOf(root, target.segments, meter))
    removePlaces(places, meter)
    changed = places.length > 0
    if (changed) draft.touch()
    else changed = draft.dropHidden()
  }
  const inQuery = queryNames(targets)
  if (inQuery.size > 0)
    changed = draft.changeQuery((name) => (inQuery.has(name) ? null : undefined)) || changed
  for (const part of partsOf(targets)) changed = draft.changePart(part, () => '') || changed
  return (names.size > 0 && draft.keepHeaders((name) => !names.has(name.toLowerCase()))) || changed
}

/** Replaces each value by another: the fixed text of `redact`, or the digest of `hash`. */
function substitute(
  targets: readonly StoreTarget[],
  replacement: (value: AnyJson) => string,
  draft: Draft,
  meter: Meter,
): boolean {
  const inBody = bodyTargets(targets)
  let changed = false
  if (inBody.length > 0 && !draft.isEmpty) {
    const root = draft.root()
    for (const place of inBody.flatMap((target) => placesOf(root, target.segments, meter))) {
      const value = placedValue(place)
      const replaced = replacement(value)
      if (value === replaced) continue
      replaceAt(place, replaced)
      changed = true
    }
    if (changed) draft.touch()
    else changed = draft.dropHidden()
  }
  for (const name of headerNames(targets)) if (draft.replaceHeader(name, replacement)) changed = true
  const inQuery = queryNames(targets)
  if (inQuery.size > 0)
    changed =
      draft.changeQuery((name, value) => (inQuery.has(name) ? replacement(value) : undefined)) || changed
  for (const part of partsOf(targets)) changed = draft.changePart(part, replacement) || changed
  return changed
}

function rename(from: Target, to: Target, draft: Draft, meter: Meter): boolean {
  if ((from.root === 'body' || to.root === 'body') && draft.isEmpty) return false
  if (from.root === 'headers') return renameHeader(from.name, to, draft, meter)
  const root = draft.root()
  const [source] = placesOf(root, from.segments, meter)
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
  const before = Array.isArray(place.holder)
    ? place.holder[Number(place.key)]
    : place.holder.get(String(place.key))
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
