import { timingSafeEqual } from 'node:crypto'
import { budgetClock, SECONDS_LEFT, takeFromWindow } from '../api/callBudget.ts'
import type { Caller } from '../api/context.ts'
import { DomainError } from '../api/errors.ts'
import { gathering } from '../api/gathering.ts'
import { isSealed, requireUnsealed } from '../api/seal.ts'
import { aheadMs, type Services } from '../api/services.ts'
import { type Plan, planOf } from '../plans/index.ts'
import { type RowsOf, run, statement } from '../platform/db/index.ts'
import { sha256Of } from '../platform/secrets/index.ts'
import { isKeyShaped } from './key.ts'
import { isLive, isPresentable } from './queries.ts'

export interface Presented {
  /** The key as it was sent, or null. */
  readonly key: string | null
  /** Taken from trusted proxies; null when unknown. */
  readonly address: string | null
  /** Whether the call is for `/mcp`, the only resource of keys of the kind `oauth`; false by default. */
  readonly isForMcp?: boolean
}

/**
 * Authenticates a call: finds the key and takes `cost` calls from its budget, in one statement, which concurrent calls
 * share.
 *
 * The window starts with its first call and is fixed. A refused call neither counts nor moves it, so waiting for
 * `Retry-After` always succeeds. The budget is counted in Postgres and by its clock, so it holds across processes with
 * different clocks.
 *
 * @param cost calls to take at once: 1, or the procedures of a tRPC batch
 * @throws DomainError `unauthorized`, then `forbidden` from a network that the key does not allow, and for the token of
 *   an agent elsewhere than at `/mcp`, then `api_access_disabled`, then `rate_limited`
 */
export async function authenticate(
  services: Services,
  { key, address, isForMcp = false }: Presented,
  cost = 1,
): Promise<Caller> {
  if (key === null || key === '') {
    throw new DomainError('unauthorized', 'Send an API key as Authorization: Bearer <API_KEY>.')
  }
  if (!isKeyShaped(key)) throw unknownKey()
  const sha256 = sha256Of(key)
  const row = await takeFromBudget(services, { sha256, address, cost })
  if (row === undefined || !timingSafeEqual(row.sha256, sha256)) throw unknownKey()
  requireHere(row.isHere)
  requireUnsealed(row.isSealed)
  if (row.kind === 'oauth' && !isForMcp) {
    throw new DomainError('forbidden', 'The token of an agent is for /mcp only. Send an API key.')
  }
  const plan = planOf(services.plans, row.planKey)
  requireApi(plan)
  if (!row.isWithinBudget) {
    const retryAfterSeconds = Math.max(1, Math.ceil(row.secondsLeft))
    throw new DomainError(
      'rate_limited',
      `The key's budget of ${plan.limits.apiRatePerMinute} calls a minute is spent.`,
      { retryAfterSeconds },
    )
  }
  return {
    callerId: row.id,
    key: { id: row.id, name: row.name, prefix: row.prefix, expiresAt: row.expiresAt },
    session: null,
    scope: row.scope,
    onlyEndpointId: row.endpointId,
    address,
    actor: { kind: 'key', id: row.id, name: row.name, address },
    workspace: { id: row.workspaceId, name: row.workspaceName },
    plan,
  }
}

const unknownKey = () => new DomainError('unauthorized', 'The API key is unknown, expired or was revoked.')

/** @throws DomainError `forbidden` unless the key may be used from the call's address */
export function requireHere(isHere: boolean): void {
  if (isHere) return
  throw new DomainError('forbidden', 'The key may not be used from this address.')
}

/** @throws DomainError `api_access_disabled` when the plan has no API */
export function requireApi(plan: Plan): void {
  if (plan.limits.apiRatePerMinute > 0) return
  throw new DomainError('api_access_disabled', `The ${plan.displayName} plan has no API access.`)
}

/** SQL condition that the key may be used from an address, which may be null. */
export const isHere = (address: string) =>
  `(k.allowed_networks is null or coalesce(${address}::inet <<= any (k.allowed_networks::inet[]), false))`

const RECHECK = statement(
  'recheck key',
  `select w.plan as plan_key, ${isHere('$3')} as is_here
  from api_keys k join workspaces w on w.id = k.workspace_id
  where k.id = $1::uuid and ${isLive('$2')}`,
)

