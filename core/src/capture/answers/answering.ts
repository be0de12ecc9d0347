import { gathering } from '../../api/gathering.ts'
import type { Services } from '../../api/services.ts'
import { type PreparedResponse, type ServedResponse, takeUse } from '../../endpoints/index.ts'
import { run, shareOf, statement } from '../../platform/db/index.ts'
import { aborted } from '../../platform/time/index.ts'
import type { AnsweredCapture } from '../captureResult.ts'
import type { Evaluations } from '../evaluations.ts'
import type { Sender } from '../evaluationTurns.ts'
import { createRelays, NO_ATTEMPT } from './relay.ts'
import { tellOfRelay } from './relayIncident.ts'
import { type Rendered, renderedInSteps } from './render.ts'
import type { AnswerScript, Relay } from './script.ts'
import type { Place, WaitingAnswers } from './waitingAnswers.ts'

/** An answer to a sender, and how the connection ends with it. */
export interface Answer {
  readonly served: ServedResponse
  readonly close: 'reset' | 'mid-body' | null
}

/** An answer that is known, after a wait in its place, or that of a receiver, which has to be waited for. */
type Chosen =
  | ({ readonly wait: 'none' } & Answer)
  | ({ readonly wait: 'delay'; readonly delayMs: number; readonly place: Place } & Answer)
  | ({ readonly wait: 'relay'; readonly relay: Relay; readonly place: Place } & OfRelay)

/** Holds no body: many of these wait at once. */
interface OfRelay {
  readonly workspaceId: string
  readonly endpointId: string
  /** Null for a duplicate that was not stored. */
  readonly requestId: number | null
  /** The request whose first attempt answers: the capture itself, or the first of its event. */
  readonly attemptOf: number
  /**
   * The answer if no attempt was made. For a duplicate that the condition does not match: the endpoint's own, since the
   * first of its event may have matched. Null: the relay's fallback.
   */
  readonly own: ServedResponse | null
}

/** How often filling in a response reads the whole request. */
const RENDER_LOOKS = 1

const CROWDED = 'Too many answers waited already.'
const BUSY = 'Filling in the body would have waited for too long.'
const FAILED = 'The answer could not be made.'
const NO_ACTION = 'The action that answers is gone or switched off.'

/**
 * Waits for a chosen answer: its delay, or the receiver. Call it once, since it gives a place back. It holds no body of
 * a request; a body that was filled in is counted with its place. Never rejects.
 */
export type WaitForAnswer = (sender: Sender) => Promise<Answer>

/**
 * Chooses the answer to a capture of an endpoint with a script, once it is committed. Never rejects: whatever fails, the
 * endpoint's own answer is left, and the request says why.
 */
export type ChooseAnswer = (result: AnsweredCapture) => Promise<WaitForAnswer>

type AnsweringServices = Pick<
  Services,
  'db' | 'urls' | 'log' | 'clock' | 'enqueue' | 'endpointChanges' | 'secrets' | 'stopping'
>

/**
 * Opens the answers of one process: those of endpoints that have others than their own.
 *
 * @param evaluations where bodies of answers are filled in, in the turns of their workspaces
 */
