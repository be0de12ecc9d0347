import type { Services } from '../api/services.ts'
import { markEndpointDeleted } from '../endpoints/index.ts'
import { type Plans, withLimits } from '../plans/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import type { Trx } from '../platform/db/index.ts'
import { HOUR_MS } from '../platform/time/index.ts'
import { lockCounters } from '../requests/index.ts'
import { deleteWorkspaces } from '../workspaces/index.ts'
import { countLive, findEmptyWorkspaces, findIdle, forgetEnded } from './statements.ts'

const MIB = 1_048_576
const MINUTE_MS = 60_000

/** Endpoints of all strangers together, those that wait to be deleted included. */
export const RELAY_ENDPOINTS_MAX = 1000
/** Live endpoints of one address; of IPv6 its /64. */
export const RELAY_LIVE_PER_ADDRESS = 5
/** Live endpoints of an IPv6 /48, which one customer may hold whole. */
export const RELAY_LIVE_PER_NETWORK = 50
/** Endpoints that one address may create in {@link RELAY_RATE_MS}. */
export const RELAY_CREATIONS_PER_ADDRESS = 20
export const RELAY_RATE_MS = HOUR_MS
/** An endpoint ends after this time without a capture, a call or a listener. */
export const RELAY_IDLE_MS = 2 * HOUR_MS
/** While places are short, an endpoint that was idle for this time may end: the longest idle first. */
export const RELAY_YIELD_MS = 15 * MINUTE_MS
/** Live endpoints beyond which places are short: those that were deleted hold theirs until they are purged. */
const SHORT_OF_PLACES = 0.9 * RELAY_ENDPOINTS_MAX
/** An endpoint ends after this time in any case. */
export const RELAY_LIFE_MS = 24 * HOUR_MS
/** Retention of the audit log, whose entries strangers cause. */
export const RELAY_AUDIT_DAYS = 1
/** Wait of a refused stranger, if a place may become free at any time. */
export const RELAY_RETRY_MS = MINUTE_MS

/** Limits of an endpoint on a relay, which has a workspace of its own. */
export const RELAY_LIMITS = {
  apiRatePerMinute: 300,
  apiKeysMax: 1,
  endpointsMax: 1,
  retentionDays: 1,
  captureRatePerMinute: 120,
  captureBytesPerMinute: 8 * MIB,
  storedRequestsMax: 200,
  storedBytesMax: 8 * MIB,
  payloadBytesMax: MIB / 4,
  actionsMax: 0,
  rulesMax: 0,
  watchdogsMax: 0,
  alertChannelsMax: 0,
  parallelAwaitsMax: 2,
  bulkReplay: 0,
} as const

/** The plans of a relay: each has {@link RELAY_LIMITS}. */
export const relayPlans = (): Plans => withLimits(() => RELAY_LIMITS)

/**
 * Ends the idle endpoints of a relay, and deletes the workspaces of those that are purged. The sweep of endpoints
 * purges the rest. A no-op where no relay ran.
 */
export async function sweepRelay({ db, clock }: Pick<Services, 'db' | 'clock'>): Promise<void> {
  const now = clock.now()
  const { idle, since } = await db.transaction().setIsolationLevel('repeatable read').execute(findToEnd(now))
  for (const endpointId of idle) {
    await db.transaction().execute((trx) => endIfIdle(trx, endpointId, { now, since }))
  }
  await db.transaction().execute(async (trx) => {
    await deleteWorkspaces(trx, await findEmptyWorkspaces(trx))
    await forgetEnded(trx, new Date(now.getTime() - RELAY_RATE_MS))
  })
}

/** In one snapshot, so that two sweeps at once end the same: the idle ones, and the longest idle where places are short. */
const findToEnd = (now: Date) => async (trx: Trx) => {
  const since = new Date(now.getTime() - RELAY_IDLE_MS)
  const idle = await findIdle(trx, { now, since })
  const beyond = Math.ceil((await countLive(trx)) - idle.length - SHORT_OF_PLACES)
  if (beyond <= 0) return { idle, since }
  const yieldsSince = new Date(now.getTime() - RELAY_YIELD_MS)
  const limit = idle.length + beyond
  return { idle: await findIdle(trx, { now, since: yieldsSince, limit }), since: yieldsSince }
}

/**
 * Ends an endpoint of a relay in the caller's transaction, if it is still idle: it may have been used since it was found,
 * also by a capture under way.
 *
 * @returns whether it was idle
 */
export async function endIfIdle(
  trx: Trx,
  endpointId: string,
  { now, since }: { readonly now: Date; readonly since: Date },
): Promise<boolean> {
  await lockCounters(trx, endpointId)
  const [idle] = await findIdle(trx, { now, since, only: endpointId })
  if (idle === undefined) return false
  await markEndpointDeleted(trx, endpointId, now)
  await announceEndpointChange(trx, endpointId)
  return true
}
