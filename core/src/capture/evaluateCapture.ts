import { type DispatchPlan, type LoadedAction, planDispatch, planDispatchInSteps } from '../actions/index.ts'
import { type ReadRoot, requestRoot } from '../engine/conditions/index.ts'
import type { CapturedRequest, EvaluatedRequest } from '../engine/message/index.ts'
import type { Redaction, StoredForm } from '../engine/storing/index.ts'
import {
  evaluate,
  eventIdOf,
  type HandshakeAnswer,
  handshakeAnswer,
  labelOf,
} from '../engine/verification/index.ts'
import { requestStorageBytes, sealedRow, sealedRowInSteps } from '../requests/index.ts'
import { responsesFor, responsesForInSteps } from './answers/script.ts'
import { type CaptureRow, captureRow, type NewCapture } from './captureRow.ts'
import type { CaptureSettings } from './captureSettings.ts'
import { type EventClaim, eventClaimOf } from './eventClaim.ts'
import { storedFormInSteps, storedFormOf } from './storedCapture.ts'

/** A capture with all decisions under its endpoint's settings. */
export interface EvaluatedCapture extends NewCapture {
  readonly settings: CaptureSettings
  readonly dispatch: DispatchPlan<LoadedAction>
  /** The request as it is stored, with its label, event id and verdict. */
  readonly request: EvaluatedRequest
  /** Answer that replaces the configured response; null if there is none. */
  readonly handshake: HandshakeAnswer | null
  /** Indexes of the scripted responses that may answer it, in the order of the list; null without a list. */
  readonly candidates: readonly number[] | null
  /** Order keys of the capture, by the matching actions. */
  readonly orderKeys?: ReadonlyMap<string, string | null>
  /** The rule for storing that faulted, so that only a trace is stored; null otherwise. */
  readonly redactionFault: string | null
  /** The request as received, for its deliveries; set if they may have more than is stored. */
  readonly original?: EvaluatedRequest
  /** Set if the caller needs its id, which only the general statement returns. */
  readonly needsId?: true
}

/**
 * Evaluates a request under the endpoint's settings: verdict, label, event id, deliveries, watchdogs' criteria and
 * answer. It works on the bytes as received, and parses JSON at most once. Never throws.
 *
 * @param publicUrl the public URL that the sender called
 */
export function evaluateCapture(
  settings: CaptureSettings,
  request: CapturedRequest,
  publicUrl: string,
): EvaluatedCapture {
  const known = readVerdict(settings, request, publicUrl)
  const root = requestRoot(known.request)
  const dispatch = planDispatch(settings.actions, root)
  const plain = evaluatedCapture(settings, known, dispatch, {
    criteriaIds: settings.criteria.holding(root),
    candidates: settings.script === null ? null : responsesFor(settings.script, root),
    orderKeys: orderKeysOf(dispatch.actions, root),
    form: storedFormOf(settings, known.request), // Last: it changes the parsed body.
  })
  const { sealing } = settings
  return sealing === null ? plain : { ...plain, row: sealedRow(sealing, plain.row) }
}

/**
 * {@link evaluateCapture} in pieces: the generator yields between comparisons. Most pieces take less than 20 ms over a
 * body of 1 MiB. The first piece verifies, parses and labels. It takes up to 100 ms for a body that was built to be
 * slow to parse.
 */
export function* evaluateInSteps(
  settings: CaptureSettings,
  request: CapturedRequest,
  publicUrl: string,
): Generator<void, EvaluatedCapture> {
  return yield* decideInSteps(settings, readVerdict(settings, request, publicUrl))
}

/**
 * {@link evaluateInSteps} for an event that was fetched from its sender. Verdict, label and event id are known, and
 * there is no answer.
 */
export function* evaluateFetchedInSteps(
  settings: CaptureSettings,
  request: EvaluatedRequest,
): Generator<void, EvaluatedCapture> {
  const claim = eventClaimOf(settings.dedupe, request, settings.hash, true)
  return yield* decideInSteps(settings, { request, claim, handshake: null })
}

function* decideInSteps(settings: CaptureSettings, known: Known): Generator<void, EvaluatedCapture> {
  const root = requestRoot(known.request)
  // Parsed before the first yield: the parser caches only the last bodies, and other captures are evaluated in between.
  if (settings.looks > 0) root.bodyDocument()
  yield
  const dispatch = yield* planDispatchInSteps(settings.actions, root)
  const criteriaIds = yield* settings.criteria.holdingInSteps(root)
  const candidates = settings.script === null ? null : yield* responsesForInSteps(settings.script, root)
  const orderKeys = orderKeysOf(dispatch.actions, root)
  const form = yield* storedFormInSteps(settings, known.request, settings.repeating)
  const plain = evaluatedCapture(settings, known, dispatch, { criteriaIds, candidates, orderKeys, form })
  const { sealing } = settings
  return sealing === null ? plain : { ...plain, row: yield* sealedRowInSteps(sealing, plain.row) }
}

