import { isSealed } from '../../api/seal.ts'
import { type Adapter, type Look, type Send, waitingOf } from '../../dispatch/index.ts'
import { type RowsOf, run, statement } from '../../platform/db/index.ts'
import { ALERT_LANES } from '../declarations.ts'
import { type AlertResult, makeAttempt } from './attempt.ts'
import { leaseFrom } from './queries.ts'
import { type OnNotified, recordSends } from './record.ts'

/** Sends of one lane at once. Notify actions may have fewer of them, so that alarms need not wait for them. */
const SENDS_AT_ONCE = 8
const NOTIFIES_AT_ONCE = 6
/** Interval of looks at a lane that waits for something else than a send of its own. */
const BEHIND_MS = 2_000
/** Delay before another look while another process looks at the lane. */
const BUSY_MS = 50

/** One process looks at a lane at a time: each counts the sends that the others have claimed. */
const LOCK = statement(
  'lock lane of alerts',
  'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as is_ours',
  { notNull: ['isOurs'] },
)

/**
 * Claims sends of the lane `$1` that may start at `$2` until `$4`, at most `$3`: alarms first, then notify actions. A
 * closing alert waits until its opening one has ended for the same recipient, or a pager would keep ringing. Served by
 * `alert_deliveries_lane` and `alert_deliveries_leased`.
 */
const CLAIM = statement(
  'claim alerts to send',
  `with busy as (
    select count(*) as count from alert_deliveries d
    where d.lane_id = $1::uuid and d.leased_until is not null and d.leased_until > $2::timestamptz
  ), due as (
    select d.id, d.priority, row_number() over (order by d.priority, d.next_attempt_at, d.id) as place
    from (
      select w.* from alert_deliveries w
      where w.lane_id = $1::uuid and w.next_attempt_at <= $2::timestamptz
        and (w.leased_until is null or w.leased_until <= $2::timestamptz)
        and not exists (
          select from alerts a
          join alerts b on b.incident_id = a.incident_id and b.status = 'open'
          join alert_deliveries o on o.alert_id = b.id
          where a.id = w.alert_id and a.status = 'closed' and o.lane_id = w.lane_id
            and o.next_attempt_at is not null and o.recipient is not distinct from w.recipient
        )
      order by w.priority, w.next_attempt_at limit ${SENDS_AT_ONCE}
    ) d
  ), picked as (
    select d.id from due
    join alert_deliveries d on d.id = due.id
    join workspaces s on s.id = d.workspace_id and not ${isSealed('s')}
    cross join busy
    where due.place <= $3::int
      and due.place + busy.count <= case when due.priority = 0 then ${SENDS_AT_ONCE} else ${NOTIFIES_AT_ONCE} end
      and d.next_attempt_at is not null and (d.leased_until is null or d.leased_until <= $2::timestamptz)
    for update of d skip locked
  )
  update alert_deliveries d set leased_until = $4::timestamptz, attempt_count = d.attempt_count + 1
  from picked p where d.id = p.id
  returning d.id, d.alert_id, d.workspace_id, d.at, d.channel_id, d.channel_name, d.channel_kind, d.recipient, d.outcome,
    d.detail, d.status_code, d.duration_ms, d.email_fallback, d.attempt_count, d.attempts_max, d.next_attempt_at,
    d.lane_id, d.priority, d.leased_until`,
)

/** When the next send of each of the lanes `$1` is due that no process makes at `$2`, or the first lease ends. */
const NEXT = statement(
  'next alerts to send',
  `select l.id, least(
    (select min(d.leased_until) from alert_deliveries d
    where d.lane_id = l.id and d.leased_until is not null and d.leased_until > $2::timestamptz),
    (select min(n.at) from (values (0), (1)) as p (priority)
    cross join lateral (
      select w.next_attempt_at as at from alert_deliveries w
      where w.lane_id = l.id and w.priority = p.priority and w.next_attempt_at is not null
        and (w.leased_until is null or w.leased_until <= $2::timestamptz)
      order by w.next_attempt_at limit 1
    ) n)) as at
  from unnest($1::uuid[]) as l (id)`,
)

const WAITING = statement(
  'alerts waiting',
  waitingOf(`select next_attempt_at as due_at from alert_deliveries
    where next_attempt_at <= $1::timestamptz and (leased_until is null or leased_until <= $1::timestamptz)`),
)

/** Lanes with sends that were due before `$1`, or, if that is null, that the workspace `$2` has. */
const FIND = statement(
  'lanes of alerts to send',
  `select distinct d.lane_id as id, d.workspace_id from alert_deliveries d
  where d.next_attempt_at is not null
    and case when $2::uuid is null then greatest(d.next_attempt_at, d.leased_until) < $1::timestamptz
      else d.workspace_id = $2::uuid end
  limit 1000`,
)

type AlertSend = RowsOf<typeof CLAIM> & Send

/**
 * Sends of alerts, by channel, and by workspace for mails.
 *
 * @param onNotified called in the recording transaction for the sends of notify actions
 */
export function alertSends(onNotified: OnNotified): Adapter<AlertSend, AlertResult> {
  return {
    kind: 'alert',
    queue: ALERT_LANES,
    idsOf: ({ id, alertId }) => ({ alertId, alertDeliveryId: id }),

    async look({ clock }, trx, { id }, { slots }): Promise<Look<AlertSend>> {
      const now = clock.now()
      const [lock] = await run(trx, LOCK, [id])
      if (lock?.isOurs !== true) return { sends: [], nextInMs: BUSY_MS }
      const leaseUntil = leaseFrom(now)
      const rows = await run(trx, CLAIM, [id, now, slots, leaseUntil])
      const sends = rows.map((row) => ({ ...row, bytes: 0, leaseUntil }))
      if (sends.length === slots) return { sends, nextInMs: 0 }
      const [next] = await run(trx, NEXT, [[id], now])
      const nextInMs = next?.at instanceof Date ? next.at.getTime() - now.getTime() : null
      return { sends, nextInMs: nextInMs === null ? null : Math.max(BEHIND_MS, nextInMs) }
    },

    send: makeAttempt,

    async record(services, trx, ended) {
      await recordSends(services, trx, ended, onNotified)
      const lanes = new Map(ended.map(({ lane }) => [lane.id, lane]))
      const next = await run(trx, NEXT, [[...lanes.keys()], services.clock.now()])
      return next.flatMap(({ id, at: dueAt }) => {
        const lane = lanes.get(id ?? '')
        return lane === undefined || dueAt === null ? [] : [{ ...lane, dueAt }]
      })
    },

    waiting: async (db, now) => (await run(db, WAITING, [now]))[0],
    find: async (db, which) =>
      await run(db, FIND, 'dueBefore' in which ? [which.dueBefore, null] : [null, which.workspaceId]),
  }
}
