import { z } from 'zod'
import type { Services } from '../api/services.ts'
import { run, statement } from '../platform/db/index.ts'
import { eventDeliveries, eventLag } from '../platform/metrics/index.ts'
import { LEASE_MS, RETRY_JITTER, RETRY_SECONDS, SENDS_AT_ONCE } from './bounds.ts'
import { type Failure, failureOf, openCallback, sendMessage } from './callback.ts'
import { WATERMARK } from './queries.ts'
import { StoredAttempts } from './view.ts'

/** A message whose attempt this process makes. */
export interface ClaimedMessage {
  readonly id: number
  readonly subscriptionId: string
  readonly workspaceId: string
  readonly requestId: number | null
  readonly messageId: string
  readonly hops: number
  readonly body: string | null
  readonly attempts: string
  readonly callback: Buffer
  readonly watermark: number
}

/**
 * Claims messages that are due at `$1`, at most `$2`, until `$3`: the oldest of each subscription, a few at once. A
 * subscription that fails has one at a time.
 */
const CLAIM = statement(
  'claim events to send',
  `with picked as (
    select m.id from event_subscriptions s
    cross join lateral (
      select count(*) as busy from event_deliveries b
      where b.subscription_id = s.id and b.state = 'waiting' and b.leased_until > $1::timestamptz
    ) f
    cross join lateral (
      select d.id, d.next_at from event_deliveries d
      where d.subscription_id = s.id and d.state = 'waiting' and d.next_at <= $1::timestamptz
        and (d.leased_until is null or d.leased_until <= $1::timestamptz)
      order by d.id
      limit greatest(0, case when s.failed_since is null then ${SENDS_AT_ONCE} else 1 end - f.busy)
      for update skip locked
    ) m
    where s.expires_at > $1::timestamptz
    order by m.next_at, m.id limit $2::int
  )
  update event_deliveries d set leased_until = $3::timestamptz
  from picked p, event_subscriptions s
  where d.id = p.id and s.id = d.subscription_id
  returning d.id, d.subscription_id, s.workspace_id, d.request_id, d.message_id, d.hops, d.body, d.attempts, s.callback,
    ${WATERMARK} as watermark`,
)

/** Records an attempt: `$2` its state, `$3` all attempts, `$4` the next one, `$5` now, `$6` the reason if it failed. */
const RECORD = statement(
  'record event sent',
  `with ended as (
    update event_deliveries set state = $2::text, attempts = $3::text, next_at = $4::timestamptz, leased_until = null,
      body = case when $2::text = 'waiting' then body end
    where id = $1::bigint and state = 'waiting'
    returning subscription_id
  )
  update event_subscriptions s set
    last_delivery_at = case when $6::text is null then $5::timestamptz else s.last_delivery_at end,
    last_error = $6::text,
    failed_since = case when $6::text is null then null else coalesce(s.failed_since, $5::timestamptz) end,
    sent_count = s.sent_count + case when $2::text = 'sent' then 1 else 0 end,
    failed_count = s.failed_count + case when $2::text = 'failed' then 1 else 0 end
  from ended e where s.id = e.subscription_id`,
)

/** Claims messages for this process, until their leases end. */
export async function claimMessages(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  limit: number,
): Promise<readonly ClaimedMessage[]> {
  const now = clock.now()
  const values = [now, limit, new Date(now.getTime() + LEASE_MS)]
  return await run<ClaimedMessage>(db, CLAIM, values)
}

const Event = z.looseObject({ timestamp: z.string().optional() })

/** Makes one attempt and records it. An event carries the watermark of its subscription as its cursor. */
export async function sendClaimed(services: Services, message: ClaimedMessage): Promise<void> {
  const { clock, db, secrets } = services
  const callback = openCallback(secrets, message.callback, message.workspaceId)
  const text = message.body ?? '{}'
  const event = Event.parse(JSON.parse(text))
  const body =
    message.requestId === null ? text : JSON.stringify({ ...event, cursor: String(message.watermark) })
  const startedAt = clock.now()
  const result = await sendMessage(services, callback, {
    subscriptionId: message.subscriptionId,
    id: message.messageId,
    body: Buffer.from(body),
    hops: message.hops,
  })
  const error = failureOf(result)
  const statusCode = result.outcome === 'response' ? result.statusCode : null
  const before = StoredAttempts.parse(JSON.parse(message.attempts))
  const attempts = [
    ...before,
    { at: startedAt.toISOString(), statusCode, error, durationMs: result.durationMs },
  ]
  const now = clock.now()
  const waitMs = nextWaitMs(error, statusCode, attempts.length)
  const state = error === null ? 'sent' : waitMs === null ? 'failed' : 'waiting'
  const nextAt = new Date(now.getTime() + (waitMs ?? 0))
  await run(db, RECORD, [message.id, state, JSON.stringify(attempts), nextAt, now, error])
  eventDeliveries.inc({ outcome: state === 'waiting' ? 'retried' : state })
  if (state === 'sent' && event.timestamp !== undefined) {
    eventLag.observe(Math.max(0, now.getTime() - Date.parse(event.timestamp)) / 1000)
  }
}

/** Statuses by which a receiver gives an event up. */
const GIVEN_UP = new Set([410, 413])

/** Milliseconds until the next attempt; null where there is none. */
function nextWaitMs(error: Failure | null, statusCode: number | null, made: number): number | null {
  const seconds = RETRY_SECONDS[made - 1]
  if (error === null || seconds === undefined) return null
  if (statusCode !== null && GIVEN_UP.has(statusCode)) return null
  return seconds * 1000 * (1 + RETRY_JITTER * (2 * Math.random() - 1))
}
