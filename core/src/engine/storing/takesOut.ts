import { type Path, parsePath, type Segment, segmentIn } from '../conditions/index.ts'
import type { ProviderRow } from '../providers/index.ts'
import type { CompiledStep, StoreTarget } from '../rules/index.ts'
import { labelReads } from '../verification/index.ts'
import type { Storing } from './storing.ts'

type Takes = Pick<Storing, 'rules' | 'dropped'>

/**
 * Whether rules for storing may change what a path reads, in some request.
 *
 * @param provider of the endpoint, which decides where the label is read
 */
export function takesOut(storing: Takes, path: Path, provider: ProviderRow | undefined): boolean {
  const { rules, dropped } = storing
  if (path.root === 'headers' && dropped.get(path.name) !== undefined) return true
  if (path.root === 'fact' && path.fact === 'contentType' && dropped.get('content-type') !== undefined)
    return true
  if (path.root === 'fact' && path.fact === 'label')
    return labelReads(provider).some((text) => takesOutText(storing, text, provider))
  return rules.some(({ steps }) => steps.some((step) => changes(step, path)))
}

/** The same for a path as text. A text that is no path is taken for one into the body. */
export function takesOutText(storing: Takes, text: string, provider: ProviderRow | undefined): boolean {
  const [parsed, body] = [text, 'body'].map((path) => parsePath(path, { every: true, deliveryFacts: false }))
  const read = parsed !== undefined && 'path' in parsed ? parsed : body
  return read !== undefined && 'path' in read && takesOut(storing, read.path, provider)
}

function changes(step: CompiledStep, path: Path): boolean {
  if (step.op === 'keep') {
    const ofRoot = step.targets.filter(({ root }) => root === path.root)
    const isWhole = path.root === 'body' && step.targets.some((target) => target.text === 'body')
    return ofRoot.length > 0 && !isWhole && !ofRoot.some((target) => holds(target, path))
  }
  if ('targets' in step) return step.targets.some((target) => meets(target, path))
  return 'target' in step && meets(step.target, path)
}

function holds(target: StoreTarget, path: Path): boolean {
  if (target.root === 'body' && path.root === 'body')
    return target.segments.length <= path.segments.length && agree(target.segments, path.segments)
  return meets(target, path)
}

/** Whether a target and a path may lead to the same value, or one into that of the other. */
function meets(target: StoreTarget, path: Path): boolean {
  if (target.root === 'part')
    return path.root === target.part || (path.root === 'fact' && path.fact === target.part)
  if (target.root === 'body') return path.root === 'body' && agree(target.segments, path.segments)
  if (target.root === 'headers') {
    const name = target.name.toLowerCase()
    if (path.root === 'fact') return path.fact === 'contentType' && name === 'content-type'
    return path.root === 'headers' && path.name.toLowerCase() === name
  }
  return path.root === 'query' && path.name === target.name
}

function agree(left: readonly Segment[], right: readonly Segment[]): boolean {
  return left.slice(0, right.length).every((segment, at) => mayBeSame(segment, right[at] ?? ''))
}

function mayBeSame(left: Segment, right: Segment): boolean {
  return [true, false].some((isList) => {
    const [one, other] = [segmentIn(left, isList), segmentIn(right, isList)]
    if (typeof one === 'string' || typeof other === 'string') return one === other
    // Indexes from both ends may meet, and every element meets each.
    return one === other || typeof one === 'symbol' || typeof other === 'symbol' || one < 0 !== other < 0
  })
}
