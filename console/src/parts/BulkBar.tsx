import { useEffect, useSyncExternalStore } from 'react'
import { Store } from '../store.ts'
import { creel, type Inputs, retryAfterMs } from '../trpc.ts'
import { count } from '../words/format.ts'
import type { Filters } from '../words/grammar.ts'
import { problemOf } from '../words/problem.ts'
import { Button } from './Button.tsx'
import { toast } from './Toasts.tsx'

/** Progress of a bulk operation; its result stays until it is dismissed. */
export function BulkBar({ endpointId }: { endpointId: string }) {
  const now = useSyncExternalStore(bulk.subscribe, bulk.get)
  const isRunning = now?.isRunning === true
  useEffect(() => {
    if (!isRunning) return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [isRunning])
  if (now === null || now.endpointId !== endpointId) return null
  const { done, failed, isStopped, problem, skipped, total, verb } = now
  return (
    <div className="progress" role="status">
      {isRunning && <progress max={Math.max(total, 1)} value={done + skipped + failed} aria-label={verb} />}
      <span>
        <b>{count(done)}</b> {verb}
        {skipped > 0 && `, ${count(skipped)} skipped: no action matches, or they were deleted`}
        {failed > 0 && <span className="bad">, {count(failed)} failed</span>}
        {isStopped && ', stopped'}
        {problem !== null && <span className="bad"> {problem}</span>}
      </span>
      {isRunning ? (
        <Button look="small" onClick={() => change(() => ({ isStopped: true }))} disabled={isStopped}>
          Stop
        </Button>
      ) : (
        <Button look="small" onClick={() => bulk.set(null)}>
          Dismiss
        </Button>
      )}
    </div>
  )
}

interface Bulk {
  readonly endpointId: string
  /** Past participle for the message: `replayed`, `deleted`. */
  readonly verb: string
  /** Number of requests; for a search it may grow during the operation. */
  readonly total: number
  readonly done: number
  readonly skipped: number
  readonly failed: number
  readonly isRunning: boolean
  readonly isStopped: boolean
  readonly problem: string | null
}

/** The running operation, or the result of the last one until it is dismissed. One at a time. */
const bulk = new Store<Bulk | null>(null)

/** The most requests of one call. */
export const CHUNK = 500

/** The chosen requests: by id, or all that match filters and have a lower id than `beforeId`. */
export type Chosen =
  | { readonly ids: readonly number[] }
  | { readonly filters: Filters; readonly about: number; readonly beforeId?: number | undefined }

type Work = (ids: readonly number[]) => Promise<Pick<Bulk, 'done' | 'skipped'>>

/**
 * Starts an operation over requests, 500 at a time, which reports progress and refusals in {@link bulk}.
 *
 * @param work the operation on one chunk
 * @returns false, after a note that says so, while another operation runs
 */
export function startBulk(endpointId: string, verb: string, chosen: Chosen, work: Work): boolean {
  if (!isBulkFree()) return false
  void runBulk(endpointId, verb, chosen, work)
  return true
}

/** Whether no operation runs; if one does, a note says so. */
function isBulkFree(): boolean {
  const isFree = bulk.get()?.isRunning !== true
  if (!isFree) toast('Nothing was done: another operation is still running.')
  return isFree
}

/** {@link startBulk}, to wait for. Never rejects. */
export async function runBulk(endpointId: string, verb: string, chosen: Chosen, work: Work): Promise<void> {
  if (!isBulkFree()) return
  const total = 'ids' in chosen ? chosen.ids.length : chosen.about
  const nothing = { done: 0, skipped: 0, failed: 0, isStopped: false, problem: null }
  bulk.set({ endpointId, verb, total, isRunning: true, ...nothing })
  // The chunk under way, which fails with the call.
  let asked: readonly number[] = []
  try {
    for await (const ids of chunks(endpointId, chosen)) {
      if (isStopped()) break
      asked = ids
      const outcome = await patiently(() => work(ids))
      asked = []
      change(({ done, skipped }) => ({ done: done + outcome.done, skipped: skipped + outcome.skipped }))
    }
  } catch (error) {
    // A chunk that waited when the operation was stopped has not failed.
    if (retryAfterMs(error) === undefined)
      change(({ failed }) => ({ failed: failed + asked.length, problem: problemOf(error).detail }))
  }
  change(() => ({ isRunning: false }))
}

/** Makes a call, and makes it again where the service asks to wait, until the operation is stopped. */
async function patiently<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      const ms = retryAfterMs(error)
      if (ms === undefined) throw error
      await stoppedOr(ms)
      if (isStopped()) throw error
    }
  }
}

const isStopped = () => bulk.get()?.isStopped === true

/** Waits, until the operation is stopped at the longest. */
async function stoppedOr(ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const look = () => isStopped() && resolve()
  const leave = bulk.subscribe(look)
  look()
  const timer = setTimeout(resolve, ms)
  await promise
  clearTimeout(timer)
  leave()
}

function change(members: (now: Bulk) => Partial<Bulk>): void {
  const now = bulk.get()
  if (now !== null) bulk.set({ ...now, ...members(now) })
}

async function* chunks(endpointId: string, chosen: Chosen): AsyncGenerator<readonly number[]> {
  if ('ids' in chosen) {
    for (let at = 0; at < chosen.ids.length; at += CHUNK) yield chosen.ids.slice(at, at + CHUNK)
    return
  }
  let { beforeId } = chosen
  for (;;) {
    const input: Inputs['requests']['select'] = { endpointId, ...chosen.filters, limit: CHUNK, beforeId }
    const { ids, nextBeforeId } = await patiently(() => creel.requests.select.query(input))
    if (ids.length > 0) yield ids
    if (nextBeforeId === null) return
    beforeId = nextBeforeId
  }
}
