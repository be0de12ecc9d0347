import { setTimeout as sleep } from 'node:timers/promises'
import type { Services } from '../../api/services.ts'
import { headersFromText, onFirstResult, RECORDED_BODY_BYTES } from '../../deliveries/index.ts'
import { relayedResponse, type ServedResponse } from '../../endpoints/index.ts'
import { type RowsOf, run, shareOf, statement } from '../../platform/db/index.ts'
import type { Response } from '../../platform/outbound/index.ts'
import { sealedColumns } from '../../platform/secrets/index.ts'
import { findAnswer } from '../../requests/index.ts'

/**
 * The first attempts of the requests `$2` through the action `$3` of the endpoint `$1`, with the answers of those that
 * have ended. A request without an attempt is `open` if one will be made.
 */
const FIRST_ANSWERS = statement(
  'first answers of receivers',
  `select w.id as request_id, a.state, a.status_code,
     d.received_headers, d.received_body, d.received_body_truncated, d.sent_method is null as is_pruned,
     exists (
       select from deliveries v where v.endpoint_id = $1::uuid and v.request_id = w.id and v.action_id = $3::uuid
         and v.finished_at is null and v.dead_lettered_at is null
     ) as is_open,
     ${sealedColumns('d')}
   from unnest($2::bigint[]) as w (id)
   left join delivery_attempts a on a.endpoint_id = $1::uuid and a.request_id = w.id and a.action_id = $3::uuid
     and a.attempt_number = 1 and a.trigger = 'capture'
   left join attempt_details d on d.endpoint_id = a.endpoint_id and d.attempt_id = a.id`,
)

/** Least time between two look-ups of the same endpoint, in milliseconds. */
const LOOK_MS = 20
/** The same after a look-up that failed. */
const FAILED_LOOK_MS = 250
/** The most requests of one look-up. Each may have an answer of 256 KiB. */
const LOOK_REQUESTS_MAX = 64

/** A first attempt whose answer is awaited. */
export interface Awaited {
  readonly workspaceId: string
  readonly endpointId: string
  readonly actionId: string
  readonly requestId: number
}

/** The answer of a receiver, or the reason why it is not the sender's. */
export type Relayed = { readonly served: ServedResponse } | { readonly reason: string }

type RelayServices = Pick<Services, 'db' | 'endpointChanges' | 'log' | 'secrets'>

interface Waiter {
  readonly requestId: number
  readonly resolve: (relayed: Relayed) => void
  /** Number of changes of the endpoint that its last look-up knew; -1 before the first. */
  known: number
}

/**
 * Waits for the first attempt of a delivery and returns the answer of its receiver. The attempt is made and recorded by
 * whatever process makes attempts. If that is this one, its result is handed over in memory; else its record is looked
 * up when the endpoint changes.
 *
 * @returns waits until the answer is there or the signal aborts, whose reason is then the result's. Never rejects
 */
export type AwaitAnswer = (awaited: Awaited, ended: AbortSignal) => Promise<Relayed>

/** Opens the waits of one process. */
export function createRelays(services: RelayServices): AwaitAnswer {
  const lookUps = new Map<string, LookUp>()
  return (awaited, ended) =>
    new Promise((resolve) => {
      const key = `${awaited.endpointId}/${awaited.actionId}`
      const lookUp = lookUps.get(key) ?? new LookUp(services, awaited, () => lookUps.delete(key))
      lookUps.set(key, lookUp)
      const settle = (relayed: Relayed) => {
        ended.removeEventListener('abort', give)
        forget()
        lookUp.remove(waiter)
        resolve(relayed)
      }
      const waiter: Waiter = { requestId: awaited.requestId, resolve: settle, known: -1 }
      const give = () => settle({ reason: String(ended.reason) })
      const forget = onFirstResult(services, awaited, ({ received, error }) => {
        settle(
          received === null
            ? { reason: 'no_response' }
            : answerOf({ ...received, isRefused: error !== null }),
        )
      })
      lookUp.add(waiter)
      ended.addEventListener('abort', give)
      if (ended.aborted) give()
    })
}

/** Looks up the first attempts of one action, for all that wait. It ends itself with the last one. */
class LookUp {
  readonly #services: RelayServices
  readonly #of: Omit<Awaited, 'requestId'>
  readonly #waiters = new Set<Waiter>()
  readonly #close: () => void
  #changes = 0
  #isLooking = false

