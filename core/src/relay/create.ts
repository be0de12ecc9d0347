import { randomUUID } from 'node:crypto'
import { DomainError } from '../api/errors.ts'
import type { Services } from '../api/services.ts'
import { captureUrlOf, DEFAULT_RESPONSE, insertEndpoint } from '../endpoints/index.ts'
import { addKey } from '../keys/index.ts'
import type { Trx } from '../platform/db/index.ts'
import { insertWorkspace } from '../workspaces/index.ts'
import { findIdle, insertRelayEndpoint, lockUse, networkOf, type RelayUse } from './statements.ts'
import {
  endIfIdle,
  RELAY_CREATIONS_PER_ADDRESS,
  RELAY_ENDPOINTS_MAX,
  RELAY_IDLE_MS,
  RELAY_LIFE_MS,
  RELAY_LIVE_PER_ADDRESS,
  RELAY_LIVE_PER_NETWORK,
  RELAY_RATE_MS,
  RELAY_RETRY_MS,
  RELAY_YIELD_MS,
} from './sweep.ts'

/** An endpoint that a relay gave to a stranger. */
export interface RelayedEndpoint {
  readonly endpointId: string
  readonly url: string
  /** Its only key, which is stored nowhere: scope `write`, for this endpoint. */
  readonly key: string
  /** Latest end of endpoint and key. */
  readonly expiresAt: string
  /** Seconds without a capture, a call or a listener after which the endpoint ends earlier. */
  readonly idleSeconds: number
}

/** The plan of a relay's workspaces; on a relay all plans have the same numbers. */
const PLAN = 'free'

/**
 * Gives an endpoint with a key of its own to a stranger, within the bounds of `sweep.ts`. A network that has all its places gives its longest idle one.
 * Creations run one after the other over all processes.
 *
 * @param address of the stranger; of IPv6 its /64
 * @throws DomainError `rate_limited` when the address has too many, or `unavailable` when the relay has; both with the
 *   seconds to wait
 */
export async function createRelayEndpoint(services: Services, address: string): Promise<RelayedEndpoint> {
  const now = services.clock.now()
  const since = new Date(now.getTime() - RELAY_RATE_MS)
  return await services.db.transaction().execute(async (trx) => {
    const use = await lockUse(trx, { address, now, since })
    const isEnded = use.liveInNetwork >= RELAY_LIVE_PER_NETWORK && (await endLongestIdle(trx, address, now))
    requirePlace({ ...use, liveInNetwork: use.liveInNetwork - (isEnded ? 1 : 0) }, now)
    const [workspaceId, endpointId] = [randomUUID(), randomUUID()]
    const expiresAt = new Date(now.getTime() + RELAY_LIFE_MS)
    const name = `relay ${endpointId.slice(0, 8)}`
    await insertWorkspace(trx, { id: workspaceId, name: `relay ${workspaceId}`, plan: PLAN, createdAt: now })
    await insertEndpoint(trx, {
      ...DEFAULT_RESPONSE,
      responseHeaders: JSON.stringify(DEFAULT_RESPONSE.responseHeaders),
      id: endpointId,
      workspaceId,
      name,
      isActive: true,
      createdAt: now,
      expiresAt,
    })
    const { key } = await addKey(services, trx, workspaceId, { name, scope: 'write', endpointId, expiresAt })
    await insertRelayEndpoint(trx, { endpointId, workspaceId, address, createdAt: now })
    return {
      endpointId,
      url: captureUrlOf(services.urls, endpointId),
      key,
      expiresAt: expiresAt.toISOString(),
      idleSeconds: RELAY_IDLE_MS / 1000,
    }
  })
}

/** Ends the endpoint of a network that was idle for the longest time. @returns whether there was one */
async function endLongestIdle(trx: Trx, address: string, now: Date): Promise<boolean> {
  const since = new Date(now.getTime() - RELAY_YIELD_MS)
  const [longest] = await findIdle(trx, { now, since, network: networkOf(address), limit: 1 })
  return longest !== undefined && (await endIfIdle(trx, longest, { now, since }))
}

function requirePlace({ stored, live, liveInNetwork, created, firstAt }: RelayUse, now: Date): void {
  const refuse = (code: 'rate_limited' | 'unavailable', detail: string, waitMs: number) => {
    throw new DomainError(code, detail, { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) })
  }
  if (created >= RELAY_CREATIONS_PER_ADDRESS) {
    const untilMs = (firstAt ?? now).getTime() + RELAY_RATE_MS
    const detail = `Your address has created ${RELAY_CREATIONS_PER_ADDRESS} endpoints within an hour.`
    refuse('rate_limited', detail, untilMs - now.getTime())
  }
  if (live >= RELAY_LIVE_PER_ADDRESS) {
    const detail = `Your address has ${RELAY_LIVE_PER_ADDRESS} endpoints that have not ended.`
    refuse('rate_limited', detail, RELAY_RETRY_MS)
  }
  if (liveInNetwork >= RELAY_LIVE_PER_NETWORK) {
    const detail = `Your network (/48) has ${RELAY_LIVE_PER_NETWORK} endpoints that have not ended.`
    refuse('rate_limited', detail, RELAY_RETRY_MS)
  }
  if (stored >= RELAY_ENDPOINTS_MAX) {
    refuse('unavailable', 'The relay has no place for another endpoint now.', RELAY_RETRY_MS)
  }
}