/**
 * Checks whether a key that was accepted earlier is still valid; takes nothing from its budget.
 *
 * @throws DomainError `unauthorized`, `forbidden`, `api_access_disabled`
 */
export async function recheckKey(
  services: Services,
  { keyId, address }: { readonly keyId: string; readonly address: string | null },
): Promise<void> {
  const values = [keyId, services.clock.now(), address]
  const [row] = await run(services.db, RECHECK, values)
  if (row === undefined) throw new DomainError('unauthorized', 'The API key was revoked, or has expired.')
  requireHere(row.isHere)
  requireApi(planOf(services.plans, row.planKey))
}

/**
 * `$1` the key's SHA-256, `$2` the plans' budgets, `$3` see `aheadMs`, `$4` the cost, `$5` the call's address. A call
 * from an address that the key does not allow takes nothing.
 */
const TAKE_FROM_BUDGET = statement(
  'take from budget',
  `with ${budgetClock('$3')}, caller as (
    select k.id, k.name, k.prefix, k.sha256, k.kind, w.id as workspace_id, w.name as workspace_name, w.plan as plan_key,
           k.scope, k.endpoint_id, k.expires_at, ${isHere('$5')} as is_here, ${isSealed('w')} as is_sealed,
           coalesce(($2::jsonb ->> w.plan)::int, 0) as budget
    from api_keys k join workspaces w on w.id = k.workspace_id
    where k.sha256 = $1 and ${isPresentable('(select at from clock)')}
  ), taken as (
    insert into api_key_windows as win (api_key_id, started_at, call_count)
    ${takeFromWindow({ owner: 'api_key_id', cost: '$4::int', budget: 'budget' })}
  ), used as (
    update api_keys k set last_used_at = t.started_at from taken t, caller c
    where k.id = c.id and (k.last_used_at is null or k.last_used_at < t.started_at)
  )
  select c.id, c.name, c.prefix, c.sha256, c.kind, c.workspace_id, c.workspace_name, c.plan_key,
         c.scope, c.endpoint_id, c.expires_at, c.is_here, c.is_sealed,
         ${SECONDS_LEFT}, t.call_count is not null as is_within_budget
  from clock, caller c
  left join taken t on true
  left join api_key_windows win on win.api_key_id = c.id`,
  { notNull: ['secondsLeft'] },
)

/**
 * A key, with the state of its budget after the call. `secondsLeft`: seconds until the window ends, by the database's
 * clock. Nothing was taken unless `isWithinBudget`.
 */
type KeyRow = RowsOf<typeof TAKE_FROM_BUDGET>

interface BudgetCall {
  readonly services: Services
  readonly sha256: Buffer
  readonly address: string | null
  readonly cost: number
}

function takeFromBudget(services: Services, call: Omit<BudgetCall, 'services'>): Promise<KeyRow | undefined> {
  const { sha256, address, cost } = call
  return takeTogether(services.db, `${sha256.toString('hex')} ${cost} ${address}`, { ...call, services })
}

const takeTogether = gathering<BudgetCall, KeyRow | undefined>((_db, calls) =>
  takeForAll(calls[0], calls.length),
)

/** Takes the same call `count` times: all at once, or as many as the budget has left, in order. */
async function takeForAll(call: BudgetCall, count: number): Promise<(KeyRow | undefined)[]> {
  const row = await takeAtOnce(call, count * call.cost)
  const isForAll = count === 1 || row === undefined || !row.isHere || row.isWithinBudget
  if (isForAll) return Array.from({ length: count }, () => row)
  const half = Math.ceil(count / 2)
  const first = await takeForAll(call, half)
  const last = first.at(-1)
  // If one call does not fit, neither do those after it.
  if (last?.isWithinBudget !== true) return [...first, ...Array.from({ length: count - half }, () => last)]
  return [...first, ...(await takeForAll(call, count - half))]
}

async function takeAtOnce(
  { services, sha256, address }: BudgetCall,
  cost: number,
): Promise<KeyRow | undefined> {
  const budgets = Object.fromEntries(
    Object.values(services.plans).map((plan) => [plan.key, plan.limits.apiRatePerMinute]),
  )
  const values = [sha256, JSON.stringify(budgets), aheadMs(services.clock), cost, address]
  const [row] = await run(services.db, TAKE_FROM_BUDGET, values)
  return row
}
