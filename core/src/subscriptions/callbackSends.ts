import { z } from 'zod'
import { isSealed, SEALED_MS } from '../api/seal.ts'
import type { Services } from '../api/services.ts'
import {
  type Adapter,
  type DueLane,
  type Lane,
  type Look,
  nextAttemptAt,
  retryAfterOf,
  type Send,
  waitingOf,
} from '../dispatch/index.ts'
import { type RowsOf, run, statement } from '../platform/db/index.ts'
import { isShredded, sealedColumns } from '../platform/secrets/index.ts'
import { type Failure, failureOf, openCallback, sendMessage } from './callback.ts'
import { CALLBACK_LANES, LEASE_MS, RETRIES, SENDS_AT_ONCE } from './declarations.ts'
import { sendPace } from './pace.ts'
import { eventDeliveries, eventLag } from './pull.ts'
import { WATERMARK } from './queries.ts'
import { StoredAttempts } from './schema.ts'

/** Locks the live subscription `$1` at `$2`. */
const LOCK = statement(
  'lock subscription to send',
  `select s.callback, s.failed_since is not null as is_failing, ${isSealed('w')} as is_sealed, ${WATERMARK} as watermark
  from event_subscriptions s join workspaces w on w.id = s.workspace_id
  where s.id = $1::uuid and s.expires_at > $2::timestamptz
  for no key update of s`,
)

/**
 * Claims messages of the locked subscription `$1` that are due at `$2`, the oldest first, until `$5`: at most `$3`, and
 * at most `$4` with those under way.
 */
const CLAIM = statement(
  'claim events to send',
  `with picked as (
    select d.id from event_deliveries d
    where d.subscription_id = $1::uuid and d.state = 'waiting' and d.next_at <= $2::timestamptz
      and (d.leased_until is null or d.leased_until <= $2::timestamptz)
    order by d.id
    limit greatest(0, least($3::int, $4::int - (
      select count(*) from event_deliveries b
      where b.subscription_id = $1::uuid and b.state = 'waiting' and b.leased_until > $2::timestamptz
    )))
  )
  update event_deliveries d set leased_until = $5::timestamptz from picked p where d.id = p.id
  returning d.id, d.request_id, d.message_id, d.hops, d.body, d.attempts, ${sealedColumns('d')}`,
)

/** When a message of the subscription `$1` becomes due after `$2`. */
const NEXT = statement(
  'next event to send',
  `select min(greatest(d.next_at, d.leased_until)) as at from event_deliveries d
  where d.subscription_id = $1::uuid and d.state = 'waiting' and greatest(d.next_at, d.leased_until) > $2::timestamptz`,
)

/** Locks subscriptions `$1` in the order of their ids, as the end of one does before it deletes its messages. */
const LOCK_ALL = statement(
  'lock subscriptions to record',
  'select id from event_subscriptions where id = any($1::uuid[]) order by id for no key update',
)

/**
 * Records attempts: `$1` the messages, `$2` their states, `$3` all of their attempts, `$4` the next one, `$5` when this
 * one ended, `$6` the reason if it failed. A message that was given up without an attempt has failed for no reason, and
 * says nothing of the callback.
 */
const RECORD = statement(
  'record events sent',
  `with given as (
    select * from unnest($1::bigint[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::text[])
      with ordinality as g (id, state, attempts, next_at, at, error, place)
  ), ended as (
    update event_deliveries d set state = g.state, attempts = g.attempts, next_at = g.next_at, leased_until = null,
      body = case when g.state = 'waiting' then d.body end, sealed = case when g.state = 'waiting' then d.sealed end,
      sealed_with = case when g.state = 'waiting' then d.sealed_with end
    from given g where d.id = g.id and d.state = 'waiting'
    returning d.subscription_id, g.state, g.at, g.error, g.place
  ), totals as (
    select subscription_id, count(*) filter (where state = 'sent') as sent,
      count(*) filter (where state = 'failed') as failed, max(at) filter (where state = 'sent') as sent_at,
      min(at) filter (where error is not null) as failed_at, bool_or(state = 'sent' or error is not null) as is_tried,
      (array_agg(error order by place desc) filter (where state = 'sent' or error is not null))[1] as last_error
    from ended group by subscription_id
  )
  update event_subscriptions s set
    last_delivery_at = coalesce(t.sent_at, s.last_delivery_at),
    last_error = case when t.is_tried then t.last_error else s.last_error end,
    failed_since = case when not t.is_tried then s.failed_since
      when t.last_error is not null then coalesce(s.failed_since, t.failed_at) end,
    sent_count = s.sent_count + t.sent,
    failed_count = s.failed_count + t.failed
  from totals t where s.id = t.subscription_id`,
)

/** Subscriptions among `$1` with messages that no process sends at `$2`, and when the first of these is due. */
const LEFT = statement(
  'events left to send',
  `select s.id, s.workspace_id, min(d.next_at) as due_at
  from event_subscriptions s
  join event_deliveries d on d.subscription_id = s.id and d.state = 'waiting'
    and (d.leased_until is null or d.leased_until <= $2::timestamptz)
  where s.id = any($1::uuid[])
  group by s.id`,
)

const WAITING = statement(
  'events waiting',
  waitingOf(`select next_at as due_at from event_deliveries
    where state = 'waiting' and next_at <= $1::timestamptz and (leased_until is null or leased_until <= $1::timestamptz)`),
)

/** Subscriptions with messages that were due before `$1`, or, if that is null, those of the workspace `$2`. */
const FIND = statement(
  'subscriptions with events to send',
  `select s.id, s.workspace_id from event_subscriptions s
  where ($2::uuid is null or s.workspace_id = $2::uuid) and exists (
    select from event_deliveries d
    where d.subscription_id = s.id and d.state = 'waiting'
      and ($1::timestamptz is null or greatest(d.next_at, d.leased_until) < $1::timestamptz)
  )`,
)