export function createAnswering(
  services: AnsweringServices,
  evaluations: Pick<Evaluations, 'run'>,
  places: WaitingAnswers,
): ChooseAnswer {
  const awaitAnswer = createRelays(services)

  /** Notes what answered a request, if it was stored. Never rejects. */
  const note = async (
    { workspaceId, endpointId }: { readonly workspaceId: string; readonly endpointId: string },
    requestId: number | null,
    by: AnsweredBy,
  ) => {
    if (requestId === null) return
    try {
      await noteTogether(shareOf(services.db, workspaceId), endpointId, { endpointId, requestId, by })
      services.endpointChanges.announce([endpointId])
    } catch (err) {
      services.log.warn({ err, endpointId, requestId }, 'the answer of a request was not noted')
    }
  }

  /** Answers at once with another answer than the wanted one. The note is written meanwhile. */
  const instead = (
    result: AnsweredCapture,
    by: { readonly kind: 'endpoint' | 'fallback'; readonly note: string },
    served: ServedResponse = result.capture.settings.response,
  ): Chosen => {
    void note(result.capture.settings, idOf(result), { index: null, ...by })
    return { wait: 'none', served, close: null }
  }

  const fillIn = async (response: PreparedResponse, result: AnsweredCapture): Promise<Rendered> => {
    if (response.template === null) return response
    const { settings, request } = result.capture
    const { endpointId: id, endpointName: name, captureId, workspaceId } = settings
    const answered = { requestId: firstIdOf(result), request, endpoint: { id, name, captureId } }
    const work = renderedInSteps(services.urls, response, answered)
    const made = await evaluations.run({ workspaceId, request, looks: RENDER_LOOKS }, work)
    return 'state' in made ? { fault: BUSY } : made
  }

  /**
   * Tries one response. Its body is filled in and its place is taken before its use is: a use is of an answer. If one of
   * these fails, a response that has uses left still ends the list.
   *
   * @returns undefined if it has none left
   */
  const tryResponse = async (
    script: AnswerScript,
    index: number,
    response: PreparedResponse,
    result: AnsweredCapture,
  ): Promise<Chosen | undefined> => {
    const { settings } = result.capture
    const { endpointId, workspaceId } = settings
    const { times, delayMs, close } = response
    const made = await fillIn(response, result)
    const bytes =
      'served' in made && made.served !== response.served ? Buffer.byteLength(made.served.body) : 0
    const place = 'served' in made && delayMs > 0 ? places.enter(settings, bytes) : undefined
    const fault = 'fault' in made ? made.fault : delayMs > 0 && place === undefined ? CROWDED : null
    try {
      if (times !== null) {
        const counted = { endpointId, runId: script.runId, position: index, times, takes: fault === null }
        const isLeft = await takeUse(shareOf(services.db, workspaceId), counted)
        if (!isLeft) {
          script.learned.exhausted.add(index)
          place?.leave()
          return undefined
        }
      }
      if (fault !== null || 'fault' in made)
        return instead(result, { kind: 'endpoint', note: fault ?? FAILED })
      await note(settings, idOf(result), { kind: 'response', index, note: null })
      const { served } = made
      return place === undefined
        ? { wait: 'none', served, close }
        : { wait: 'delay', delayMs, place, served, close }
    } catch (err) {
      place?.leave()
      throw err
    }
  }

  const relayed = (relay: Relay, result: AnsweredCapture): Chosen => {
    const { settings, dispatch } = result.capture
    const attemptOf = attemptOfResult(result)
    if (relay.action === null) return instead(result, { kind: 'fallback', note: NO_ACTION }, relay.fallback)
    const matches = dispatch.actions.some(({ id }) => id === relay.actionId)
    if (attemptOf === null || (!matches && attemptOf === idOf(result)))
      return { wait: 'none', served: settings.response, close: null }
    const place = places.enter(settings, 0)
    if (place === undefined) return instead(result, { kind: 'endpoint', note: CROWDED })
    const { workspaceId, endpointId } = settings
    const own = matches ? null : settings.response
    return { wait: 'relay', relay, place, workspaceId, endpointId, requestId: idOf(result), attemptOf, own }
  }

  const choose = async (script: AnswerScript, result: AnsweredCapture): Promise<Chosen> => {
    const { settings, candidates } = result.capture
    for (const index of candidates ?? []) {
      const response = script.responses[index]
      if (response === undefined || script.learned.exhausted.has(index)) continue
      const chosen = await tryResponse(script, index, response, result)
      if (chosen !== undefined) return chosen
    }
    if (script.relay === null) return { wait: 'none', served: settings.response, close: null }
    void tellOfRelay(services, settings, script, script.relay)
    return relayed(script.relay, result)
  }

  const receive = async (
    { relay, requestId, attemptOf, own, ...of }: OfRelay & { readonly relay: Relay },
    ended: AbortSignal,
  ): Promise<Answer> => {
    const found = await awaitAnswer({ ...of, actionId: relay.actionId, requestId: attemptOf }, ended)
    if (own !== null && 'reason' in found && found.reason === NO_ATTEMPT) return { served: own, close: null }
    const by: AnsweredBy =
      'served' in found
        ? { kind: 'action', index: null, note: null }
        : { kind: 'fallback', index: null, note: found.reason }
    // The sender waits for its note no longer than for its answer.
    await Promise.race([note(of, requestId, by), aborted(ended)])
    return { served: 'served' in found ? found.served : relay.fallback, close: null }
  }

  const wait = async (chosen: Chosen, sender: Sender): Promise<Answer> => {
    if (chosen.wait === 'none') return chosen
    const { place } = chosen
    const ending = new AbortController()
    const stop = () => ending.abort('stopping')
    const leave = () => ending.abort(place.ended.reason)
    services.stopping.addEventListener('abort', stop)
    place.ended.addEventListener('abort', leave)
    place.follow(sender)
    if (services.stopping.aborted) stop()
    const ms = chosen.wait === 'delay' ? chosen.delayMs : chosen.relay.timeoutMs
    const timer = setTimeout(() => ending.abort('timeout'), ms)
    timer.unref()
    try {
      if (chosen.wait === 'relay') return await receive(chosen, ending.signal)
      await aborted(ending.signal)
      return chosen
    } finally {
      clearTimeout(timer)
      services.stopping.removeEventListener('abort', stop)
      place.leave()
    }
  }

  const chooseSafely = async (result: AnsweredCapture): Promise<Chosen> => {
    const { script, response, endpointId } = result.capture.settings
    if (script === null) return { wait: 'none', served: response, close: null }
    try {
      return await choose(script, result)
    } catch (err) {
      services.log.warn({ err, endpointId }, 'an answer could not be chosen')
      return instead(result, { kind: 'endpoint', note: FAILED })
    }
  }

  // Separate functions, so that the wait does not keep the capture in memory.
  const waitFor =
    (chosen: Chosen): WaitForAnswer =>
    (sender) =>
      wait(chosen, sender)
  return async (result) => waitFor(await chooseSafely(result))
}

