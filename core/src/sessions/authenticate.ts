import type { Caller } from '../api/context.ts'
import { DomainError } from '../api/errors.ts'
import { aheadMs, type Services } from '../api/services.ts'
import { requireApi, requireHere, requireUnsealed } from '../keys/index.ts'
import { planOf } from '../plans/index.ts'
import { findLiveSession, takeFromSessionBudget } from './queries.ts'
import { tokenFingerprint } from './token.ts'

/** Calls a minute of one session. It is separate, so that a browser never uses up the budget of a key. */
const SESSION_CALLS_PER_MINUTE = 1_200

const SIGNED_OUT = 'You are signed out: sign in again.'

/**
 * Authenticates a call of a signed-in browser, and takes `cost` calls from the session's own budget. A session created
 * with a key ends with it, and may call only while the plan has API access. An owner's session may call on every plan.
 *
 * @param presented the cookie's token, and the call's address
 * @throws DomainError `unauthorized`, then `forbidden` from a network that its key does not allow, then
 *   `api_access_disabled`, then `rate_limited`
 */
export async function authenticateSession(
  services: Services,
  { token, address }: { readonly token: string; readonly address: string | null },
  cost = 1,
): Promise<Caller> {
  const row = await takeFromSessionBudget(services.db, {
    sha256: tokenFingerprint(token),
    aheadMs: aheadMs(services.clock),
    address,
    cost,
    budget: SESSION_CALLS_PER_MINUTE,
  })
  if (row === undefined) throw new DomainError('unauthorized', SIGNED_OUT)
  requireHere(row.isHere)
  requireUnsealed(row.isSealed)
  const plan = planOf(services.plans, row.planKey)
  if (row.apiKeyId !== null) requireApi(plan)
  if (row.callCount > SESSION_CALLS_PER_MINUTE) {
    throw new DomainError(
      'rate_limited',
      `The session's budget of ${SESSION_CALLS_PER_MINUTE} calls a minute is spent.`,
      { retryAfterSeconds: Math.max(1, Math.ceil(row.secondsLeft)) },
    )
  }
  const { apiKeyId, keyName, keyPrefix, keyExpiresAt } = row
  return {
    callerId: row.id,
    key:
      apiKeyId === null
        ? null
        : { id: apiKeyId, name: keyName ?? '', prefix: keyPrefix ?? '', expiresAt: keyExpiresAt },
    session: { id: row.id, role: apiKeyId === null ? 'owner' : 'key' },
    scope: row.keyScope ?? 'admin',
    onlyEndpointId: row.keyEndpointId,
    address,
    actor: { kind: 'session', id: row.id, name: keyName ?? 'owner', address },
    workspace: { id: row.workspaceId, name: row.workspaceName },
    plan,
  }
}

/**
 * Checks whether a session that was accepted earlier is still valid; takes nothing from its budget.
 *
 * @throws DomainError `unauthorized`, `forbidden`, `api_access_disabled`
 */
export async function recheckSession(
  services: Services,
  { sessionId, address }: { readonly sessionId: string; readonly address: string | null },
): Promise<void> {
  const row = await findLiveSession(services.db, { id: sessionId, address, now: services.clock.now() })
  if (row === undefined) throw new DomainError('unauthorized', SIGNED_OUT)
  requireHere(row.isHere)
  if (row.apiKeyId !== null) requireApi(planOf(services.plans, row.planKey))
}
