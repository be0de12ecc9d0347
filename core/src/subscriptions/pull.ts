import { Gauge, Histogram } from 'prom-client'
import { z } from 'zod'
import type { Services } from '../api/services.ts'
import { hopsOf, isLoop } from '../deliveries/index.ts'
import { queueLanes } from '../dispatch/index.ts'
import { EventArguments, filterOf, keptType, readTogether, type SharedReader } from '../events/index.ts'
import { PLAN_KEYS, planOf } from '../plans/index.ts'
import { columnsOf, Failures, type RowsOf, run, statement } from '../platform/db/index.ts'
import { counter, counterBy, registers } from '../platform/metrics/index.ts'
import { sealedAs } from '../platform/secrets/index.ts'
import { FAILURES, messageId } from './callback.ts'
import { CALLBACK_LANES, WAITING_MAX } from './declarations.ts'

/** Live event subscriptions. `state`: `active`, `failing` or `throttled`. Counted by the processes that send. */
export const eventSubscriptions = new Gauge({
  name: 'creel_event_subscriptions',
  help: 'Live subscriptions to events, by state',
  labelNames: ['state'] as const,
  // Each process counts all of them.
  aggregator: 'max',
  registers,
})
for (const state of ['active', 'failing', 'throttled'] as const) eventSubscriptions.set({ state }, 0)

/** Attempts to send events to callbacks. `outcome`: `sent`, `retried`, or `failed` where the event was given up. */
export const eventDeliveries = counterBy('outcome', ['sent', 'retried', 'failed'], {
  name: 'creel_event_deliveries_total',
  help: 'Attempts to send events to callbacks, by outcome',
})

const eventGaps = counter(
  'creel_event_gaps_total',
  'Times that a subscription skipped events, because they were removed or too many',
)

/** Checks of callbacks before their first event. */
export const callbackChecks = counterBy('result', ['passed', ...FAILURES], {
  name: 'creel_event_callback_checks_total',
  help: 'Checks of callbacks of event subscriptions, by result',
})

export const eventLag = new Histogram({
  name: 'creel_event_delivery_lag_seconds',
  help: 'Time from the capture of a request to the 2xx of the callback that was sent its event',
  buckets: [0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 900],
  registers,
})

/** Length of the window of `eventsPerMinuteMax`, in milliseconds. */
const WINDOW_MS = 60_000

/**
 * Subscriptions at `$1` whose endpoint has requests that they did not look at, unless they are throttled, or rest while
 * their plan has none (`$2`: the plans with some).
 */
const NEWS = statement(
  'subscriptions with news',
  `with newest as (
    select e.endpoint_id, (select max(r.id) from requests r where r.endpoint_id = e.endpoint_id) as id
    from (select distinct endpoint_id from event_subscriptions) e
  )
  select s.id, s.endpoint_id, s.workspace_id, w.plan, s.name, s.arguments, o.fields, s.declares_extension, s.read_position,
    s.window_started_at, s.window_count, d.waiting
  from event_subscriptions s
  join newest n on n.endpoint_id = s.endpoint_id and n.id > s.read_position
  join workspaces w on w.id = s.workspace_id
  left join event_sources o on o.endpoint_id = s.endpoint_id
  cross join lateral (
    select count(*)::int as waiting from event_deliveries d where d.subscription_id = s.id and d.state = 'waiting'
  ) d
  where s.expires_at > $1::timestamptz and w.plan = any ($2::text[]) and (s.throttled_until is null or s.throttled_until <= $1::timestamptz)`,
)

type NewsRow = RowsOf<typeof NEWS>

/**
 * Stores what a read found: `$1` to `$7` the subscriptions with their old and new positions, `$8` to `$12`, `$14` and
 * `$15` their messages. A subscription that another process moved meanwhile is left as it is, without messages.
 */
const STORE = statement(
  'store events of subscriptions',
  `with locked as materialized (
    select id from event_subscriptions where id = any($1::uuid[]) order by id for no key update
  ), moved as (
    update event_subscriptions s set read_position = m.next, is_truncated = s.is_truncated or m.truncated,
      window_started_at = m.started_at, window_count = m.count, throttled_until = m.throttled_until
    from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::boolean[], $5::timestamptz[], $6::int[], $7::timestamptz[])
      as m (id, position, next, truncated, started_at, count, throttled_until)
    join locked on locked.id = m.id
    where s.id = m.id and s.read_position = m.position
    returning s.id
  )
  insert into event_deliveries (subscription_id, request_id, message_id, hops, body, next_at, sealed_with, sealed)
  select d.id, d.request_id, d.message_id, d.hops, d.body, $13::timestamptz, d.sealed_with, d.sealed
  from unnest($8::uuid[], $9::bigint[], $10::text[], $11::int[], $12::text[], $14::uuid[], $15::bytea[]) with ordinality
    as d (id, request_id, message_id, hops, body, sealed_with, sealed, place)
  join moved on moved.id = d.id
  order by d.place
  on conflict do nothing`,
)

interface Reader extends SharedReader {
  readonly row: NewsRow
  /** Events that may follow in the window, and when the window began. */
  readonly perMinute: number
  readonly startedAt: Date
  readonly count: number
}

