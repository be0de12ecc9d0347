import { type DispatchPlan, type LoadedAction, planDispatch, planDispatchInSteps } from '../actions/index.ts'
import type { NewDelivery } from '../deliveries/index.ts'
import { type ReadRoot, requestRoot } from '../engine/conditions/index.ts'
import type { CapturedRequest, EvaluatedRequest } from '../engine/message/index.ts'
import {
  evaluate,
  eventIdOf,
  type HandshakeAnswer,
  handshakeAnswer,
  labelOf,
} from '../engine/verification/index.ts'
import type { NewCapture } from './captureRow.ts'
import { type CaptureRow, captureRow } from './captureRow.ts'
import type { CaptureSettings } from './captureSettings.ts'

/** A capture with everything decided that its endpoint's settings decide. */
export interface EvaluatedCapture extends NewCapture {
  readonly row: CaptureRow
  readonly settings: CaptureSettings
  readonly dispatch: DispatchPlan<LoadedAction>
  /** With its label, event id and verdict. */
  readonly request: EvaluatedRequest
  /** To be sent in place of the configured response. */
  readonly handshake: HandshakeAnswer | null
  /** Of the matching actions that have an order: the keys of the capture. */
  readonly orderKeys?: ReadonlyMap<string, string | null>
  /** Somebody waits for its id, which only the general statement tells. */
  readonly needsId?: true
}

/**
 * Decides what the endpoint's settings decide about a request: verdict, label, event id, what it sets in motion, how it is
 * answered. On the bytes as they arrived; JSON is parsed at most once. Never throws.
 *
 * @param publicUrl the URL that the sender called, as the public sees it
 */
export function evaluateCapture(
  settings: CaptureSettings,
  request: CapturedRequest,
  publicUrl: string,
): EvaluatedCapture {
  const known = readVerdict(settings, request, publicUrl)
  const root = requestRoot(known.request)
  return evaluatedCapture(settings, known, planDispatch(settings.actions, root), {
    criteriaIds: settings.criteria.holding(root),
    root,
  })
}

/**
 * {@link evaluateCapture} in pieces: the generator yields between comparisons. Most pieces take less than 20 ms over a body of
 * 1 MiB. The first one verifies, parses and labels, and takes up to 150 ms if the body was made to be slow to parse.
 */
export function* evaluateInSteps(
  settings: CaptureSettings,
  request: CapturedRequest,
  publicUrl: string,
): Generator<void, EvaluatedCapture> {
  return yield* decideInSteps(settings, readVerdict(settings, request, publicUrl))
}

/**
 * {@link evaluateInSteps} for an event that was fetched from its sender: verdict, label and event id are known, and nothing is
 * answered.
 */
export function* evaluateFetchedInSteps(
  settings: CaptureSettings,
  request: EvaluatedRequest,
): Generator<void, EvaluatedCapture> {
  return yield* decideInSteps(settings, { request, handshake: null })
}

function* decideInSteps(settings: CaptureSettings, known: Known): Generator<void, EvaluatedCapture> {
  const root = requestRoot(known.request)
  // Before the first pause: the parser remembers the last bodies only, and other captures are evaluated in between.
  if (settings.looks > 0) root.bodyDocument()
  yield
  const dispatch = yield* planDispatchInSteps(settings.actions, root)
  const criteriaIds = yield* settings.criteria.holdingInSteps(root)
  return evaluatedCapture(settings, known, dispatch, { criteriaIds, root })
}

/** Decided before the conditions, which may ask for it. */
interface Known {
  readonly request: EvaluatedRequest
  readonly handshake: HandshakeAnswer | null
}

function readVerdict(
  { verification: prepared, eventIdPath }: CaptureSettings,
  request: CapturedRequest,
  publicUrl: string,
): Known {
  const verification = evaluate(prepared, request, publicUrl)
  return {
    request: {
      ...request,
      verification,
      label: labelOf(prepared.provider, request),
      eventId: eventIdOf(eventIdPath, prepared.provider, request),
    },
    handshake: handshakeAnswer(prepared, request, verification, publicUrl),
  }
}

function evaluatedCapture(
  settings: CaptureSettings,
  { request, handshake }: Known,
  dispatch: DispatchPlan<LoadedAction>,
  { criteriaIds, root }: { readonly criteriaIds: readonly string[]; readonly root: ReadRoot },
): EvaluatedCapture {
  return {
    row: captureRow(request),
    revision: settings.revision,
    dispatchState: dispatch.state,
    settings,
    dispatch,
    request,
    criteriaIds,
    orderKeys: orderKeysOf(dispatch.actions, root),
    handshake,
  }
}

const NO_KEYS: ReadonlyMap<string, string | null> = new Map()

/** Read while the body is parsed, and for ordered actions only. */
function orderKeysOf(actions: readonly LoadedAction[], root: ReadRoot): ReadonlyMap<string, string | null> {
  if (!actions.some(({ orderKeyOf }) => orderKeyOf !== null)) return NO_KEYS
  return new Map(actions.map(({ id, orderKeyOf }) => [id, orderKeyOf === null ? null : orderKeyOf(root)]))
}

/** How the delivery of a capture waits in the flow of an action; null where the action is not governed. */
export function flowOf({ orderKeys }: EvaluatedCapture, { id, governed }: LoadedAction): NewDelivery['flow'] {
  return governed ? { orderKey: orderKeys?.get(id) ?? null } : null
}

/**
 * The capture, stored but neither delivered nor noted by watchdogs. For a provider's challenge that is not verified, on an endpoint
 * that takes verified captures only: its destinations rely on that.
 */
export function withoutConsequences(evaluated: EvaluatedCapture): EvaluatedCapture {
  const dispatch = { state: 'NotAttempted', actions: [] } as const
  return { ...evaluated, dispatch, dispatchState: dispatch.state, criteriaIds: [] }
}
