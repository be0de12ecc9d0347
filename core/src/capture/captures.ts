import type pg from 'pg'
import type { Services, Urls } from '../api/services.ts'
import { type FirstAttempts, NO_FIRST_ATTEMPTS } from '../deliveries/index.ts'
import { captureUrlOf, learnSigningSecret } from '../endpoints/index.ts'
import type { CapturedRequest } from '../engine/message/index.ts'
import { createCaptureQueue } from './captureQueue.ts'
import { type CaptureSettings, loadCaptureSettings } from './captureSettings.ts'
import { type EvaluatedCapture, withoutConsequences } from './evaluateCapture.ts'
import { createEvaluations } from './evaluations.ts'
import type { Sender } from './evaluationTurns.ts'
import { createRateRefusals, type EarlyRefusal } from './rateRefusals.ts'
import { createSenderRefusals } from './senderRefusals.ts'
import { createSettingsCache } from './settingsCache.ts'

/** What to answer a sender. */
export type CaptureResult =
  /** Committed; answer as `capture` says. */
  | { readonly state: 'stored'; readonly id: number | null; readonly capture: EvaluatedCapture }
  /** There is nobody to capture for: 404. */
  | { readonly state: 'gone' }
  /** Over the endpoint's capture rate: 429. */
  | { readonly state: 'limited'; readonly retryAfterSeconds: number }
  /** The endpoint takes verified captures only: 401. */
  | { readonly state: 'unverified' }
  /** The endpoint takes nothing from this sender: 403. */
  | { readonly state: 'foreign' }
  /** Nothing can be stored now, or too much waits to be evaluated: 503. */
  | { readonly state: 'unavailable'; readonly retryAfterSeconds?: number }

/** Takes captures for one process. */
export interface Captures {
  /** What is remembered of the endpoint, at once; undefined: ask {@link Captures.findSettings}. */
  peekSettings(captureId: string): CaptureSettings | undefined
  /**
   * @param captureId what the capture URL is called by: a well-formed uuid, lower case
   * @returns undefined when there is no such capture URL, or its time is over
   * @throws what the database threw
   */
  findSettings(captureId: string): Promise<CaptureSettings | undefined>
  /**
   * Refuses a capture before its body is read, where the endpoint is known to be over its rate.
   *
   * @returns undefined at once where it is not; else what became of it, or undefined when it takes captures again
   */
  refuseEarly(settings: CaptureSettings): Promise<EarlyRefusal | undefined> | undefined
  /**
   * Refuses a capture from an address that the endpoint takes none from. The result is `gone` where the endpoint takes captures
   * from no address.
   *
   * @returns undefined at once where it takes them; else what became of it, or undefined when the settings have changed since
   * @throws what the database threw
   */
  refuseForeign(
    settings: CaptureSettings,
    address: string | null,
  ): Promise<CaptureResult | undefined> | undefined
  /**
   * Evaluates and stores a request. Settles when it is committed, or will not be.
   *
   * @param settings what the body was read under
   * @param options `captureId`: of the URL that it was sent to; `needsId`: the caller must know the id, which costs the short way of storing;
   *   `sender`: a capture that waits for its evaluation is given up when the sender is gone
   * @throws what the database threw when settings had to be read again, or an error of ours
   */
  capture(
    settings: CaptureSettings,
    request: CapturedRequest,
    options: { readonly captureId: string; readonly needsId?: boolean; readonly sender?: Sender },
  ): Promise<CaptureResult>
  /** Commits what waits. */
  close(): Promise<void>
}

/** Settings that change this often while one capture is under way are somebody's loop. */
const EVALUATIONS_MAX = 10

/**
 * Opens the capture path; `pool` gives it one connection, for as long as it is open.
 *
 * @param firstAttempts makes the first attempts of what is captured, where the process also runs jobs
 */