interface CallbackSend extends RowsOf<typeof CLAIM>, Send {
  readonly lane: Lane
  readonly callback: Buffer
  readonly watermark: number
}

interface CallbackResult {
  readonly answered: boolean
  readonly state: 'waiting' | 'sent' | 'failed'
  readonly nextAt: Date
  readonly error: Failure | null
  readonly attempts: z.output<typeof StoredAttempts>
  readonly at: Date
}

const pace = sendPace()

/** Sends of events to callbacks. A subscription has several at once; while it fails, one at a time. */
export const CALLBACK_SENDS: Adapter<CallbackSend, CallbackResult> = {
  kind: 'event',
  queue: CALLBACK_LANES,
  idsOf: ({ id, requestId }) => ({ requestId, eventDeliveryId: id }),
  room: (most) => pace.room(most),

  async look({ clock }, trx, lane, { slots }): Promise<Look<CallbackSend>> {
    const now = clock.now()
    const [subscription] = await run(trx, LOCK, [lane.id, now])
    if (subscription === undefined) return { sends: [], nextInMs: null }
    const { callback, isFailing, isSealed: sealed, watermark } = subscription
    if (sealed) return { sends: [], nextInMs: SEALED_MS }
    const leaseUntil = new Date(now.getTime() + LEASE_MS)
    const atOnce = isFailing ? 1 : SENDS_AT_ONCE
    const claimed = await run(trx, CLAIM, [lane.id, now, slots, atOnce, leaseUntil])
    pace.count(claimed.length)
    const sends = claimed.map((row) => {
      const bytes = Buffer.byteLength(row.body ?? '')
      return { ...row, bytes, leaseUntil, lane, callback, watermark }
    })
    if (sends.length === slots) return { sends, nextInMs: 0 }
    const [next] = await run(trx, NEXT, [lane.id, now])
    const nextInMs = next?.at instanceof Date ? next.at.getTime() - now.getTime() : null
    return { sends, nextInMs }
  },

  send: sendEvent,

  async record({ clock }, trx, ended): Promise<readonly DueLane[]> {
    const lanes = [...new Set(ended.map(({ lane }) => lane.id))].sort()
    await run(trx, LOCK_ALL, [lanes])
    await run(trx, RECORD, [
      ended.map(({ send }) => send.id),
      ended.map(({ outcome }) => outcome.state),
      ended.map(({ outcome }) => JSON.stringify(outcome.attempts)),
      ended.map(({ outcome }) => outcome.nextAt),
      ended.map(({ outcome }) => outcome.at),
      ended.map(({ outcome }) => outcome.error),
    ])
    return (await run(trx, LEFT, [lanes, clock.now()])).flatMap(({ dueAt, ...lane }) =>
      dueAt === null ? [] : [{ ...lane, dueAt }],
    )
  },

  waiting: async (db, now) => (await run(db, WAITING, [now]))[0],
  find: async (db, which) =>
    await run(db, FIND, 'dueBefore' in which ? [which.dueBefore, null] : [null, which.workspaceId]),
}

/** Statuses by which a receiver gives an event up. */
const GIVEN_UP = new Set([410, 413])

const Event = z.looseObject({ timestamp: z.string().optional() })

/** Makes one attempt. An event carries the watermark of its subscription as its cursor. */
async function sendEvent(
  services: Services,
  send: CallbackSend,
  signal: AbortSignal,
): Promise<CallbackResult | null> {
  const { clock, secrets } = services
  if (isShredded(send)) return givenUp(services, send)
  const callback = openCallback(secrets, send.callback, send.lane.workspaceId)
  const text = send.body ?? '{}'
  const event = Event.parse(JSON.parse(text))
  const body = send.requestId === null ? text : JSON.stringify({ ...event, cursor: String(send.watermark) })
  const startedAt = clock.now()
  const of = { subscriptionId: send.lane.id, id: send.messageId, hops: send.hops }
  const message = { ...of, body: Buffer.from(body) }
  const result = await sendMessage(services, callback, message, signal)
  if (result.outcome === 'aborted') return null
  const error = failureOf(result)
  const statusCode = result.outcome === 'response' ? result.statusCode : null
  const attempt = { at: startedAt.toISOString(), statusCode, error, durationMs: result.durationMs }
  const attempts = [...StoredAttempts.parse(JSON.parse(send.attempts)), attempt]
  const at = clock.now()
  const retryAfter = result.outcome === 'response' ? retryAfterOf(result.headers) : null
  const isOver = error === null || (statusCode !== null && GIVEN_UP.has(statusCode))
  const failed = { now: at, attempt: attempts.length, statusCode, retryAfter }
  const next = isOver ? null : nextAttemptAt(failed, RETRIES)
  const state = error === null ? 'sent' : next === null ? 'failed' : 'waiting'
  eventDeliveries.inc({ outcome: state === 'waiting' ? 'retried' : state })
  if (state === 'sent' && send.requestId !== null && event.timestamp !== undefined)
    eventLag.observe(Math.max(0, at.getTime() - Date.parse(event.timestamp)) / 1000)
  return { answered: statusCode !== null, state, nextAt: next ?? at, error, attempts, at }
}

/** The end of an event whose key was destroyed before it was sent. */
function givenUp({ clock }: Services, { attempts }: CallbackSend): CallbackResult {
  const at = clock.now()
  const made = StoredAttempts.parse(JSON.parse(attempts))
  return { answered: false, state: 'failed', nextAt: at, error: null, attempts: made, at }
}
