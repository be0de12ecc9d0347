import type { CapturedRequest, EvaluatedRequest } from '../engine/message/index.ts'
import { type Derived, type StoredForm, storedForm } from '../engine/storing/index.ts'
import { eventIdOf, labelOf } from '../engine/verification/index.ts'
import type { CaptureSettings } from './captureSettings.ts'

type DerivingSettings = Pick<CaptureSettings, 'verification' | 'eventIdPath'>

/** Reads the label and the event id of a request under the settings of its endpoint. */
function derivedOf({ verification, eventIdPath }: DerivingSettings, request: CapturedRequest): Derived {
  return {
    label: labelOf(verification.provider, request),
    eventId: eventIdOf(eventIdPath, verification.provider, request),
  }
}

/** Applies what an endpoint takes out of its captures; null if it takes nothing out. Never throws. */
export function storedFormOf(
  settings: DerivingSettings & Pick<CaptureSettings, 'storing'>,
  request: EvaluatedRequest,
): StoredForm | null {
  const { storing } = settings
  return storing === null ? null : storedForm(storing, request, (left) => derivedOf(settings, left))
}
