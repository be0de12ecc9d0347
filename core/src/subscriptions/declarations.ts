import { laneQueue, type RetrySchedule } from '../dispatch/index.ts'
import type { Db, Trx } from '../platform/db/index.ts'
import { sweepQueue } from '../platform/queues.ts'
import {
  type DataKeyRef,
  type SecretBox,
  sealedAs,
  sealedMembers,
  sealedTable,
} from '../platform/secrets/index.ts'

/** Time for which a subscription lasts without a refresh, in milliseconds. */
export const TTL_MS = { default: 3_600_000, min: 300_000, max: 86_400_000 } as const

/** Longest attempt, in milliseconds. */
export const SEND_MS = 10_000
/** Answer of a callback that is read, in bytes. */
export const ANSWER_BYTES_MAX = 65_536
/** Time after which an attempt without a result counts as interrupted, in milliseconds. */
export const LEASE_MS = 15_000
/** Attempts of an event: four within 15 minutes, unless the callback asks for more time. */
export const RETRIES: RetrySchedule = { delaysSeconds: [30, 120, 600], jitter: 0.2 }
/** Attempts of one subscription at once. While it fails, one at a time. */
export const SENDS_AT_ONCE = 4
/** Events of one subscription that wait to be sent. Further ones stay where they are, as requests. */
export const WAITING_MAX = 100
/** Ended events of a subscription that are kept, without their text. */
export const ENDED_KEPT = 100
/** Time for which the previous secret signs, too, in milliseconds. */
export const PREVIOUS_SECRET_MS = 86_400_000

/** Callbacks that a key may have checked in a minute. */
export const CHECKS_A_MINUTE = 10
/** Checks of one workspace that may fail at one host within {@link FAILED_CHECKS_MS}. */
export const FAILED_CHECKS_MAX = 30
/**
 * Failed checks at one host within {@link FAILED_CHECKS_MS}, over all workspaces, after which further checks there are
 * slowed down, and refused for workspaces that had one fail there.
 */
export const FAILED_CHECKS_OF_ALL = 120
/** Delay of a check at a host where many failed, in milliseconds. */
export const SLOWED_MS = 2_000
/** Time for which a failed check counts, in milliseconds. */
export const FAILED_CHECKS_MS = 3_600_000

/** Seconds within which the end of a key, or of an endpoint, ends its subscriptions: 5 with the longest read. */
export const CHECK_SECONDS = 2

/** Looks at subscriptions that have events to send. */
export const CALLBACK_LANES = laneQueue('subscriptions.lanes')

/**
 * Ends event subscriptions that have expired, also where no process sends, and deletes old messages. Singleton, and
 * as safe to interrupt as the other sweeps.
 */
export const SUBSCRIPTION_SWEEP = sweepQueue('subscriptions.sweep', 300)

/** Secrets that the noun stores. */
export const SEALED_SUBSCRIPTIONS = sealedTable('eventSubscriptions', ['callback'])

/** The next events that wait to be sent for a workspace, after an id. */
export async function nextAgentEvents(db: Db, workspaceId: string, afterId: number, limit: number) {
  return await db
    .selectFrom('eventDeliveries as d')
    .innerJoin('eventSubscriptions as s', 's.id', 'd.subscriptionId')
    .where('s.workspaceId', '=', workspaceId)
    .where('d.id', '>', afterId)
    .select(['d.id', 'd.body', 'd.attempts'])
    .select(sealedMembers('d'))
    .orderBy('d.id')
    .limit(limit)
    .execute()
}

/** Deletes events that wait to be sent. */
export async function forgetAgentEvents(trx: Trx, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await trx.deleteFrom('eventDeliveries').where('id', 'in', ids).execute()
}

/** Events that one call seals. */
const AT_ONCE = 100

/** Seals events of an endpoint that wait to be sent to agents. Returns whether there may be more. */
export async function sealAgentEvents(
  secrets: Pick<SecretBox, 'open'>,
  trx: Trx,
  endpointId: string,
  sealing: DataKeyRef,
): Promise<boolean> {
  const rows = await trx
    .selectFrom('eventDeliveries as d')
    .innerJoin('eventSubscriptions as s', 's.id', 'd.subscriptionId')
    .where('s.endpointId', '=', endpointId)
    .where('d.requestId', 'is not', null)
    .where('d.body', 'is not', null)
    .select(['d.id', 'd.body'])
    .limit(AT_ONCE)
    .forUpdate('d')
    .execute()
  for (const { id, body } of rows)
    await trx
      .updateTable('eventDeliveries')
      .set({ body: null, ...sealedAs(secrets, sealing, { body }) })
      .where('id', '=', id)
      .execute()
  return rows.length === AT_ONCE
}
