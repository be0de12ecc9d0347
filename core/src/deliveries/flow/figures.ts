import { type Db, run, statement } from '../../platform/db/index.ts'
import { BACKLOG_COUNTED_MAX } from './backlog.ts'

export const FLOW_STATES = ['waiting', 'sending', 'behind', 'held'] as const

export interface FlowFigures {
  readonly pausedActions: number
  readonly breakersOpen: number
  /** By state, each up to {@link BACKLOG_COUNTED_MAX}. */
  readonly deliveries: Readonly<Record<(typeof FLOW_STATES)[number], number>>
}

/** The rows of each state, for which there is a small index. */
const ROWS: Readonly<Record<(typeof FLOW_STATES)[number], string>> = {
  waiting: "deliveries where flow_state = 'waiting'",
  sending: "delivery_attempts where state = 'Pending' and delivery_id is not null and kind = 'forward'",
  behind: "deliveries where flow_state = 'behind' and behind_id is not null",
  held: "deliveries where flow_state = 'held' and order_key is not null",
}

const READ_FIGURES = statement(
  'read flow figures',
  `select
    (select count(*)::int from actions where governed and paused_at is not null) as paused_actions,
    (select count(*)::int from action_flows where breaker <> 'closed') as breakers_open,
    ${FLOW_STATES.map(
      (state) => `(select count(*)::int from (
        select from ${ROWS[state]} limit ${BACKLOG_COUNTED_MAX}) counted) as ${state}`,
    ).join(', ')}`,
)

/** Counts paused actions, open breakers and deliveries by state, for metrics. */
export async function readFlowFigures(db: Db): Promise<FlowFigures> {
  const [row] = await run(db, READ_FIGURES, [])
  if (row === undefined) throw new Error('An aggregate returned no row.')
  const { pausedActions, breakersOpen, ...deliveries } = row
  return { pausedActions, breakersOpen, deliveries }
}
