import type { LoadedAction } from '../../actions/index.ts'
import {
  type CaptureResponse,
  type PreparedResponse,
  preparedResponses,
  type ServedResponse,
  safeResponse,
  servedAnswer,
  storedAnswerFrom,
} from '../../endpoints/index.ts'
import { ConditionSet, type ReadRoot } from '../../engine/conditions/index.ts'

/** How the receiver of an action answers the senders of an endpoint. */
export interface Relay {
  readonly actionId: string
  /** Null if the action is gone or switched off: the fallback answers. */
  readonly action: LoadedAction | null
  readonly timeoutMs: number
  readonly fallback: ServedResponse
}

/** The answers of an endpoint that has others than its own. */
export interface AnswerScript {
  readonly runId: string
  readonly responses: readonly PreparedResponse[]
  readonly conditions: ConditionSet<number>
  readonly relay: Relay | null
  /** Learned under these settings. Other settings have another script. */
  readonly learned: {
    /** Indexes of responses that have no `times` left. */
    readonly exhausted: Set<number>
    /** State that the incident of the relay has. */
    relay: 'available' | 'unavailable' | null
  }
}

const NO_RUN = '00000000-0000-0000-0000-000000000000'

/**
 * Prepares the stored answers of an endpoint.
 *
 * @param isOn whether an action may be relayed
 * @returns null for an endpoint that gives its own answer to every capture
 */
export function answerScript(
  stored: {
    readonly responses: string
    readonly responsesRun: string | null
    readonly answerFrom: string | null
  },
  own: CaptureResponse,
  actions: readonly LoadedAction[],
  isOn: (action: LoadedAction) => boolean,
): AnswerScript | null {
  if (stored.answerFrom === null && stored.responses === '[]') return null
  const responses = preparedResponses(stored.responses, own)
  const from = storedAnswerFrom(stored.answerFrom)
  return {
    runId: stored.responsesRun ?? NO_RUN,
    responses,
    conditions: new ConditionSet(responses.map(({ condition }, item) => ({ condition, item }))),
    relay: from && {
      actionId: from.actionId,
      action: actions.find((action) => action.id === from.actionId && isOn(action)) ?? null,
      timeoutMs: from.timeoutMs,
      fallback: from.fallback == null ? safeResponse(own) : servedAnswer(from.fallback, own),
    },
    learned: { exhausted: new Set(), relay: null },
  }
}

/** Indexes in the order of the list. */
function inOrder(indexes: readonly number[]): readonly number[] {
  return indexes.length < 2 ? indexes : [...indexes].sort((a, b) => a - b)
}

/** Indexes of the responses that may answer a request, in the order of the list. */
export function responsesFor({ conditions }: AnswerScript, root: ReadRoot): readonly number[] {
  return inOrder(conditions.holding(root))
}

/** {@link responsesFor} in pieces. */
export function* responsesForInSteps(
  { conditions }: AnswerScript,
  root: ReadRoot,
): Generator<void, readonly number[]> {
  return inOrder(yield* conditions.holdingInSteps(root))
}
