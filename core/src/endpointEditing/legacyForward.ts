import {
  type ActionRow,
  addAction,
  dropAction,
  findAction,
  hostOf,
  leavesCredentialsBehind,
  lockActions,
  SIGNING_SECRET,
  signingColumns,
  signingIssues,
  writeAction,
} from '../actions/index.ts'
import type { Context } from '../api/context.ts'
import { DomainError, validationFailed } from '../api/errors.ts'
import type { CreateInput, EndpointRow } from '../endpoints/index.ts'
import { ALWAYS } from '../engine/conditions/index.ts'
import type { InputIssue, ItemCode } from '../engine/issues.ts'
import type { Trx } from '../platform/db/index.ts'

/** The deprecated single-URL members: they act on the first forward action. */
export type ForwardMembers = Pick<
  Partial<CreateInput>,
  'forwardUrl' | 'forwardingEnabled' | 'forwardSigningSecret'
>

/** The endpoint before the change; null for one that is being created. */
type Stored = Pick<EndpointRow, 'id' | 'forwardUrl' | 'forwardActionId' | 'forwardingEnabled'> | null

/**
 * Checks the deprecated members against the stored ones. A URL equal to the stored one is not checked again.
 * `forwardingEnabled: true` needs a forward action, whatever notify actions are on.
 */
export async function checkForward(
  ctx: Context,
  stored: Stored,
  input: ForwardMembers,
): Promise<InputIssue[]> {
  const issues: InputIssue[] = []
  const report = (member: keyof ForwardMembers, code: ItemCode, detail: string) =>
    issues.push({ path: [member], code, detail })
  const { forwardUrl, forwardSigningSecret: secret } = input
  const hasAction = (stored?.forwardActionId ?? null) !== null
  const willHaveOne = forwardUrl === undefined ? hasAction : forwardUrl !== ''

  if (forwardUrl !== undefined && forwardUrl !== '' && forwardUrl !== stored?.forwardUrl)
    issues.push(...(await ctx.outbound.checkDestination(forwardUrl, ['forwardUrl'])))
  if (input.forwardingEnabled === true && !willHaveOne)
    report('forwardingEnabled', 'not_allowed', 'Forwarding needs a destination. Send forwardUrl as well.')
  if (secret !== undefined && secret !== '') {
    if ([...secret].length < SIGNING_SECRET.min)
      report(
        'forwardSigningSecret',
        'too_short',
        `A signing secret has at least ${SIGNING_SECRET.min} characters.`,
      )
    else if (!willHaveOne)
      report(
        'forwardSigningSecret',
        'not_allowed',
        'The endpoint has no forward action to sign. Send forwardUrl as well.',
      )
  }
  const actionId = stored?.forwardActionId ?? null
  if (stored === null || actionId === null || (!forwardUrl && !secret)) return issues
  const action = await findAction(ctx.db, stored.id, actionId)
  const misfits = action === undefined ? [] : misfitsOf(ctx, action, input)
  const isKnown = (misfit: InputIssue) => issues.some(({ path }) => path[0] === misfit.path[0])
  return [...issues, ...misfits.filter((misfit) => !isKnown(misfit))]
}

/** Members of the input that do not fit the action that it changes: the secret its scheme, the URL its credentials. */
function misfitsOf(
  ctx: Context,
  action: ActionRow,
  { forwardUrl = '', forwardSigningSecret }: ForwardMembers,
): InputIssue[] {
  const misfits = signingIssues(ctx, { signingSecret: forwardSigningSecret }, action)
  const issues: InputIssue[] = misfits.map((misfit) => ({ ...misfit, path: ['forwardSigningSecret'] }))
  if (leavesCredentialsBehind(action, forwardUrl)) {
    const detail = 'The action has credentials for another host. Change it with the route of the action.'
    issues.push({ path: ['forwardUrl'], code: 'not_allowed', detail })
  }
  return issues
}

/**
 * Applies the deprecated members in the transaction that writes the endpoint. {@link checkForward} has accepted them.
 *
 * @param stored endpoint as read when the call began
 * @throws DomainError `concurrent_change` when the action read then is gone; nothing is saved
 * @throws DomainError `validation_failed` when the secret does not fit the scheme by which the action signs, or the
 *   action has credentials for another host
 * @throws DomainError `limit_reached` when a forward action is to be created and there is no room
 */
export async function writeForward(
  ctx: Context,
  trx: Trx,
  endpointId: string,
  stored: Stored,
  input: ForwardMembers,
): Promise<void> {
  const { forwardUrl, forwardSigningSecret } = input
  const forwardingEnabled =
    input.forwardingEnabled === stored?.forwardingEnabled ? undefined : input.forwardingEnabled
  if (forwardUrl === undefined && forwardSigningSecret === undefined && forwardingEnabled === undefined)
    return

  const actions = await lockActions(trx, endpointId)
  const action = forwardActionOf(actions, stored?.forwardActionId ?? null)
  if (forwardUrl === '') {
    if (action !== undefined) await dropAction(ctx, trx, actions, action)
    return
  }
  if (action === undefined) {
    if (forwardUrl === undefined) return
    await addAction(ctx, trx, actions, {
      endpointId,
      kind: 'forward',
      name: hostOf(forwardUrl),
      condition: ALWAYS.text,
      url: forwardUrl,
      isActive: input.forwardingEnabled ?? true,
      signingSecret: forwardSigningSecret,
    })
    return
  }
  // The action may have changed since the check.
  const misfits = misfitsOf(ctx, action, input)
  if (misfits.length > 0) throw validationFailed(misfits)
  await writeAction(ctx, trx, action, {
    ...(forwardUrl === undefined ? {} : { url: forwardUrl }),
    ...(forwardingEnabled === undefined ? {} : { isActive: forwardingEnabled }),
    ...signingColumns(forwardSigningSecret, action, {
      secrets: ctx.secrets,
      workspaceId: ctx.workspace.id,
      now: ctx.clock.now(),
    }),
  })
}

/** The action that was first when the call began. If there was none, one that was added since. */
function forwardActionOf(actions: readonly ActionRow[], idAtStart: string | null): ActionRow | undefined {
  if (idAtStart === null) return actions.find(({ kind }) => kind === 'forward')
  const action = actions.find(({ id }) => id === idAtStart)
  if (action !== undefined) return action
  throw new DomainError(
    'concurrent_change',
    'The forward action of the endpoint was removed at the same time. Nothing was saved. Read the endpoint again and retry.',
  )
}
