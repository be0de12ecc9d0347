import { closeIncidents, openIncident } from '../../alerts/index.ts'
import type { Services } from '../../api/services.ts'
import { type ServedResponse, takeUse } from '../../endpoints/index.ts'
import { sleep } from '../../platform/time/index.ts'
import type { CaptureSettings } from '../captureSettings.ts'
import type { EvaluatedCapture } from '../evaluateCapture.ts'
import { type AnsweredBy, noteAnswer } from './answeredBy.ts'
import { type Relayed, relayedAnswer } from './relay.ts'
import { type Answered, rendered, TOO_LONG } from './render.ts'
import type { AnswerScript, Relay } from './script.ts'

/** An answer to a sender, and how the connection ends with it. */
export interface Answer {
  readonly served: ServedResponse
  readonly close: 'reset' | 'mid-body' | null
}

/** An answer that is known, or that of a receiver, which has to be waited for. */
type Chosen = ({ readonly wait: 'delay'; readonly delayMs: number } & Answer) | Relaying

/** Holds no body: many of these wait at once. */
interface Relaying {
  readonly wait: 'relay'
  readonly relay: Relay
  readonly requestId: number
  readonly endpointId: string
}

/** Answers that wait at once for one endpoint, in one process. Further captures get the endpoint's own answer. */
export const WAITING_ANSWERS_MAX = 2000

const NOT_RENDERED: AnsweredBy = { kind: 'endpoint', index: null, note: TOO_LONG }
const CROWDED: AnsweredBy = {
  kind: 'endpoint',
  index: null,
  note: `${WAITING_ANSWERS_MAX} answers of the endpoint waited already.`,
}
const NO_ACTION: AnsweredBy = {
  kind: 'fallback',
  index: null,
  note: 'The action that answers is gone or switched off.',
}

/**
 * Waits for a chosen answer: its delay, or the receiver. Call it once, since it gives a place back. It holds no body of
 * a request. Never rejects.
 *
 * @param gone aborts when the sender has gone
 */
export type WaitForAnswer = (gone: AbortSignal) => Promise<Answer>

/**
 * Chooses the answer to a capture of an endpoint with a script, once it is committed. Never rejects: whatever fails, the
 * endpoint's own answer is left, and the request says why.
 *
 * @param id null for a duplicate that was not stored
 */
export type ChooseAnswer = (capture: EvaluatedCapture, id: number | null) => Promise<WaitForAnswer>

type AnsweringServices = Pick<
  Services,
  'db' | 'urls' | 'log' | 'clock' | 'enqueue' | 'endpointChanges' | 'stopping'
>

