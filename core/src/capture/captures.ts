import type pg from 'pg'
import { SEALED_MS } from '../api/seal.ts'
import type { Services } from '../api/services.ts'
import { DELIVERY_LANES, type FirstAttempts, NO_FIRST_ATTEMPTS } from '../deliveries/index.ts'
import { LaneJobs } from '../dispatch/index.ts'
import { learnSigningSecret, requestUrlOf, shreddedEndpointOf } from '../endpoints/index.ts'
import type { CapturedRequest } from '../engine/message/index.ts'
import { shownAddress } from '../engine/storing/index.ts'
import { type ChooseAnswer, createAnswering } from './answers/answering.ts'
import { WaitingAnswers } from './answers/waitingAnswers.ts'
import { createCaptureQueue } from './captureQueue.ts'
import type { CaptureResult } from './captureResult.ts'
import { type CaptureSettings, loadCaptureSettings, openRevisions } from './captureSettings.ts'
import type { CaptureOutcome } from './captureStatement.ts'
import { isSkipped } from './consequences.ts'
import { type EvaluatedCapture, withoutConsequences } from './evaluateCapture.ts'
import { createEvaluations } from './evaluations.ts'
import type { Sender } from './evaluationTurns.ts'
import { createRateRefusals, type EarlyRefusal } from './rateRefusals.ts'
import { tellOfRedactionFaults } from './redactionFaults.ts'
import { createRejectionHistory } from './rejectionHistory.ts'
import { createSenderRefusals } from './senderRefusals.ts'
import { createSettingsCache, type LoadSettings } from './settingsCache.ts'

export interface Captures {
  /** Opens the connection to the database ahead of the first capture, if that is possible now. */
  connect(): Promise<void>
  /** Cached settings of the endpoint, at once; undefined if they must be read by {@link Captures.findSettings}. */
  peekSettings(captureId: string): CaptureSettings | undefined
  /**
   * Finds the settings of an endpoint, from the cache or from the database.
   *
   * @param captureId id in the capture URL: a well-formed uuid, lower case
   * @returns undefined when there is no such capture URL, or it has expired
   * @throws errors of the database
   */
  findSettings(captureId: string): Promise<CaptureSettings | undefined>
  /**
   * Refuses a capture before its body is read, if the endpoint is known to be over its rate.
   *
   * @returns undefined at once if it is not; else the refusal, or undefined if the endpoint takes captures again
   */
  refuseEarly(settings: CaptureSettings): Promise<EarlyRefusal | undefined> | undefined
  /**
   * Refuses a capture from an address that the endpoint does not allow. The result is `gone` if the endpoint takes no
   * captures at all.
   *
   * @returns undefined at once if the address is allowed; else the outcome, or undefined if the settings have changed
   * @throws errors of the database
   */
  refuseForeign(
    settings: CaptureSettings,
    address: string | null,
  ): Promise<CaptureResult | undefined> | undefined
  /**
   * Checks cached settings on which it depends whether a request is captured, and drops those that are out of date.
   *
   * @param captureId id in the URL that was called
   * @returns `gone` if the endpoint takes no captures at all, `stale` if its settings are others now
   * @throws errors of the database
   */
  checkSettings(settings: CaptureSettings, captureId: string): Promise<'present' | 'gone' | 'stale'>
  /**
   * Evaluates and stores a request. Settles when it is committed, or finally not stored.
   *
   * @param settings settings under which the body was read
   * @param options `captureId`: id in the URL that it was sent to; `needsId`: the caller needs the id, which takes the
   *   slower general statement; `sender`: checked again under changed settings; if it hangs up, its wait ends
   * @throws errors of the database when settings had to be read again, and errors of our own
   */
  capture(
    settings: CaptureSettings,
    request: CapturedRequest,
    options: { readonly captureId: string; readonly needsId?: boolean; readonly sender?: Sender },
  ): Promise<CaptureResult>
  /** Chooses the answer to a capture whose settings have a script. */
  readonly chooseAnswer: ChooseAnswer
  /** Commits the waiting captures. */
  close(): Promise<void>
}

/** Answer while a workspace is sealed: a second or two, before it is in another cell. */
const SEALED = { state: 'unavailable', retryAfterSeconds: SEALED_MS / 1_000 } as const

/** Answers that wait at once in a process that is not told how many connections it has. */
const WAITING_ANSWERS_MAX = 1000

/** The most evaluations of one capture. Settings that change more often meanwhile are changed in a loop. */
const EVALUATIONS_MAX = 10

/**
 * Opens the capture path. It holds one connection of `pool` while it is open.
 *
 * @param options `firstAttempts` makes first attempts of captured requests, if the process also runs jobs;
 *   `load` reads settings by capture ids, from the database by default; `waitingAnswers` counts the answers of the
 *   process that wait
 */
