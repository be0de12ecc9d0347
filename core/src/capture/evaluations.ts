import type { Services } from '../api/services.ts'
import { type CapturedRequest, lookedAtBytesMax } from '../engine/message/index.ts'
import { atOnce } from '../platform/turns/index.ts'
import type { CaptureSettings } from './captureSettings.ts'
import type { EvaluatedCapture } from './evaluateCapture.ts'
import { evaluateSafely, evaluateSafelyInSteps } from './evaluateSafely.ts'
import { createEvaluationTurns, type GivenUp, type Sender } from './evaluationTurns.ts'

export interface Evaluations {
  /**
   * Evaluates a capture: at once if it is light, or if its workspace has used little of the event loop lately.
   * Otherwise it waits for its workspace's turn and runs in slices. Never throws or rejects.
   *
   * @returns undefined if the capture cannot be evaluated
   */
  evaluate(
    settings: CaptureSettings,
    request: CapturedRequest,
    from: { readonly publicUrl: string; readonly sender: Sender | undefined },
  ): EvaluatedCapture | undefined | Promise<EvaluatedCapture | GivenUp | undefined>
  /**
   * Does further work on a capture under the same rules: at once if it is light, else in its workspace's turn.
   *
   * @param looks how often the work may read the whole request
   * @throws errors of the pieces
   */
  run<Result>(
    of: { readonly workspaceId: string; readonly request: CapturedRequest; readonly looks: number },
    pieces: Generator<void, Result>,
  ): Result | Promise<Result | GivenUp>
  /** Drops all waiting captures. */
  close(): void
}

/**
 * Evaluations of fewer units (bytes times comparisons) are not charged. They take less than 2 ms, most of them
 * microseconds.
 */
const LIGHT_UNITS_MAX = 8 * 1024
/** Estimated work, in bytes times reads of the whole request. */
function unitsOf(request: CapturedRequest, looks: number): number {
  return lookedAtBytesMax(request) * (1 + looks)
}

/** Opens the evaluation of captures, with credit for every workspace. */
export function createEvaluations(services: Pick<Services, 'log'>): Evaluations {
  const turns = createEvaluationTurns()
  return {
    evaluate(settings, request, { publicUrl, sender }) {
      const units = unitsOf(request, settings.looks)
      if (units <= LIGHT_UNITS_MAX) return evaluateSafely(services, settings, request, publicUrl)
      const pieces = evaluateSafelyInSteps(services, settings, request, publicUrl)
      const bytes = request.body.length
      return turns.run({ workspaceId: settings.workspaceId, units, bytes, pieces }, sender)
    },
    run({ workspaceId, request, looks }, pieces) {
      const units = unitsOf(request, looks)
      if (units > LIGHT_UNITS_MAX)
        return turns.run({ workspaceId, units, bytes: request.body.length, pieces })
      return atOnce(pieces)
    },
    close: turns.close,
  }
}
