/** Window of the budgets of keys and sessions. It is fixed, and starts with its first call. */
const WINDOW_SECONDS = 60

/** How far ahead of a statement's time a window may begin: another statement, which came later, has begun it meanwhile. */
const BEGUN_AHEAD_SECONDS = 5

/**
 * SQL for whether a window runs. One that begins later than that has ended: the clock of the database was set back.
 *
 * @param startedAt when it began, or null
 */
export const windowRuns = (startedAt: string, at: string, length: string): string =>
  `coalesce(${startedAt} > ${at} - ${length} and ${startedAt} < ${at} + interval '${BEGUN_AHEAD_SECONDS} s', false)`

/** SQL for the rows `clock`: the time of the call by the database's clock, and the length of a window. */
export const budgetClock = (aheadMs: string): string => `clock as (
    select now() + ${aheadMs}::float8 * interval '1 ms' as at, interval '${WINDOW_SECONDS} s' as length
  )`

/**
 * SQL that takes calls from a window, after `insert into … as win (<owner>, started_at, call_count)`. It needs `clock`
 * and the row `caller` with `id` and `is_here`. Returns the window, or no row if nothing was taken.
 *
 * @param of `owner`: the key of the table; `cost` and `budget`: SQL expressions over `caller`
 */
export function takeFromWindow({
  owner,
  cost,
  budget,
}: {
  readonly owner: string
  readonly cost: string
  readonly budget: string
}): string {
  const hasEnded = `not ${windowRuns('win.started_at', '(select at from clock)', '(select length from clock)')}`
  return `select id, at, ${cost} from caller, clock where ${cost} <= ${budget} and is_here
    on conflict (${owner}) do update set
      started_at = case when ${hasEnded} then excluded.started_at else win.started_at end,
      call_count = case when ${hasEnded} then ${cost} else win.call_count + ${cost} end
    where ${hasEnded} or win.call_count + ${cost} <= (select ${budget} from caller)
    returning started_at, call_count`
}

/** SQL for the seconds until the window ends. `t` is what was taken, or null; `win` the window before the call. */
export const SECONDS_LEFT =
  'extract(epoch from coalesce(t.started_at, win.started_at, at) + length - at)::float8 as seconds_left'
