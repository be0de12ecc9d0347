import { PER_SECOND_DEFAULT } from './declarations.ts'
import type { Fault, Faults, Order, Pace } from './schema.ts'

/** A request to send, in the order of arrival. */
export interface Captured {
  readonly requestId: number
  readonly receivedAtMs: number
}

export interface ScheduledItem {
  readonly requestId: number
  /** Its fault on purpose; null without one. */
  readonly fault: Fault | null
  /** 1 for the second send of a duplicate. */
  readonly copy: 0 | 1
  /** Milliseconds from the start of the replay. */
  readonly dueMs: number
}

/** The sends of a replay, in their order, and the requests that it leaves out on purpose. */
export type Schedule = ReturnType<typeof scheduleOf>

export interface ScheduleOptions {
  readonly order: Order
  readonly pace: Pace | null
  readonly faults: Faults
  readonly seed: number
  /** Least time between two sends, in milliseconds; 0 by default. */
  readonly gapMs?: number
}

/**
 * Plans a replay. The same input gives the same plan.
 *
 * A request has one fault at most. A share of `n` requests is `n * share`, rounded. A dropped request leaves a gap. A
 * reordered request changes places with the next one. A late one comes `bySeconds` later, divided by the speed. A
 * duplicate comes twice in a row.
 */
export function scheduleOf(captured: readonly Captured[], options: ScheduleOptions) {
  const { faults, pace } = options
  const random = randomOf(options.seed)
  const inOrder = options.order === 'shuffled' ? shuffled(captured, random) : [...captured]
  const dueMs = dueTimes(captured, pace)
  const faultOf = chooseFaults(captured, faults, random)
  const dropped = inOrder.filter(({ requestId }) => faultOf.get(requestId) === 'drop')
  const kept = inOrder
    .map(({ requestId }, at) => ({ requestId, dueMs: dueMs[at] ?? 0 }))
    .filter(({ requestId }) => faultOf.get(requestId) !== 'drop')
  const sent = kept.map(({ requestId }) => requestId)
  for (let at = 0; at + 1 < sent.length; at += 1) {
    const [one, two] = [sent[at], sent[at + 1]]
    if (one === undefined || two === undefined || faultOf.get(one) !== 'reorder') continue
    sent[at] = two
    sent[at + 1] = one
    at += 1
  }
  const lateMs = ((faults.late?.bySeconds ?? 0) * 1000) / (pace !== null && 'speed' in pace ? pace.speed : 1)
  const items = sent.flatMap((requestId, at): ScheduledItem[] => {
    const fault = faultOf.get(requestId) ?? null
    const due = (kept[at]?.dueMs ?? 0) + (fault === 'late' ? lateMs : 0)
    const item: ScheduledItem = {
      requestId,
      fault: fault === 'drop' ? null : fault,
      copy: 0,
      dueMs: Math.round(due),
    }
    return fault === 'duplicate' ? [item, { ...item, copy: 1 }] : [item]
  })
  const ordered = items.toSorted((one, two) => one.dueMs - two.dueMs)
  return {
    items: spaced(ordered, options.gapMs ?? 0),
    dropped: dropped.map(({ requestId }) => requestId),
  }
}

/** The times of the sends, in their order. */
function dueTimes(captured: readonly Captured[], pace: Pace | null): readonly number[] {
  const first = captured[0]?.receivedAtMs ?? 0
  if (pace !== null && 'speed' in pace) {
    let latest = 0
    return captured.map(({ receivedAtMs }) => {
      latest = Math.max(latest, (receivedAtMs - first) / pace.speed)
      return latest
    })
  }
  const perSecond = pace?.perSecond ?? PER_SECOND_DEFAULT
  return captured.map((_, index) => (index * 1000) / perSecond)
}

function chooseFaults(
  captured: readonly Captured[],
  faults: Faults,
  random: () => number,
): Map<number, Fault | 'drop'> {
  const left = shuffled(captured, random)
  const shares = [
    ['drop', faults.drop],
    ['duplicate', faults.duplicate],
    ['bad-signature', faults.badSignature],
    ['late', faults.late?.share],
    ['reorder', faults.reorder],
  ] as const
  const chosen = new Map<number, Fault | 'drop'>()
  for (const [fault, share = 0] of shares) {
    for (const { requestId } of left.splice(0, Math.round(captured.length * share)))
      chosen.set(requestId, fault)
  }
  return chosen
}

/** Moves sends that come too close after the one before. */
function spaced(items: readonly ScheduledItem[], gapMs: number): readonly ScheduledItem[] {
  if (gapMs === 0) return items
  let earliest = 0
  return items.map((item) => {
    const dueMs = Math.max(item.dueMs, earliest)
    earliest = dueMs + gapMs
    return { ...item, dueMs: Math.round(dueMs) }
  })
}

/** Numbers in [0, 1) that depend on the seed alone (mulberry32): the same seed gives the same replay on any machine. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** The items in a random order (Fisher–Yates). */
function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  const mixed = [...items]
  for (let last = mixed.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1))
    const [one, two] = [mixed[last], mixed[other]]
    if (one !== undefined) mixed[other] = one
    if (two !== undefined) mixed[last] = two
  }
  return mixed
}

/** So many of the items, at most, chosen at random; they keep their order. */
export function sampleOf<Item>(items: readonly Item[], size: number, random: () => number): Item[] {
  if (items.length <= size) return [...items]
  const chosen = new Set(
    shuffled(
      items.map((_, index) => index),
      random,
    ).slice(0, size),
  )
  return items.filter((_, index) => chosen.has(index))
}