/** Opens the answers of one process: those of endpoints that have others than their own. */
export function createAnswering(services: AnsweringServices): ChooseAnswer {
  const waiting = new Map<string, number>()

  /** Takes a place for an answer that waits. {@link leave} gives it back. */
  const enter = (endpointId: string): boolean => {
    const count = waiting.get(endpointId) ?? 0
    if (count >= WAITING_ANSWERS_MAX) return false
    waiting.set(endpointId, count + 1)
    return true
  }

  const leave = (endpointId: string) => {
    const left = (waiting.get(endpointId) ?? 1) - 1
    if (left === 0) waiting.delete(endpointId)
    else waiting.set(endpointId, left)
  }

  const note = async (endpointId: string, requestId: number | null, by: AnsweredBy) => {
    if (requestId === null) return
    try {
      await noteAnswer(services.db, endpointId, requestId, by)
      services.endpointChanges.announce([endpointId])
    } catch (err) {
      services.log.warn({ err, endpointId, requestId }, 'the answer of a request was not noted')
    }
  }

  const take = async (script: AnswerScript, endpointId: string, position: number, times: number) => {
    const { exhausted } = script.learned
    if (exhausted.has(position)) return false
    const taken = await takeUse(services.db, { endpointId, runId: script.runId, position, times })
    if (!taken) exhausted.add(position)
    return taken
  }

  const tell = async (
    { learned }: AnswerScript,
    settings: CaptureSettings,
    state: 'unavailable' | 'available',
  ) => {
    if (learned.relay === state) return
    learned.relay = state
    const { endpointId, endpointName, workspaceId } = settings
    try {
      await services.db.transaction().execute(async (trx) => {
        const kind = 'answer.unavailable'
        const endpoint = { id: endpointId, name: endpointName }
        if (state === 'available') await closeIncidents(services, trx, { kind, subjectIds: [endpointId] })
        else
          await openIncident(services, trx, {
            kind,
            workspaceId,
            subject: endpoint,
            endpoint,
            requestId: null,
            reason: null,
          })
      })
    } catch (err) {
      learned.relay = null
      services.log.warn({ err, endpointId }, 'the incident of a relayed answer was not written')
    }
  }

  const atOnce = (served: ServedResponse): Chosen => ({ wait: 'delay', delayMs: 0, served, close: null })

  const scripted = async (script: AnswerScript, capture: EvaluatedCapture, id: number | null) => {
    const { settings, candidates } = capture
    for (const index of candidates ?? []) {
      const response = script.responses[index]
      if (response === undefined) continue
      const { times, delayMs, close } = response
      if (delayMs > 0 && !enter(settings.endpointId)) {
        await note(settings.endpointId, id, CROWDED)
        return atOnce(settings.response)
      }
      let served: ServedResponse | undefined
      try {
        if (times !== null && !(await take(script, settings.endpointId, index, times))) continue
        served = rendered(services.urls, response, answeredOf(capture, id))
      } finally {
        if (served === undefined && delayMs > 0) leave(settings.endpointId)
      }
      await note(
        settings.endpointId,
        id,
        served === undefined ? NOT_RENDERED : { kind: 'response', index, note: null },
      )
      return served === undefined
        ? atOnce(settings.response)
        : ({ wait: 'delay', delayMs, served, close } as const)
    }
    return undefined
  }

  const relayed = async (
    relay: Relay,
    { settings, dispatch }: EvaluatedCapture,
    requestId: number,
  ): Promise<Chosen> => {
    const { action, fallback } = relay
    const { endpointId } = settings
    if (action === null) {
      await note(endpointId, requestId, NO_ACTION)
      return atOnce(fallback)
    }
    if (!dispatch.actions.some(({ id }) => id === action.id)) return atOnce(settings.response)
    if (enter(endpointId)) return { wait: 'relay', relay, requestId, endpointId }
    await note(endpointId, requestId, CROWDED)
    return atOnce(settings.response)
  }

  const receive = async ({ relay, requestId, endpointId }: Relaying, gone: AbortSignal): Promise<Answer> => {
    const ended = AbortSignal.any([gone, services.stopping, AbortSignal.timeout(relay.timeoutMs)])
    const found: Relayed = await relayedAnswer(
      services,
      { endpointId, actionId: relay.actionId, requestId },
      ended,
    ).catch((err: unknown) => {
      services.log.warn({ err, endpointId }, 'the answer of a receiver could not be read')
      return { reason: 'unavailable' }
    })
    const isRelayed = 'served' in found
    await note(endpointId, requestId, {
      kind: isRelayed ? 'action' : 'fallback',
      index: null,
      note: isRelayed ? null : found.reason,
    })
    return { served: isRelayed ? found.served : relay.fallback, close: null }
  }

  const choose = async (
    script: AnswerScript,
    capture: EvaluatedCapture,
    id: number | null,
  ): Promise<Chosen> => {
    const { settings } = capture
    const { relay } = script
    const chosen = await scripted(script, capture, id)
    if (chosen !== undefined) return chosen
    if (relay === null || id === null) return atOnce(settings.response)
    void tell(script, settings, relay.action === null ? 'unavailable' : 'available')
    return await relayed(relay, capture, id)
  }

  const waiter =
    (chosen: Chosen, endpointId: string): WaitForAnswer =>
    async (gone) => {
      if (chosen.wait === 'delay' && chosen.delayMs === 0) return chosen
      try {
        if (chosen.wait === 'relay') return await receive(chosen, gone)
        await Promise.race([sleep(chosen.delayMs), aborted(AbortSignal.any([gone, services.stopping]))])
        return chosen
      } finally {
        leave(endpointId)
      }
    }

  return async (capture, id) => {
    const { endpointId, script, response } = capture.settings
    const plain = atOnce(response)
    if (script === null) return waiter(plain, endpointId)
    const chosen = await choose(script, capture, id).catch((err: unknown) => {
      services.log.warn({ err, endpointId }, 'an answer could not be chosen')
      return plain
    })
    return waiter(chosen, endpointId)
  }
}

function answeredOf({ settings, request }: EvaluatedCapture, id: number | null): Answered {
  const { endpointId, endpointName, captureId } = settings
  return { requestId: id ?? 0, request, endpoint: { id: endpointId, name: endpointName, captureId } }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
