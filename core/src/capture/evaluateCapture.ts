import { type DispatchPlan, type LoadedAction, planDispatch } from '../actions/index.ts'
import type { CapturedRequest, EvaluatedRequest } from '../engine/message/index.ts'
import { evaluate, type HandshakeAnswer, handshakeAnswer, labelOf } from '../engine/verification/index.ts'
import type { NewCapture } from './captureRow.ts'
import { type CaptureRow, captureRow } from './captureRow.ts'
import type { CaptureSettings } from './captureSettings.ts'

/** A capture with everything decided that its endpoint's settings decide. */
export interface EvaluatedCapture extends NewCapture {
  readonly row: CaptureRow
  readonly settings: CaptureSettings
  readonly dispatch: DispatchPlan<LoadedAction>
  /** With its label and verdict. */
  readonly request: EvaluatedRequest
  /** To be sent in place of the configured response. */
  readonly handshake: HandshakeAnswer | null
  /** Somebody waits for its id, which only the general statement tells. */
  readonly needsId?: true
}

/**
 * Decides what the endpoint's settings decide about a request: verdict, label, what it sets in motion, how it is
 * answered. On the bytes as they arrived; JSON is parsed at most once. Never throws.
 *
 * @param publicUrl the URL that the sender called, as the public sees it
 */
export function evaluateCapture(
  settings: CaptureSettings,
  request: CapturedRequest,
  publicUrl: string,
): EvaluatedCapture {
  const { verification: prepared } = settings
  const verification = evaluate(prepared, request, publicUrl)
  const evaluated: EvaluatedRequest = { ...request, verification, label: labelOf(prepared.provider, request) }
  const dispatch = planDispatch(settings.actions, evaluated)
  return {
    row: captureRow(evaluated),
    revision: settings.revision,
    dispatchState: dispatch.state,
    settings,
    dispatch,
    request: evaluated,
    criteriaIds: settings.criteria.holding(evaluated),
    handshake: handshakeAnswer(prepared, request, verification, publicUrl),
  }
}