export function createCaptures(
  services: Services,
  pool: pg.Pool,
  firstAttempts: FirstAttempts = NO_FIRST_ATTEMPTS,
): Captures {
  const cache = createSettingsCache((ids) => loadCaptureSettings(services, ids), services.clock)
  const queue = createCaptureQueue({ ...services, firstAttempts }, pool)
  const evaluator = createEvaluations(services)
  const refusals = createRateRefusals(services)
  const senders = createSenderRefusals(services)

  /** Old settings are forgotten: by newer ones it may be taken. */
  const refuseSender = async (settings: CaptureSettings, address: string | null, reason: string) => {
    const state = await senders.refuse(settings, traceOf(address, reason))
    if (state !== 'refused') cache.forget(settings)
    return state
  }

  const capture: Captures['capture'] = async (given, request, { captureId, needsId = false, sender }) => {
    const publicUrl = publicUrlOf(services.urls, captureId, request)
    let settings: CaptureSettings | undefined = given
    for (let evaluations = 0; evaluations < EVALUATIONS_MAX; evaluations += 1) {
      if (settings === undefined) return { state: 'gone' }
      const evaluating = evaluator.evaluate(settings, request, { publicUrl, sender })
      const evaluated = evaluating instanceof Promise ? await evaluating : evaluating
      if (evaluated === undefined) return { state: 'unavailable' }
      if ('state' in evaluated) return evaluated
      const isRefused = settings.rejectUnverified && isUnverified(evaluated)
      if (isRefused && evaluated.handshake === null) {
        const state = await refuseSender(settings, request.ip, evaluated.row.verdictNote ?? '')
        if (state === 'refused') return { state: 'unverified' }
        if (state === 'gone') return { state: 'gone' }
        settings = await cache.find(captureId)
        continue
      }
      const accepted = isRefused ? withoutConsequences(evaluated) : evaluated
      const outcome = await queue.submit(needsId ? { ...accepted, needsId } : accepted)
      if (outcome.state === 'stored') return concluded(evaluated, outcome.id)
      if (outcome.state === 'limited') refusals.note(settings, outcome.retryAfterSeconds)
      if (outcome.state === 'limited' || outcome.state === 'unavailable') return outcome
      cache.forget(settings)
      if (outcome.state === 'gone') return outcome
      settings = await cache.find(captureId)
    }
    return { state: 'unavailable' }
  }

  const concluded = (
    evaluated: EvaluatedCapture,
    id: number | null,
  ): CaptureResult | Promise<CaptureResult> => {
    const learned = evaluated.handshake?.learnedSigningSecret
    const stored: CaptureResult = { state: 'stored', id, capture: evaluated }
    return learned === undefined ? stored : learn(stored, learned)
  }

  // A challenge is only answered once the secret that it delivered is stored: else its sender poses it again.
  const learn = async (
    stored: CaptureResult & { state: 'stored' },
    secret: string,
  ): Promise<CaptureResult> => {
    try {
      await learnSigningSecret(services, stored.capture.settings.endpointId, secret)
      return stored
    } catch (error) {
      services.log.warn({ err: error }, 'the signing secret of a challenge could not be stored')
      return { state: 'unavailable' }
    }
  }

  return {
    peekSettings: cache.peek,
    findSettings: cache.find,
    refuseEarly: (settings) => (refusals.isOver(settings) ? refusals.refuse(settings) : undefined),
    refuseForeign(settings, address) {
      if (settings.isAllowedSender === undefined || settings.isAllowedSender(address)) return undefined
      return refuseSender(settings, address, 'not an allowed sender').then((state) => {
        if (state === 'stale') return undefined
        return { state: state === 'refused' ? 'foreign' : 'gone' }
      })
    },
    capture,
    async close() {
      evaluator.close()
      await queue.close()
      await refusals.close()
    },
  }
}

/** Nothing to check counts as verified: then the setting asks for nothing. */
function isUnverified({ row }: EvaluatedCapture): boolean {
  return row.verdict !== null && row.verdict !== 'verified'
}

const TRACE_CHARACTERS_MAX = 300

function traceOf(address: string | null, reason: string): string {
  return `${address ?? 'unknown address'}: ${reason}`.slice(0, TRACE_CHARACTERS_MAX)
}

function publicUrlOf(urls: Urls, captureId: string, { path, queryString }: CapturedRequest): string {
  return `${captureUrlOf(urls, captureId)}${path}${queryString === null ? '' : `?${queryString}`}`
}
