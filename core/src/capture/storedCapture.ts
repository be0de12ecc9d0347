import type { LoadedAction } from '../actions/index.ts'
import { type ReadRoot, requestRoot } from '../engine/conditions/index.ts'
import type { CapturedRequest, EvaluatedRequest } from '../engine/message/index.ts'
import {
  type Derived,
  digestOf,
  hashWith,
  type StoredForm,
  type Storing,
  storedForm,
} from '../engine/storing/index.ts'
import { eventIdOf, labelOf } from '../engine/verification/index.ts'
import type { Sealing } from '../requests/index.ts'
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

/** Order keys by action, each as it was read from the request, or its digest if the rules took its value out. */
export function storableOrderKeys(
  storing: Storing,
  {
    actions,
    root,
    left,
  }: {
    readonly actions: readonly LoadedAction[]
    readonly root: ReadRoot
    readonly left: EvaluatedRequest
  },
): ReadonlyMap<string, string | null> {
  const leftRoot = requestRoot(left)
  return new Map(
    actions.map(({ id, orderKeyOf }) => {
      const key = orderKeyOf === null ? null : orderKeyOf(root)
      return [id, key === null || orderKeyOf?.(leftRoot) === key ? key : digestOf(storing, key)]
    }),
  )
}

/** Digests of order keys by action, where captures are sealed: a key repeats a value of the capture. */
export function hashedOrderKeys(
  { key }: Pick<Sealing, 'key'>,
  actions: readonly LoadedAction[],
  root: ReadRoot,
): ReadonlyMap<string, string | null> {
  const hash = hashWith(key)
  return new Map(
    actions.map(({ id, orderKeyOf }) => {
      const orderKey = orderKeyOf === null ? null : orderKeyOf(root)
      return [id, orderKey === null ? null : hash(orderKey)]
    }),
  )
}
