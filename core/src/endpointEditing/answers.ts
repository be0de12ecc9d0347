import { randomUUID } from 'node:crypto'
import { findAction, isOn } from '../actions/index.ts'
import { closeIncidentsSilently } from '../alerts/index.ts'
import type { Accepted } from '../api/checks.ts'
import type { Context } from '../api/context.ts'
import {
  checkFallback,
  checkResponses,
  forgetUses,
  type UpdateInput,
  updateEndpoint,
} from '../endpoints/index.ts'
import type { InputIssue } from '../engine/issues.ts'
import type { Db, Trx } from '../platform/db/index.ts'
import { endpointToChange, noteChange } from './change.ts'

type Answers = Partial<Pick<UpdateInput, 'responses' | 'answerFrom'>>

/**
 * Checks the answers of an endpoint.
 *
 * @param endpointId null for an endpoint that is about to be created, which has no actions
 */
export async function checkAnswers(
  ctx: Context,
  endpointId: string | null,
  { responses, answerFrom }: Accepted<Answers>,
): Promise<InputIssue[]> {
  return [
    ...checkResponses(responses),
    ...checkFallback(answerFrom),
    ...(await checkAnswering(ctx, endpointId, answerFrom?.actionId)),
  ]
}

/** Checks the action whose receiver is to answer; none without one. */
export async function checkAnswering(
  { db }: { readonly db: Db | Trx },
  endpointId: string | null,
  actionId: string | undefined,
): Promise<InputIssue[]> {
  if (actionId === undefined) return []
  const path = ['answerFrom', 'actionId']
  const action = endpointId === null ? undefined : await findAction(db, endpointId, actionId)
  if (action === undefined) {
    return [{ path, code: 'unknown_value', detail: `The endpoint has no action ${actionId}.` }]
  }
  if (action.kind !== 'forward') {
    const detail = 'The action notifies a channel, which has no answer. Name a forward action.'
    return [{ path, code: 'not_allowed', detail }]
  }
  return isOn(action)
    ? []
    : [{ path, code: 'not_allowed', detail: 'The action is switched off, so its receiver answers nothing.' }]
}

/** Ends what belongs to the answers before a change: counts of another list, and the incident of another action. */
export async function settleAnswers(
  ctx: Context,
  trx: Trx,
  endpointId: string,
  input: Answers,
): Promise<void> {
  if (input.responses !== undefined) await forgetUses(trx, endpointId)
  if (input.answerFrom !== undefined)
    await closeIncidentsSilently(ctx, trx, 'answer.unavailable', [endpointId])
}

/**
 * Resets the counts of `times`.
 *
 * @throws DomainError `not_found` when the endpoint was deleted meanwhile
 */
export async function resetResponses(ctx: Context, endpointId: string) {
  return await ctx.db.transaction().execute(async (trx) => {
    const before = await endpointToChange(ctx, trx, endpointId)
    await updateEndpoint(trx, endpointId, { responsesRun: randomUUID() })
    await forgetUses(trx, endpointId)
    return (await noteChange(ctx, trx, 'endpoints.resetResponses', before)).view
  })
}