export function createCaptures(
  services: Services,
  pool: pg.Pool,
  {
    firstAttempts = NO_FIRST_ATTEMPTS,
    load = (ids) => loadCaptureSettings(services, ids),
    waitingAnswers = new WaitingAnswers(WAITING_ANSWERS_MAX),
  }: {
    readonly firstAttempts?: FirstAttempts
    readonly waitingAnswers?: WaitingAnswers
    readonly load?: LoadSettings
  } = {},
): Captures {
  const cache = createSettingsCache(load, services.clock)
  const queue = createCaptureQueue(
    { ...services, firstAttempts, laneJobs: new LaneJobs(DELIVERY_LANES) },
    pool,
  )
  const evaluator = createEvaluations(services)
  const history = createRejectionHistory(services)
  const refusals = createRateRefusals(services, history)
  const countSender = createSenderRefusals(services)
  const stopForgetting = services.endpointChanges.onAny((changed) => {
    const shredded = changed === null ? undefined : shreddedEndpointOf(changed)
    if (shredded !== undefined) cache.forgetKey(shredded)
  })

  /** Counts a refusal. Drops old settings from the cache, and answers undefined: newer ones may allow the capture. */
  const refuseSender = async (
    settings: CaptureSettings,
    address: string | null,
    [answer, reason]: readonly ['unverified' | 'foreign', string],
  ): Promise<CaptureResult | undefined> => {
    const state = await countSender(settings, traceOf(shownAddress(settings.storing, address), reason))
    if (state !== 'refused') cache.forget(settings)
    return state === 'stale' ? undefined : { state: state === 'refused' ? answer : 'gone' }
  }

  const refuseForeign: Captures['refuseForeign'] = (settings, address) =>
    settings.isAllowedSender?.(address) === false
      ? refuseSender(settings, address, ['foreign', 'not an allowed sender'])
      : undefined

  const askRevision = openRevisions(services.clock)
  const checkSettings: Captures['checkSettings'] = async (settings) => {
    const revision = await askRevision(services.db, '', settings.endpointId)
    if (revision === settings.revision) return 'present'
    cache.forget(settings)
    return revision === undefined ? 'gone' : 'stale'
  }

  const capture: Captures['capture'] = async (given, request, { captureId, needsId = false, sender }) => {
    const publicUrl = requestUrlOf(services.urls, captureId, request)
    let settings: CaptureSettings | undefined = given
    for (let evaluations = 0; evaluations < EVALUATIONS_MAX; evaluations += 1) {
      if (settings === undefined) return { state: 'gone' }
      if (settings.isSealed) return SEALED
      // The sender was allowed under settings that have changed since.
      const foreign =
        settings === given || sender === undefined ? undefined : await refuseForeign(settings, request.ip)
      if (foreign !== undefined) return foreign
      const evaluating = evaluator.evaluate(settings, request, { publicUrl, sender })
      const evaluated = evaluating instanceof Promise ? await evaluating : evaluating
      if (evaluated === undefined) return { state: 'unavailable' }
      if ('state' in evaluated) return evaluated
      const isRefused = settings.rejectUnverified && isUnverified(evaluated)
      if (isRefused && evaluated.handshake === null) {
        const note = evaluated.row.verdictNote ?? ''
        const refused = await refuseSender(settings, request.ip, ['unverified', note])
        if (refused !== undefined) return refused
        settings = await cache.find(captureId)
        continue
      }
      const accepted = isRefused ? withoutConsequences(evaluated) : evaluated
      const outcome = await queue.submit(needsId ? { ...accepted, needsId } : accepted)
      if (evaluated.redactionFault !== null && outcome.state === 'stored')
        await tellOfRedactionFaults(services, settings, [evaluated])
      if (outcome.state === 'stored') return concluded(evaluated, outcome)
      if (outcome.state === 'discarded') {
        history.note(settings.endpointId, { discarded: 1 })
        return { ...outcome, capture: evaluated }
      }
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
    outcome: Extract<CaptureOutcome, { state: 'stored' }>,
  ): CaptureResult | Promise<CaptureResult> => {
    const learned = evaluated.handshake?.learnedSigningSecret
    const skippedFor = isSkipped(evaluated, outcome) ? outcome.duplicateOf : null
    const stored: CaptureResult = { state: 'stored', id: outcome.id, skippedFor, capture: evaluated }
    return learned === undefined ? stored : learn(stored, learned)
  }

  // A challenge is answered only once the secret that it delivered is stored. Otherwise its sender must repeat it.
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
    connect: queue.connect,
    peekSettings: cache.peek,
    findSettings: cache.find,
    refuseEarly(settings) {
      if (settings.isSealed) return Promise.resolve(SEALED)
      return refusals.isOver(settings) ? refusals.refuse(settings) : undefined
    },
    refuseForeign,
    checkSettings,
    capture,
    chooseAnswer: createAnswering(services, evaluator, waitingAnswers),
    async close() {
      stopForgetting()
      evaluator.close()
      await queue.close()
      await history.close()
    },
  }
}

/** Whether a capture failed its verification. Without a verification there is no verdict, and it passes. */
function isUnverified({ row }: EvaluatedCapture): boolean {
  return row.verdict !== null && row.verdict !== 'verified'
}

const TRACE_CHARACTERS_MAX = 300

function traceOf(address: string | null, reason: string): string {
  return `${address ?? 'unknown address'}: ${reason}`.slice(0, TRACE_CHARACTERS_MAX)
}
