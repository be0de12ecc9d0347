import type { Services } from '../api/services.ts'
import { changeOf, recordChange } from '../audit/index.ts'
import { isHere, isLive } from '../keys/index.ts'
import { type Db, run, statement, type Trx } from '../platform/db/index.ts'
import { messageId, openCallback, sendMessage } from './callback.ts'
import { ENDED_KEPT } from './declarations.ts'
import { deleteSubscription, lockSubscription, type SubscriptionRow } from './queries.ts'
import { auditedView } from './view.ts'

/** Rotations that are followed from the key of a subscription. */
const ROTATIONS_MAX = 100

/**
 * Ids of subscriptions that must end at `$1`: expired, of a deleted endpoint, or of a key that is no longer valid. A key
 * that ended because it was rotated hands its subscriptions on; one that was revoked does not. `$2` is the only one that
 * is asked about, or null for all.
 */
const ENDING = statement(
  'ending subscriptions',
  `with recursive keys as (
    select s.id, s.key_id, s.address, 0 as depth from event_subscriptions s
    where $2::uuid is null or s.id = $2::uuid
    union all
    select c.id, k.replaced_by_id, c.address, c.depth + 1 from keys c join api_keys k on k.id = c.key_id
    where k.replaced_by_id is not null and k.revoked_at is null and k.expires_at <= $1::timestamptz
      and c.depth < ${ROTATIONS_MAX}
  ), valid as (
    select c.id from keys c join api_keys k on k.id = c.key_id
    where ${isLive('$1')} and ${isHere('c.address')}
  )
  select s.id, s.expires_at <= $1::timestamptz as is_expired
  from event_subscriptions s
  join endpoints e on e.id = s.endpoint_id
  where ($2::uuid is null or s.id = $2::uuid) and (
    s.expires_at <= $1::timestamptz or e.deleted_at is not null
    or not exists (select from valid v where v.id = s.id))`,
)

/** Ends the subscriptions that may not go on, and tells their callbacks. Expired ones are deleted without notification. */
export async function endInvalid(services: Services): Promise<void> {
  const ending = (db: Db | Trx, only: string | null) => run(db, ENDING, [services.clock.now(), only])
  for (const { id } of await ending(services.db, null)) {
    const ended = await services.db.transaction().execute(async (trx) => {
      await lockSubscription(trx, id)
      // It may have been refreshed, or made again with the same id, while others were ended.
      const [still] = await ending(trx, id)
      if (still === undefined) return undefined
      if (!still.isExpired) return await endIn(trx, services, id)
      await deleteSubscription(trx, id)
      return undefined
    })
    if (ended !== undefined) tellOnce(services, ended)
  }
}

/**
 * Ends a subscription: nothing more is sent to it, except that it ended. A no-op when it is gone.
 *
 * @param who the call's context, or the services of a process that ends it by itself
 * @param options `tells`: whether the callback did not ask for it
 */
export async function endSubscription(
  who: Services & { readonly traceId?: string },
  id: string,
  { tells }: { readonly tells: boolean },
): Promise<boolean> {
  const row = await who.db.transaction().execute((trx) => endIn(trx, who, id))
  if (row !== undefined && tells) tellOnce(who, row)
  return row !== undefined
}

async function endIn(
  trx: Trx,
  who: Parameters<typeof recordChange>[1],
  id: string,
): Promise<SubscriptionRow | undefined> {
  const ended = await deleteSubscription(trx, id)
  if (ended === undefined) return undefined
  await recordChange(trx, who, changeOf(['subscription', 'subscriptions.end'], ended, null, auditedView))
  return ended
}

/** Tells a callback in one attempt that it ended: the client learns of it with its next refresh, too. */
function tellOnce(services: Services, row: SubscriptionRow): void {
  if (!row.declaresExtension) return
  tellEnd(services, row).catch((err: unknown) =>
    services.log.warn({ err }, 'a callback was not told of its end'),
  )
}

/** Code of the extension for a subscription that the server ended. */
const FORBIDDEN = -32024

async function tellEnd(services: Services, row: SubscriptionRow): Promise<void> {
  const error = { code: FORBIDDEN, message: 'The subscription was ended.', data: { reason: 'ended' } }
  await sendMessage(services, openCallback(services.secrets, row.callback, row.workspaceId), {
    subscriptionId: row.id,
    id: messageId('terminated'),
    body: Buffer.from(JSON.stringify({ type: 'terminated', error })),
    hops: 0,
  })
}

const SWEEP = statement(
  'sweep event deliveries',
  `delete from event_deliveries d using (
    select s.id, (
      select e.id from event_deliveries e where e.subscription_id = s.id and e.state <> 'waiting'
      order by e.id desc offset ${ENDED_KEPT} limit 1
    ) as last_id
    from event_subscriptions s
  ) old
  where d.subscription_id = old.id and d.id <= old.last_id and d.state <> 'waiting'`,
)

/** Ends subscriptions that have expired, and deletes old messages that were sent or given up. */
export async function sweepSubscriptions(services: Services): Promise<void> {
  await endInvalid(services)
  await run(services.db, SWEEP, [])
}