/** The request that stands for a capture: of a duplicate that was not stored, the first of its event. */
function firstIdOf(result: AnsweredCapture): number {
  return result.state === 'stored' ? (result.id ?? 0) : result.duplicateOf
}

/** Null for a duplicate that was not stored. */
function idOf(result: AnsweredCapture): number | null {
  return result.state === 'stored' ? result.id : null
}

/** The request whose first attempt answers a capture: a duplicate that is not delivered is answered as its first. */
function attemptOfResult(result: AnsweredCapture): number | null {
  return result.state === 'discarded' ? result.duplicateOf : (result.skippedFor ?? result.id)
}

const ANSWERED = statement(
  'note answers of requests',
  `update requests r set answered_by = a.answered_by
   from unnest($2::bigint[], $3::text[]) as a (id, answered_by)
   where r.endpoint_id = $1::uuid and r.id = a.id`,
)

/** The source of the answer to a sender. */
interface AnsweredBy {
  /** `endpoint` is its own answer, in place of one that could not be given: `note` says why. */
  readonly kind: 'response' | 'action' | 'fallback' | 'endpoint'
  /** Index in `responses`; null for other kinds. */
  readonly index: number | null
  readonly note: string | null
}

/** Stores with a request what answered its sender. */
const noteTogether = gathering<{ endpointId: string; requestId: number; by: AnsweredBy }, void>(
  async (db, answers) => {
    const ids = answers.map(({ requestId }) => requestId)
    const texts = answers.map(({ by }) => JSON.stringify(by))
    await run(db, ANSWERED, [answers[0].endpointId, ids, texts])
    return answers.map(() => undefined)
  },
)
