import { randomBytes } from 'node:crypto'
import type { Caller } from '../api/context.ts'
import { DomainError } from '../api/errors.ts'
import { requireUnsealed } from '../api/seal.ts'
import { aheadMs, type Services } from '../api/services.ts'
import { requireApi, requireHere } from '../keys/index.ts'
import { planOf } from '../plans/index.ts'
import type { Db } from '../platform/db/index.ts'
import { sha256Of } from '../platform/secrets/index.ts'
import { findLiveLinks, findLiveSession, findLiveTokens, takeFromSessionBudget } from './queries.ts'

/** A secret token of a browser or a link, with its stored digest. */
interface Token {
  /** 256 random bits in base64url. */
  readonly token: string
  readonly sha256: Buffer
}

/** Creates an unguessable token and its digest. */
export function newToken(): Token {
  const token = randomBytes(32).toString('base64url')
  return { token, sha256: sha256Of(token) }
}

/**
 * Filters presented tokens to those of live sessions, in one query, without taking anything from their budgets. The
 * counterpart of `knownKeys` for browsers.
 *
 * @param presented tokens from cookies
 */
export async function knownSessions(
  services: Pick<Services, 'db' | 'clock'>,
  presented: ReadonlySet<string>,
): Promise<Set<string>> {
  return await knownTokens(services, presented, findLiveTokens)
}

/** The same for tokens of sign-in links. */
export async function knownLinks(
  services: Pick<Services, 'db' | 'clock'>,
  presented: ReadonlySet<string>,
): Promise<Set<string>> {
  return await knownTokens(services, presented, findLiveLinks)
}

/** Filters tokens to those whose digests `findLive` finds. */
export async function knownTokens(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  presented: ReadonlySet<string>,
  findLive: (db: Db, fingerprints: readonly Buffer[], now: Date) => Promise<readonly Buffer[]>,
): Promise<Set<string>> {
  if (presented.size === 0) return new Set()
  const byFingerprint = new Map([...presented].map((token) => [sha256Of(token).toString('hex'), token]))
  const live = await findLive(
    db,
    [...byFingerprint.keys()].map((hex) => Buffer.from(hex, 'hex')),
    clock.now(),
  )
  return new Set(live.flatMap((sha256) => byFingerprint.get(sha256.toString('hex')) ?? []))
}

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
    sha256: sha256Of(token),
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
