import { z } from 'zod'
import { gathering } from '../api/gathering.ts'
import type { Services } from '../api/services.ts'
import { type RowsOf, run, statement } from '../platform/db/index.ts'
import { LEASE_MS, RETRY_JITTER, RETRY_SECONDS, SENDS_AT_ONCE } from './bounds.ts'
import { type Failure, failureOf, openCallback, sendMessage } from './callback.ts'
import { eventDeliveries, eventLag } from './metrics.ts'
import { WATERMARK } from './queries.ts'
import { StoredAttempts } from './view.ts'

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

/** A message whose attempt this process makes. */
export type ClaimedMessage = RowsOf<typeof CLAIM>

/**
 * Records attempts: `$1` the messages, `$2` their states, `$3` all of their attempts, `$4` the next one, `$5` when this
 * one ended, `$6` the reason if it failed. Subscriptions are locked in the order of their ids.
 */
const RECORD = statement(
  'record events sent',
  `with given as (
    select * from unnest($1::bigint[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::text[])
      with ordinality as g (id, state, attempts, next_at, at, error, place)
  ), ended as (
    update event_deliveries d set state = g.state, attempts = g.attempts, next_at = g.next_at, leased_until = null,
      body = case when g.state = 'waiting' then d.body end
    from given g where d.id = g.id and d.state = 'waiting'
    returning d.subscription_id, g.state, g.at, g.error, g.place
  ), totals as (
    select subscription_id, count(*) filter (where state = 'sent') as sent,
      count(*) filter (where state = 'failed') as failed, max(at) filter (where error is null) as sent_at,
      min(at) filter (where error is not null) as failed_at, (array_agg(error order by place desc))[1] as last_error
    from ended group by subscription_id
  ), locked as materialized (
    select id from event_subscriptions where id in (select subscription_id from totals) order by id for no key update
  )
  update event_subscriptions s set
    last_delivery_at = coalesce(t.sent_at, s.last_delivery_at),
    last_error = t.last_error,
    failed_since = case when t.last_error is not null then coalesce(s.failed_since, t.failed_at) end,
    sent_count = s.sent_count + t.sent,
    failed_count = s.failed_count + t.failed
  from totals t join locked on locked.id = t.subscription_id
  where s.id = t.subscription_id`,
)

interface SendRecord {
  readonly id: number
  readonly state: 'waiting' | 'sent' | 'failed'
  readonly attempts: string
  readonly nextAt: Date
  readonly at: Date
  readonly error: Failure | null
}

/** Attempts that end at the same time share a statement. */
const recordTogether = gathering<SendRecord, void>(async (db, records) => {
  await run(db, RECORD, [
    records.map(({ id }) => id),
    records.map(({ state }) => state),
    records.map(({ attempts }) => attempts),
    records.map(({ nextAt }) => nextAt),
    records.map(({ at }) => at),
    records.map(({ error }) => error),
  ])
  return records.map(() => undefined)
})

/** Claims messages for this process, until their leases end. */
export async function claimMessages(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  limit: number,
): Promise<readonly ClaimedMessage[]> {
  const now = clock.now()
  const values = [now, limit, new Date(now.getTime() + LEASE_MS)]
  return await run(db, CLAIM, values)
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
  await recordTogether(db, '', {
    id: message.id,
    state,
    attempts: JSON.stringify(attempts),
    nextAt,
    at: now,
    error,
  })
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
