import { z } from 'zod'
import { isEventKind, wordsOf } from '../alerts/index.ts'
import type { Context } from '../api/context.ts'
import { withExample } from '../api/examples.ts'
import { Timestamp } from '../api/values.ts'
import { type RowsOf, run, statement } from '../platform/db/index.ts'
import { NEARLY_FULL, readStorageOf } from '../retention/index.ts'

/** Actions whose waiting deliveries are counted, and the busiest of them that an answer has. */
const ACTIONS_MAX = { counted: 1_000, shown: 100 } as const
/** Rows of one action, channel or subscription that are counted. */
const WAITING_MAX = 1_000
/** Time after which work that is due is late, as in the alert rules for Prometheus. */
const LATE_MS = 120_000
const INCIDENTS_MAX = 100

const WAITING = statement(
  'waiting deliveries of workspace',
  `select a.id as action_id, a.name as action_name, a.endpoint_id, e.name as endpoint_name, a.paused_at,
    w.waiting_count, w.oldest_at, w.next_attempt_at, w.due_at
  from (
    select id, name, endpoint_id, paused_at, governed from actions where workspace_id = $1::uuid
    order by id limit ${ACTIONS_MAX.counted}
  ) a
  join endpoints e on e.id = a.endpoint_id and e.deleted_at is null
  cross join lateral (
    select count(*)::int as waiting_count, min(d.created_at) as oldest_at, min(d.next_attempt_at) as next_attempt_at,
      -- Those of a governed action also wait for its order, pace or breaker.
      min(d.next_attempt_at) filter (where d.flow_state = 'waiting' and not a.governed) as due_at
    from (
      select created_at, next_attempt_at, flow_state from deliveries
      where action_id = a.id and flow_state is not null and finished_at is null limit ${WAITING_MAX}
    ) d
  ) w
  where w.waiting_count > 0
  order by w.waiting_count desc, a.id`,
)

const OTHERS = statement(
  'waiting alerts and events of workspace',
  `select 'alerts' as queue, count(*)::int as waiting_count, min(w.at) as oldest_at, min(w.next_attempt_at) as due_at
  from (select id from alert_channels where workspace_id = $1::uuid union all select $1::uuid) lane
  cross join lateral (
    select at, next_attempt_at from alert_deliveries
    where lane_id = lane.id and next_attempt_at is not null order by priority, next_attempt_at limit ${WAITING_MAX}
  ) w
  union all
  select 'events', count(*)::int, null, min(w.next_at)
  from event_subscriptions s cross join lateral (
    select next_at from event_deliveries where subscription_id = s.id and state = 'waiting' order by id limit ${WAITING_MAX}
  ) w
  where s.workspace_id = $1::uuid`,
)

const TROUBLES = statement(
  'troubles of workspace',
  `select * from (
    select kind, subject_type, subject_id, subject_name, endpoint_id, count, reason, opened_at as since
    from incidents where workspace_id = $1::uuid and closed_at is null order by opened_at desc limit ${INCIDENTS_MAX}
  ) i
  union all
  select 'channel.failing', 'channel', id, name, null, consecutive_failures, last_error, last_failure_at
  from alert_channels where workspace_id = $1::uuid and enabled and health = 'failing'`,
)

/** Sections of docs/runbook.md, by the codes of problems. */
export const RUNBOOK: Readonly<Record<string, string>> = {
  'action.paused': 'creelactionspaused',
  'breaker.opened': 'creelbreakersopen',
  'capture.rejected': 'creelcapturesrejected',
  'channel.failing': 'creelalertsfail',
  'delivery.backlog': 'creeldeliverybacklog',
  'delivery.failing': 'creeldeliveriesfail',
  'delivery.held': 'creeldeadletters',
  'delivery.parked': 'creeldeadletters',
  'queue.late': 'creelqueuelags',
  'storage.nearly_full': 'creelstoragenearlyfull',
}

const Problem = z.object({
  code: z
    .string()
    .describe('The kind of an open incident, or `channel.failing`, `queue.late`, `storage.nearly_full`'),
  title: z.string(),
  detail: z.string(),
  since: Timestamp.nullable(),
  endpointId: z.uuid().nullable(),
  actionId: z.uuid().nullable(),
  runbook: z.string().nullable().describe('The section of docs/runbook.md about it'),
})

