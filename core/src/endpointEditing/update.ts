import { isDeepStrictEqual } from 'node:util'
import { lockActions } from '../actions/index.ts'
import type { Accepted } from '../api/checks.ts'
import type { Context } from '../api/context.ts'
import { DomainError } from '../api/errors.ts'
import {
  checkDedupe,
  checkPaths,
  checkResponse,
  checkStoring,
  type EndpointRow,
  endpointView,
  lockVerification,
  responsesText,
  settingsColumns,
  storedAnswerFrom,
  storedSettings,
  type UpdateInput,
  updateEndpoint,
} from '../endpoints/index.ts'
import { type InputIssue, issue } from '../engine/issues.ts'
import { checkSettings, shownSecretIssues } from '../engine/verification/index.ts'
import type { Trx } from '../platform/db/index.ts'
import { fillColumns } from '../requests/index.ts'
import { checkAnswering, checkAnswers, settleAnswers } from './answers.ts'
import { noteChange } from './change.ts'
import { checkForward, writeForward } from './legacyForward.ts'
import { checkOriginals, originalIssues, prepareStoring } from './storing.ts'

/**
 * Checks of a change that the schema cannot express. A member equal to the stored one is not checked again, so that an
 * endpoint older than the response rules can be changed in other members.
 */
export async function checkEndpointChange(
  ctx: Context,
  endpoint: EndpointRow,
  input: Accepted<UpdateInput>,
): Promise<InputIssue[]> {
  const issues: InputIssue[] = []
  if (input.ttlSeconds !== undefined && input.ttlSeconds !== null) {
    issues.push(issue(['ttlSeconds'], 'not_allowed', 'ttlSeconds can only be given on create.'))
  }
  const changed = <Value>(value: Value, stored: Value) =>
    isDeepStrictEqual(value, stored) ? undefined : value
  const known = endpointView(endpoint, ctx)
  const settings = storedSettings(endpoint, ctx.secrets)
  const answerFrom = isDeepStrictEqual(input.answerFrom, known.answerFrom) ? undefined : input.answerFrom
  issues.push(
    ...checkResponse({
      responseStatusCode: changed(input.responseStatusCode, endpoint.responseStatusCode),
      responseContentType: changed(input.responseContentType, endpoint.responseContentType),
      responseHeaders: changed(input.responseHeaders, JSON.parse(endpoint.responseHeaders)),
      responseBody: changed(input.responseBody, endpoint.responseBody),
    }),
    ...checkSettings(settings, input),
    ...shownSecretIssues(settings, input),
    ...checkPaths({ ...input, eventIdPath: changed(input.eventIdPath, endpoint.eventIdPath ?? '') }),
    ...checkDedupe(changed(input.dedupe, known.dedupe), ctx.plan.limits),
    ...checkStoring(input),
    ...checkOriginals(endpoint, input),
    ...(await checkAnswers(ctx, endpoint.id, { responses: input.responses, answerFrom })),
    ...(await checkForward(ctx, endpoint, input)),
  )
  const isEnded = input.forwardUrl === '' || (input.forwardingEnabled === false && endpoint.forwardingEnabled)
  if (isEnded && answerFrom != null && answerFrom.actionId === endpoint.forwardActionId) {
    const detail = 'The same call removes the action or switches it off. Leave one of both out.'
    issues.push(issue(['answerFrom', 'actionId'], 'not_allowed', detail))
  }
  return issues
}

export async function changeEndpoint(ctx: Context, endpoint: EndpointRow, input: UpdateInput) {
  const changed = await ctx.db.transaction().execute(async (trx) => {
    const changes = withoutEqualAnswers(input, endpoint)
    await requireHidden(ctx, trx, endpoint, changes)
    await updateEndpoint(
      trx,
      endpoint.id,
      settingsColumns(changes, { secrets: ctx.secrets, workspaceId: ctx.workspace.id, now: ctx.clock.now() }),
    )
    await settleAnswers(ctx, trx, endpoint.id, changes)
    await writeForward(ctx, trx, endpoint.id, endpoint, input)
    const after = await noteChange(ctx, trx, 'endpoints.update', endpoint)
    await requireFits(trx, after.endpoint, changes)
    const storing = { before: endpoint, endpoint: after.endpoint }
    return { ...after.view, ...(await prepareStoring(ctx, trx, storing, input)) }
  })
  await fillColumns(ctx, endpoint, changed)
  return changed
}

/**
 * Locks the endpoint and repeats {@link shownSecretIssues}, because another call may have stored a secret since the
 * check.
 *
 * @throws DomainError `concurrent_change`; nothing is saved
 */
async function requireHidden(ctx: Context, trx: Trx, { id }: EndpointRow, changes: UpdateInput) {
  if (changes.provider === undefined && changes.signatureHeader === undefined) return
  const row = await lockVerification(trx, id)
  if (row !== undefined) refuseMisfit(shownSecretIssues(storedSettings(row, ctx.secrets), changes))
}

/**
 * Checks again what depends on members that another call may have changed since the check.
 *
 * @throws DomainError `concurrent_change`; nothing is saved
 */
async function requireFits(trx: Trx, endpoint: EndpointRow, changes: UpdateInput) {
  if (changes.answerFrom != null) await lockActions(trx, endpoint.id)
  refuseMisfit([
    ...originalIssues(endpoint, changes),
    ...(await checkAnswering({ db: trx }, endpoint.id, changes.answerFrom?.actionId)),
  ])
}

function refuseMisfit([misfit]: readonly InputIssue[]) {
  if (misfit !== undefined)
    throw new DomainError(
      'concurrent_change',
      `Another call changed the endpoint meanwhile. ${misfit.detail}`,
    )
}

/** Answers that a client has read and sends back: the list keeps its counts, and the relay its incident. */
function withoutEqualAnswers(
  input: UpdateInput,
  { responses: stored, answerFrom }: EndpointRow,
): UpdateInput {
  const { responses } = input
  const isSameList = responses !== undefined && responsesText(responses) === stored
  const isSameRelay = isDeepStrictEqual(input.answerFrom, storedAnswerFrom(answerFrom))
  return {
    ...input,
    ...(isSameList ? { responses: undefined } : {}),
    ...(isSameRelay ? { answerFrom: undefined } : {}),
  }
}
