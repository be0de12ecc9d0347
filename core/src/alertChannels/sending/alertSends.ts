import { findAlert } from '../../alerts/index.ts'
import type { Services } from '../../api/services.ts'
import type { Adapter, Look } from '../../dispatch/index.ts'
import { isSealed } from '../../keys/index.ts'
import { run, statement } from '../../platform/db/index.ts'
import { availabilityOf } from './availability.ts'
import { sendToChannel } from './channelSend.ts'
import { ALERT_LANES } from './jobs.ts'
import { mailAlert } from './mailAlert.ts'
import { type AlertDeliveryRow, claimSends, LOST_ATTEMPTS_MAX, releaseSends } from './queries.ts'
import { type ChannelResult, type OnNotified, recordSend, type SendResult } from './record.ts'

/** Sends of one lane at once. Notify actions may have fewer of them, so that alarms need not wait for them. */
const SENDS_AT_ONCE = 8
const NOTIFIES_AT_ONCE = 6
/** Interval of looks at a lane that waits for something else than a send of its own. */
const BEHIND_MS = 2_000

/**
 * Sends of the lane `$1` that may start at `$2`, at most `$3`: alarms first, then notify actions. A closing alert waits
 * until its opening one has ended for the same recipient, or a pager would keep ringing. Served by
 * `alert_deliveries_lane` and `alert_deliveries_leased`.
 */
const PICK = statement(
  'pick alerts to send',
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
  )
  select d.id from due
  join alert_deliveries d on d.id = due.id
  join workspaces s on s.id = d.workspace_id and not ${isSealed('s')}
  cross join busy
  where due.place <= $3::int
    and due.place + busy.count <= case when due.priority = 0 then ${SENDS_AT_ONCE} else ${NOTIFIES_AT_ONCE} end
    and d.next_attempt_at is not null and (d.leased_until is null or d.leased_until <= $2::timestamptz)
  for update of d skip locked`,
)

/** When the next send of each of the lanes `$1` is due that no process makes at `$2`. */
const LEFT = statement(
  'alerts left to send',
  `select d.lane_id as id, d.workspace_id, d.next_attempt_at as due_at
  from unnest($1::uuid[]) as l (id)
  cross join lateral (
    select n.* from (values (0), (1)) as p (priority)
    cross join lateral (
      select w.lane_id, w.workspace_id, w.next_attempt_at from alert_deliveries w
      where w.lane_id = l.id and w.priority = p.priority and w.next_attempt_at is not null
        and (w.leased_until is null or w.leased_until <= $2::timestamptz)
      order by w.next_attempt_at limit 1
    ) n
    order by n.next_attempt_at limit 1
  ) d`,
)

/** When the first lease of the lane `$1` ends after `$2`. */
const LEASED = statement(
  'leased alerts',
  `select min(d.leased_until) as until from alert_deliveries d
  where d.lane_id = $1::uuid and d.leased_until is not null and d.leased_until > $2::timestamptz`,
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

interface AlertSend extends AlertDeliveryRow {
  readonly bytes: number
  readonly leaseUntil: Date
}

type AlertResult = { readonly answered: boolean | null } & (
  | { readonly isReleased: true }
  | { readonly isReleased: false; readonly result: SendResult }
)

/**
 * Sends of alerts, by channel, and by workspace for mails.
 *
 * @param onNotified called in the recording transaction when the send is a notify action's
 */
export function alertSends(onNotified: OnNotified): Adapter<AlertSend, AlertResult> {
  return {
    kind: 'alert',
    queue: ALERT_LANES,

    async look({ clock }, trx, { id }, { slots }): Promise<Look<AlertSend>> {
      const now = clock.now()
      const picked = await run(trx, PICK, [id, now, slots])
      const rows = await claimSends(
        trx,
        picked.map((row) => row.id),
        now,
      )
      const sends = rows.map((row) => ({ ...row, bytes: 0, leaseUntil: row.leasedUntil ?? now }))
      if (sends.length === slots) return { sends, nextInMs: 0 }
      const [left] = await run(trx, LEFT, [[id], now])
      const [leased] = await run(trx, LEASED, [id, now])
      const times = [left?.dueAt, leased?.until].flatMap((at) => (at instanceof Date ? [at.getTime()] : []))
      if (times.length === 0) return { sends, nextInMs: null }
      return { sends, nextInMs: Math.max(BEHIND_MS, Math.min(...times) - now.getTime()) }
    },

    async send(services, row, signal) {
      const result = await makeAttempt(services, row, signal)
      return { ...result, answered: answerOf(result) }
    },

    async record(services, trx, ended) {
      const released = ended.flatMap(({ send, outcome }) => (outcome.isReleased ? [send] : []))
      await releaseSends(trx, released)
      for (const { send, outcome } of ended.toSorted((a, b) => (a.lane.id < b.lane.id ? -1 : 1))) {
        if (!outcome.isReleased) await recordSend(services, trx, send, outcome.result, onNotified)
      }
      const lanes = [...new Set(ended.map(({ lane }) => lane.id))]
      return (await run(trx, LEFT, [lanes, services.clock.now()])).flatMap(({ id, workspaceId, dueAt }) =>
        dueAt === null ? [] : [{ id, workspaceId, dueAt }],
      )
    },

    find: async (db, which) =>
      await run(db, FIND, 'dueBefore' in which ? [which.dueBefore, null] : [null, which.workspaceId]),
  }
}

type Attempted = { readonly isReleased: true } | { readonly isReleased: false; readonly result: SendResult }

function answerOf(attempted: Attempted): boolean | null {
  if (attempted.isReleased) return null
  const { result } = attempted
  if (result.kind === 'mail') return result.mail.outcome === 'delivered' || result.mail.statusCode !== null
  return result.attempt.send === null ? null : result.attempt.send.statusCode !== null
}

/** Makes a claimed attempt. It is released if the process stops before the send. */
export async function makeAttempt(
  services: Services,
  row: AlertDeliveryRow,
  signal: AbortSignal,
): Promise<Attempted> {
  const found = await findAlert(services.db, row.alertId)
  if (found === undefined) return { isReleased: true }
  const ofChannel = (attempt: ChannelResult['attempt']): Attempted => ({
    isReleased: false,
    result: { kind: 'channel', ...found, attempt },
  })
  if (row.attemptCount > row.attemptsMax + LOST_ATTEMPTS_MAX) {
    const unavailable = { outcome: 'failed', detail: 'Given up: no attempt completed.' } as const
    return ofChannel({ unavailable, send: null, channel: null })
  }
  if (row.recipient !== null) {
    const mail = await mailAlert(services, { ...row, recipient: row.recipient }, found.alert)
    return { isReleased: false, result: { kind: 'mail', mail } }
  }
  const { channel, unavailable } = await availabilityOf(services, row.workspaceId, row.channelId ?? '')
  if (channel === null || unavailable !== null) return ofChannel({ unavailable, send: null, channel })
  const send = await sendToChannel(services, channel, found.alert, signal)
  if (send.error === 'aborted') return { isReleased: true }
  return ofChannel({ unavailable: null, send, channel })
}
