import { randomUUID } from 'node:crypto'
import type { Services } from '../api/services.ts'
import type { CapturedRequest, EvaluatedRequest } from '../engine/message/index.ts'
import { failedClosed } from '../engine/storing/index.ts'
import { sealedRow } from '../requests/index.ts'
import { captureRow } from './captureRow.ts'
import type { CaptureSettings } from './captureSettings.ts'
import { type EvaluatedCapture, evaluateCapture, evaluateInSteps, NO_DISPATCH } from './evaluateCapture.ts'

/**
 * Evaluates a capture without ever failing. If evaluation throws, which is an error of our own, it is logged under an
 * id. The capture is then stored as received (as a trace, if the endpoint takes data out) with the verdict `unverifiable` and that id in its note, and has no
 * deliveries.
 *
 * @returns undefined if that fails as well
 */
export function evaluateSafely(
  { log }: Pick<Services, 'log'>,
  settings: CaptureSettings,
  request: CapturedRequest,
  publicUrl: string,
): EvaluatedCapture | undefined {
  try {
    return evaluateCapture(settings, request, publicUrl)
  } catch (error) {
    return unevaluated({ log }, settings, request, error)
  }
}

/** {@link evaluateSafely} in pieces, as {@link evaluateInSteps}. */
export function* evaluateSafelyInSteps(
  { log }: Pick<Services, 'log'>,
  settings: CaptureSettings,
  request: CapturedRequest,
  publicUrl: string,
): Generator<void, EvaluatedCapture | undefined> {
  try {
    return yield* evaluateInSteps(settings, request, publicUrl)
  } catch (error) {
    return unevaluated({ log }, settings, request, error)
  }
}

function unevaluated(
  { log }: Pick<Services, 'log'>,
  settings: CaptureSettings,
  request: CapturedRequest,
  error: unknown,
): EvaluatedCapture | undefined {
  const failureId = randomUUID()
  // The message of an error may repeat a value of the capture, which the endpoint may not keep anywhere.
  const isPlain = settings.storing === null && settings.sealing === null
  const err = isPlain ? error : error instanceof Error ? error.name : 'unknown'
  log.error({ err, failureId, endpointId: settings.endpointId }, 'a capture could not be evaluated')
  try {
    return asItCame(settings, request, failureId)
  } catch (second) {
    log.error(
      { err: isPlain ? second : 'unknown', failureId },
      'the capture could not be stored unevaluated either',
    )
    return undefined
  }
}

function asItCame(settings: CaptureSettings, request: CapturedRequest, failureId: string): EvaluatedCapture {
  const { storing, sealing } = settings
  const note = `The service could not evaluate this capture (failure ${failureId}): it was stored ${storing === null ? 'unchanged' : 'as a trace'}, and nothing was dispatched.`
  const evaluated: EvaluatedRequest = {
    ...request,
    label: null,
    eventId: null,
    verification: { verdict: 'unverifiable', note },
  }
  const form = storing && failedClosed(storing, evaluated, 'the capture could not be evaluated')
  const stored = form?.request ?? evaluated
  const row = captureRow(stored, { redaction: form?.redaction ?? null })
  return {
    row: sealing === null ? row : sealedRow(sealing, row),
    revision: settings.revision,
    dispatchState: 'NotAttempted',
    settings,
    dispatch: NO_DISPATCH,
    request: stored,
    redactionFault: form?.redaction?.fault ?? null,
    criteriaIds: [],
    claim: null,
    candidates: null,
    handshake: null,
  }
}