/** Parsed filters by id: a subscription never changes its arguments. */
const filters = new Map<string, { readonly text: string; readonly filter: ReturnType<typeof filterOf> }>()
const FILTERS_MAX = 2000

/**
 * Looks at the new requests of each endpoint once for all of its subscriptions, and stores the events to send. Safe in
 * several processes at once: the first that stores wins.
 *
 * @returns whether some subscription is or was behind, so that another look may find more
 */
export async function pullEvents(services: Services): Promise<boolean> {
  const { db, clock, log } = services
  const plans = PLAN_KEYS.filter((key) => services.plans[key].limits.eventSubscriptionsMax > 0)
  const rows = await run(db, NEWS, [clock.now(), plans])
  const failures = new Failures()
  for (const [endpointId, ofEndpoint] of Map.groupBy(rows, (row) => row.endpointId)) {
    const readers = ofEndpoint.flatMap((row) => {
      if (row.waiting >= WAITING_MAX) return []
      try {
        return [readerOf(services, row)]
      } catch (err) {
        log.error({ err, subscription: row.id }, 'a subscription cannot be read')
        return []
      }
    })
    // One endpoint that cannot be read must not stop the events of those behind it.
    await failures.unless(() => pullEndpoint(services, endpointId, readers))
  }
  failures.throwAny()
  return rows.length > 0
}

const Stored = EventArguments.nullish()

function readerOf({ clock, plans }: Services, row: NewsRow): Reader {
  const type = keptType(row.name, row.endpointId, row.fields)
  const known = filters.get(row.id)
  const filter =
    known?.text === row.arguments ? known.filter : filterOf(type, z.parse(Stored, JSON.parse(row.arguments)))
  if (filters.size >= FILTERS_MAX) filters.clear()
  filters.set(row.id, { text: row.arguments, filter })
  const now = clock.now()
  const isOver = row.windowStartedAt === null || row.windowStartedAt.getTime() + WINDOW_MS <= now.getTime()
  const count = isOver ? 0 : row.windowCount
  const perMinute = planOf(plans, row.plan).limits.eventsPerMinuteMax
  return {
    row,
    name: row.name,
    filter,
    fields: filter.fields ?? type.source.fields,
    afterId: row.readPosition,
    perMinute,
    startedAt: isOver || row.windowStartedAt === null ? now : row.windowStartedAt,
    count,
    // At least 1: a limit that was lowered meanwhile must not stop the reader where it is.
    room: Math.max(1, Math.min(WAITING_MAX - row.waiting, perMinute - count)),
  }
}

async function pullEndpoint(
  services: Services,
  endpointId: string,
  readers: readonly Reader[],
): Promise<void> {
  const { db, clock, secrets } = services
  if (readers.length === 0) return
  const { results } = await readTogether(db, endpointId, {
    readers,
    // A message of ours that was captured again must not become a message.
    accepts: (headers) => !isLoop(headers, secrets),
  })
  const moved = results.filter(({ reader, lastId }) => lastId > reader.afterId)
  const messages = moved.flatMap(({ reader, events, lastId, isTruncated }) => {
    const { id, declaresExtension } = reader.row
    const told = events.map(({ occurrence: { cursor: _own, ...event }, headers, sealing }) => {
      const body = JSON.stringify(event)
      return {
        id,
        requestId: event.data.requestId,
        messageId: event.eventId,
        hops: hopsOf(headers),
        body: sealing === null ? body : null,
        ...sealedAs(secrets, sealing, { body }),
      }
    })
    if (isTruncated) eventGaps.inc()
    if (!isTruncated || !declaresExtension) return told
    const cursor = String((events[0]?.occurrence.data.requestId ?? lastId + 1) - 1)
    const body = JSON.stringify({ type: 'gap', cursor })
    return [
      { id, requestId: null, messageId: messageId('gap'), hops: 0, body, ...sealedAs(secrets, null, {}) },
      ...told,
    ]
  })
  const counts = moved.map(({ reader, events }) => reader.count + events.length)
  const throttled = moved.map(({ reader: { perMinute, startedAt } }, at) =>
    (counts[at] ?? 0) >= perMinute ? new Date(startedAt.getTime() + WINDOW_MS) : null,
  )
  const now = clock.now()
  const values = [
    moved.map(({ reader }) => reader.row.id),
    moved.map(({ reader }) => reader.afterId),
    moved.map(({ lastId }) => lastId),
    moved.map(({ isTruncated }) => isTruncated),
    moved.map(({ reader }) => reader.startedAt),
    counts,
    throttled,
    ...columnsOf(messages, 'id', 'requestId', 'messageId', 'hops', 'body'),
    now,
    ...columnsOf(messages, 'sealedWith', 'sealed'),
  ]
  const told = new Set(messages.map(({ id }) => id))
  const lanes = moved.flatMap(({ reader: { row } }) => (told.has(row.id) ? [{ ...row, dueAt: now }] : []))
  await db.transaction().execute(async (trx) => {
    await run(trx, STORE, values)
    await queueLanes(services, trx, CALLBACK_LANES, lanes)
  })
}
