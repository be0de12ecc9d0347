import type { Path } from '../engine/conditions/index.ts'
import type { EvaluatedRequest } from '../engine/message/index.ts'
import {
  storedFormInSteps as formInSteps,
  type StoredForm,
  type Storing,
  storedForm,
  takesOutText,
} from '../engine/storing/index.ts'
import {
  eventIdOf,
  eventIdReads,
  labelOf,
  labelReads,
  type PreparedVerification,
} from '../engine/verification/index.ts'

/** Whether label and event id of a capture may repeat a value that is taken out. */
export interface Repeating {
  readonly label: boolean
  readonly eventId: boolean
}

interface Derives {
  readonly verification: Pick<PreparedVerification, 'provider'>
  readonly eventIdPath: Path | null
}

export function repeatingOf(
  storing: Storing | null,
  { verification: { provider }, eventIdPath }: Derives,
): Repeating {
  const mayRepeat = (text: string) => storing !== null && takesOutText(storing, text, provider)
  return {
    label: labelReads(provider).some(mayRepeat),
    eventId: eventIdReads(eventIdPath, provider).some(mayRepeat),
  }
}

/**
 * Applies what an endpoint takes out of its captures; null if it takes nothing out. Never throws. Yields between steps of
 * its rules.
 *
 * @param repeating by default both: the label and the event id of the request were not read from it
 */
export function* storedFormInSteps(
  settings: Derives & { readonly storing: Storing | null },
  request: EvaluatedRequest,
  repeating?: Repeating,
): Generator<void, StoredForm | null> {
  const { storing } = settings
  return storing && (yield* formInSteps(storing, request, deriving(settings, request, repeating)))
}

/** {@link storedFormInSteps} of a capture, at once. */
export function storedFormOf(
  settings: Derives & { readonly storing: Storing | null; readonly repeating: Repeating },
  request: EvaluatedRequest,
): StoredForm | null {
  const { storing, repeating } = settings
  return storing && storedForm(storing, request, deriving(settings, request, repeating))
}

function deriving(
  { verification: { provider }, eventIdPath }: Derives,
  { label, eventId }: EvaluatedRequest,
  repeating: Repeating = { label: true, eventId: true },
) {
  return (left: EvaluatedRequest) => ({
    label: repeating.label ? labelOf(provider, left) : label,
    eventId: repeating.eventId ? eventIdOf(eventIdPath, provider, left) : eventId,
  })
}