  constructor(services: RelayServices, of: Omit<Awaited, 'requestId'>, onEmpty: () => void) {
    this.#services = services
    this.#of = of
    const stop = services.endpointChanges.onEndpoint(of.endpointId, () => {
      this.#changes += 1
      void this.#look()
    })
    this.#close = () => {
      stop()
      onEmpty()
    }
  }

  add(waiter: Waiter): void {
    this.#waiters.add(waiter)
    void this.#look()
  }

  remove(waiter: Waiter): void {
    if (this.#waiters.delete(waiter) && this.#waiters.size === 0) this.#close()
  }

  /** Looks until every waiter knows the present state. Never rejects. */
  async #look(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    // Waiters of one batch of captures are asked for together.
    await Promise.resolve()
    for (let asked = this.#next(); asked.length > 0; asked = this.#next()) {
      let pauseMs = LOOK_MS
      try {
        await this.#ask(asked)
      } catch (err) {
        const { endpointId } = this.#of
        this.#services.log.warn({ err, endpointId }, 'the answer of a receiver could not be read')
        for (const waiter of asked) waiter.known = -1
        pauseMs = FAILED_LOOK_MS
      }
      await sleep(pauseMs, undefined, { ref: false })
    }
    this.#isLooking = false
  }

  /** The next waiters whose last look-up is older than the endpoint's last change; the longest unasked first. */
  #next(): Waiter[] {
    const stale: Waiter[] = []
    for (const waiter of this.#waiters) {
      if (waiter.known === this.#changes) continue
      stale.push(waiter)
      if (stale.length === LOOK_REQUESTS_MAX) break
    }
    for (const waiter of stale) {
      waiter.known = this.#changes
      // The set is in order of the last look-up.
      this.#waiters.delete(waiter)
      this.#waiters.add(waiter)
    }
    return stale
  }

  async #ask(asked: readonly Waiter[]): Promise<void> {
    const { workspaceId, endpointId, actionId } = this.#of
    const ids = [...new Set(asked.map(({ requestId }) => requestId))]
    const db = shareOf(this.#services.db, workspaceId)
    const rows = await run(db, FIRST_ANSWERS, [endpointId, ids, actionId])
    const relayed = new Map(rows.map((row) => [row.requestId, recordedAnswer(row)]))
    for (const waiter of asked) {
      const { requestId } = waiter
      const answer = relayed.get(requestId)
      if (answer === NOT_RECORDED) {
        const kept = await findAnswer(this.#services, db, { endpointId, requestId })
        waiter.resolve(kept === undefined ? NOT_RECORDED : answerOf({ ...kept, isRefused: false }))
      } else if (answer !== undefined) waiter.resolve(answer)
    }
  }
}

/** The record was pruned, or may not repeat what the receiver answers to an original. */
const NOT_RECORDED: Relayed = { reason: 'answer_not_kept' }

/** The reason where no attempt was made, and none will be. */
export const NO_ATTEMPT = 'no_attempt'

/** Undefined while the first attempt is still to end. */
function recordedAnswer(row: RowsOf<typeof FIRST_ANSWERS>): Relayed | undefined {
  const { state, statusCode } = row
  if (state === null) return row.isOpen ? undefined : { reason: NO_ATTEMPT }
  if (state === 'Pending') return undefined
  if (statusCode === null) return { reason: 'no_response' }
  const isRefused = state !== 'Succeeded'
  const body = row.receivedBody ?? Buffer.alloc(0)
  const bodyTruncated = row.receivedBodyTruncated === true
  if (!isRefused && (row.isPruned || (bodyTruncated && body.length === 0))) return NOT_RECORDED
  const headers = headersFromText(row.receivedHeaders ?? '[]')
  return answerOf({ statusCode, headers, body, bodyTruncated, isRefused })
}

/** `isRefused`: whether the attempt has failed with the response. */
type Ended = Omit<Response, 'outcome'> & { readonly isRefused: boolean }

function answerOf({ statusCode: status, headers: fields, body, bodyTruncated, isRefused }: Ended): Relayed {
  if (isRefused) return { reason: `http_${status}` }
  if (bodyTruncated) return { reason: body.length < RECORDED_BODY_BYTES ? 'no_response' : 'answer_too_long' }
  const encoding = fields.find(([name]) => name.toLowerCase() === 'content-encoding')?.[1] ?? 'identity'
  if (encoding.toLowerCase() !== 'identity') return { reason: 'answer_encoded' }
  const served = relayedResponse({ status, fields, body })
  return served === undefined ? { reason: 'answer_not_text' } : { served }
}