/** Decisions by conditions, and the request as it is stored; null if the endpoint takes nothing out. */
type Decided = Required<Pick<EvaluatedCapture, 'criteriaIds' | 'candidates' | 'orderKeys'>> & {
  readonly form: StoredForm | null
}

/** Decisions before the conditions, which may depend on them. */
interface Known {
  readonly request: EvaluatedRequest
  readonly claim: EventClaim | null
  readonly handshake: HandshakeAnswer | null
}

function readVerdict(settings: CaptureSettings, request: CapturedRequest, publicUrl: string): Known {
  const { verification: prepared, dedupe, hash, captureRatePerMinute } = settings
  const verification = evaluate(prepared, request, publicUrl)
  const evaluated = {
    ...request,
    verification,
    label: labelOf(prepared.provider, request),
    eventId: eventIdOf(settings.eventIdPath, prepared.provider, request),
  }
  return {
    request: evaluated,
    claim: eventClaimOf(dedupe, evaluated, hash),
    handshake: handshakeAnswer(prepared, request, verification, { publicUrl, captureRatePerMinute }),
  }
}

/** The capture with its row in plain. */
function evaluatedCapture(
  settings: CaptureSettings,
  { request, claim, handshake }: Known,
  planned: DispatchPlan<LoadedAction>,
  { criteriaIds, candidates, orderKeys, form }: Decided,
): EvaluatedCapture {
  const taken = form?.redaction ?? null
  const redactionFault = taken?.fault ?? null
  // A trace is not what its sender sent: nothing may be made of it.
  const dispatch = redactionFault === null ? planned : NO_DISPATCH
  const keepsOriginal = taken !== null && settings.originalMs !== null && dispatch.actions.length > 0
  const redaction = keepsOriginal ? { ...taken, original: true as const } : taken
  const { columns, sealing } = settings
  const row = captureRow(form?.request ?? request, { redaction, columns })
  return {
    ...(keepsOriginal ? { original: request } : NOTHING),
    row,
    revision: settings.revision,
    dispatchState: dispatch.state,
    settings,
    dispatch,
    request: sealing === null ? (form?.request ?? request) : asStored(form?.request ?? request, row),
    redactionFault,
    criteriaIds,
    claim,
    candidates,
    orderKeys,
    handshake,
  }
}

/** The request as a later attempt will read it from its row. */
export function asStored(request: EvaluatedRequest, row: CaptureRow): EvaluatedRequest {
  const { path, queryString, contentType, label } = row
  return { ...request, path, queryString, contentType, label }
}

/** Plan of a capture that has no deliveries. */
export const NO_DISPATCH = { state: 'NotAttempted', actions: [] } as const

const NOTHING = {}

const NO_KEYS: ReadonlyMap<string, string | null> = new Map()

/** Reads the order keys while the body is parsed, for ordered actions only. */
function orderKeysOf(actions: readonly LoadedAction[], root: ReadRoot): ReadonlyMap<string, string | null> {
  if (!actions.some(({ orderKeyOf }) => orderKeyOf !== null)) return NO_KEYS
  return new Map(actions.map(({ id, orderKeyOf }) => [id, orderKeyOf === null ? null : orderKeyOf(root)]))
}

/** The order key of a capture's delivery through an action; null if it waits for no other. */
export function orderKeyOf({ orderKeys }: EvaluatedCapture, { id }: LoadedAction): string | null {
  return orderKeys?.get(id) ?? null
}

/**
 * Removes deliveries, their original and watchdogs' criteria from a capture, which is then only stored. This is for an
 * unverified challenge of a provider on an endpoint that takes verified captures only: its destinations rely on that.
 */
export function withoutConsequences({ original, ...evaluated }: EvaluatedCapture): EvaluatedCapture {
  const row = original === undefined ? evaluated.row : withoutOriginal(evaluated.row)
  return { ...evaluated, row, dispatch: NO_DISPATCH, dispatchState: NO_DISPATCH.state, criteriaIds: [] }
}

/** The row of a capture whose original is not kept, so that a replay sends what is stored. */
function withoutOriginal(row: CaptureRow): CaptureRow {
  if (row.redaction === null) return row
  const { paths, fault }: Redaction = JSON.parse(row.redaction)
  const stored = { ...row, redaction: JSON.stringify({ paths, fault }) }
  return { ...stored, storageBytes: requestStorageBytes(stored) }
}