/** Problems of a workspace, and its queues. */
export const Health = withExample(
  'Health',
  z.object({
    version: z.string().describe('Version of the process that answered'),
    problems: z.array(Problem).describe('Empty: nothing is wrong'),
    queues: z.array(
      z.object({
        queue: z.enum(['deliveries', 'alerts', 'events']),
        waitingCount: z
          .int()
          .describe(
            `At most ${WAITING_MAX} of each action, alert channel and subscription of agents are counted`,
          ),
        oldestAt: Timestamp.nullable().describe('Since when the oldest waits; null for `events`'),
        lateSeconds: z
          .int()
          .describe(
            'For how long the first has been due; paused actions, and those with an order, a pace or a breaker, aside',
          ),
      }),
    ),
    actions: z
      .array(
        z.object({
          actionId: z.uuid(),
          actionName: z.string(),
          endpointId: z.uuid(),
          endpointName: z.string(),
          isPaused: z.boolean(),
          waitingCount: z.int(),
          oldestAt: Timestamp.nullable(),
          nextAttemptAt: Timestamp.nullable(),
        }),
      )
      .describe(`Actions with deliveries that wait, the busiest ${ACTIONS_MAX.shown}`),
    storage: z.object({
      bytes: z.int(),
      bytesMax: z.int().describe("The plan's `storedBytesMax`"),
    }),
  }),
)

type Health = z.input<typeof Health>
type Problem = z.input<typeof Problem>
type Trouble = RowsOf<typeof TROUBLES>

/** Reads the health of a workspace. Its cost grows with the number of actions and originals, not with captures. */
export async function readHealth({ db, clock, plan, version, workspace }: Context): Promise<Health> {
  const of = [workspace.id]
  const [actions, others, troubles, bytes] = await Promise.all([
    run(db, WAITING, of),
    run(db, OTHERS, of),
    run(db, TROUBLES, of),
    readStorageOf(db, workspace.id),
  ])
  const now = clock.now().getTime()
  const active = actions.filter(({ pausedAt }) => pausedAt === null)
  const queues = [
    {
      queue: 'deliveries' as const,
      waitingCount: actions.reduce((sum, { waitingCount }) => sum + waitingCount, 0),
      oldestAt: earliest(actions.map(({ oldestAt }) => oldestAt)),
      dueAt: earliest(active.map(({ dueAt }) => dueAt)),
    },
    ...others.map(({ queue, ...row }) => ({
      queue: queue === 'alerts' ? ('alerts' as const) : ('events' as const),
      ...row,
    })),
  ].map(({ dueAt, ...queue }) => ({
    ...queue,
    dueAt,
    lateSeconds: dueAt === null ? 0 : Math.max(0, Math.floor((now - dueAt.getTime()) / 1000)),
  }))
  const storage = { bytes, bytesMax: plan.limits.storedBytesMax }
  const known = new Set(troubles.map(({ kind, subjectId }) => `${kind} ${subjectId}`))
  return {
    version,
    problems: [
      ...(bytes < NEARLY_FULL * storage.bytesMax ? [] : [nearlyFull(storage)]),
      ...queues.filter(({ lateSeconds }) => lateSeconds * 1000 > LATE_MS).map(late),
      ...troubles.map(trouble),
      ...actions
        .filter((row) => row.pausedAt !== null && !known.has(`action.paused ${row.actionId}`))
        .map(paused),
    ],
    queues: queues.map(({ dueAt: _, ...queue }) => queue),
    actions: actions
      .slice(0, ACTIONS_MAX.shown)
      .map(({ pausedAt, dueAt: _, ...row }) => ({ ...row, isPaused: pausedAt !== null })),
    storage,
  }
}

const earliest = (times: readonly (Date | null)[]): Date | null =>
  times.reduce((first, at) => (at === null || (first !== null && first <= at) ? first : at), null)

function problem(code: string, title: string, detail: string, about: Partial<Problem> = {}): Problem {
  const section = RUNBOOK[code]
  const runbook = section === undefined ? null : `docs/runbook.md#${section}`
  return { code, title, detail, since: null, endpointId: null, actionId: null, runbook, ...about }
}

function nearlyFull({ bytes, bytesMax }: Health['storage']): Problem {
  const share = Math.round((100 * bytes) / bytesMax)
  const detail = 'When the limit of the plan is reached, the oldest captures are evicted.'
  return problem('storage.nearly_full', `Captures take ${share} % of their storage`, detail)
}

function late({ queue, dueAt }: { readonly queue: string; readonly dueAt: Date | null }): Problem {
  const detail = 'They are due, and nothing has taken them: jobs do not run, or slow receivers hold them up.'
  return problem('queue.late', `The ${queue} are late`, detail, { since: dueAt })
}

function trouble({
  kind,
  subjectType,
  subjectId,
  subjectName,
  endpointId,
  count,
  reason,
  since,
}: Trouble): Problem {
  const about = { since, endpointId, actionId: subjectType === 'action' ? subjectId : null }
  if (!isEventKind(kind)) return problem(kind, `Alerts to ${subjectName} fail`, reason ?? '', about)
  const { title, message } = wordsOf({ kind, subjectName, count, reason })
  return problem(kind, title, message, about)
}

function paused({ actionId, actionName, endpointId, pausedAt }: RowsOf<typeof WAITING>): Problem {
  const detail = 'Its deliveries wait until it is resumed.'
  return problem('action.paused', `Action ${actionName} is paused`, detail, {
    since: pausedAt,
    endpointId,
    actionId,
  })
}
