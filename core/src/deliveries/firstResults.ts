import type { Services } from '../api/services.ts'
import type { Db } from '../platform/db/index.ts'
import { stateOf } from '../platform/stateOf.ts'
import type { Attempt, AttemptResult, Ended } from './attempt.ts'

type Listener = (result: AttemptResult) => void

/** A first attempt of a capture. */
export interface FirstAttempt {
  readonly requestId: number
  readonly actionId: string
}

const listenersOf = stateOf<Db, Map<string, Set<Listener>>>(() => new Map())

const keyOf = ({ requestId, actionId }: FirstAttempt) => `${requestId}/${actionId}`

/** Whether an attempt is the first of a capture. */
export function isFirst({ attemptNumber, trigger }: Pick<Attempt, 'attemptNumber' | 'trigger'>): boolean {
  return attemptNumber === 1 && trigger === 'capture'
}

/**
 * Calls back with the result of a first attempt once it is recorded, if this process makes the attempt.
 *
 * @returns ends the subscription
 */
export function onFirstResult(
  { db }: Pick<Services, 'db'>,
  attempt: FirstAttempt,
  listener: Listener,
): () => void {
  const all = listenersOf(db)
  const key = keyOf(attempt)
  const listeners = all.get(key) ?? new Set()
  all.set(key, listeners.add(listener))
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0 && all.get(key) === listeners) all.delete(key)
  }
}

/** Tells the results of first attempts that were recorded. Costs nothing while none is awaited. */
export function tellFirstResults({ db }: Pick<Services, 'db'>, ended: readonly Ended[]): void {
  const all = listenersOf(db)
  if (all.size === 0) return
  for (const { attempt, result } of ended) {
    if (!isFirst(attempt)) continue
    const key = keyOf({ requestId: attempt.requestId, actionId: attempt.action.id })
    for (const listener of [...(all.get(key) ?? [])]) listener(result)
  }
}
