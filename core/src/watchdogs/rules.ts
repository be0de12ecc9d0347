/**
 * The watchdog's state machine, as pure functions: they take a value and an instant, and return the next value and the
 * alert to raise. They read neither a clock nor a database.
 *
 * Matches are folded in lazily: a capture only notes its criteria's last match, and the next step of a watchdog calls
 * `noticeMatch`. Folding late gives the same value as folding at once, because only `evaluate` raises alarms.
 */

/** `waiting`: no match since it was armed. `watching`: the clock runs from a match. */
export type Phase = 'waiting' | 'watching' | 'alarmed'

/** The displayed states. `late`: a capture is overdue and no alarm was raised yet. */
export const WATCHDOG_STATES = ['waiting', 'onTime', 'late', 'alarmed', 'paused'] as const
export type WatchdogState = (typeof WATCHDOG_STATES)[number]

/**
 * The effect of a step on alerts: raise one, announce the recovery, or close the incident without an alert because a
 * user paused the watchdog.
 */
export type WatchdogEvent = 'alarmed' | 'recovered' | 'silenced'

/** The times after which a missing capture is late, and raises an alarm. */
export interface WatchdogSchedule {
  readonly expectedIntervalSeconds: number
  readonly graceSeconds: number
}

export interface Match {
  readonly requestId: number
  readonly receivedAt: Date
}

/** A period in which no gateway could take captures. Lists are in order of time and do not overlap. */
export interface Outage {
  readonly beganAt: Date
  readonly endedAt: Date
}

export interface WatchdogClock extends WatchdogSchedule {
  readonly active: boolean
  readonly pausedByPlan: boolean
  readonly phase: Phase
  readonly armedAt: Date
  /** Start of the current interval: the last match, else the arming. */
  readonly baselineAt: Date
  /** Matches up to this request id are already included. */
  readonly settledRequestId: number
  readonly lastMatchedAt: Date | null
  readonly lastMatchedRequestId: number | null
  readonly alarmedAt: Date | null
  readonly recoveredAt: Date | null
  readonly lastAlertedAt: Date | null
}

/** A next value, and the effect on alerts for the transaction that stores it. */
export interface Step {
  readonly clock: WatchdogClock
  readonly event: WatchdogEvent | null
}

/** Shortest downtime of our own that is credited. */
export const CREDITED_DOWNTIME_SECONDS = 60

/** The default grace: a fifth of the interval, at least a minute. */
export function defaultGraceSeconds(expectedIntervalSeconds: number): number {
  return Math.max(60, Math.ceil(expectedIntervalSeconds / 5))
}

/** Whether evaluation is off: by the switch, or by the plan's limit. */
function isPaused(clock: Pick<WatchdogClock, 'active' | 'pausedByPlan'>): boolean {
  return !clock.active || clock.pausedByPlan
}

/**
 * Milliseconds by which our own downtime moves the deadlines of a clock that runs from `baselineAt`. An outage counts
 * if it began before the alarm was due, earlier credit included, and only the part after the baseline counts.
 */
export function downtimeCreditMs(
  baselineAt: Date,
  schedule: WatchdogSchedule,
  outages: readonly Outage[],
): number {
  const start = baselineAt.getTime()
  const windowMs = (schedule.expectedIntervalSeconds + schedule.graceSeconds) * 1000
  let credit = 0
  for (const outage of outages) {
    if (outage.beganAt.getTime() >= start + windowMs + credit) break
    credit += Math.max(0, outage.endedAt.getTime() - Math.max(outage.beganAt.getTime(), start))
  }
  return credit
}

/**
 * The start of the interval of a watchdog that comes from another cell, with which its deadlines stay. Only the outages
 * of the cell that it was in have kept matches away.
 *
 * @param former outages of that cell
 * @param here past outages of this one
 */
export function arrivedBaseline(
  clock: WatchdogSchedule & Pick<WatchdogClock, 'baselineAt'>,
  former: readonly Outage[],
  here: readonly Outage[],
): Date {
  let start = clock.baselineAt.getTime() + downtimeCreditMs(clock.baselineAt, clock, former)
  for (const { beganAt, endedAt } of here.toReversed())
    if (endedAt.getTime() >= start) start -= endedAt.getTime() - beganAt.getTime()
  return new Date(start)
}

/** When the next match is due, and when its absence raises an alarm; null while paused. */
export function deadlines(
  clock: WatchdogClock,
  outages: readonly Outage[],
): { readonly dueAt: Date; readonly alarmAt: Date } | null {
  if (isPaused(clock)) return null
  const credit = downtimeCreditMs(clock.baselineAt, clock, outages)
  const dueAt = clock.baselineAt.getTime() + clock.expectedIntervalSeconds * 1000 + credit
  return { dueAt: new Date(dueAt), alarmAt: new Date(dueAt + clock.graceSeconds * 1000) }
}

/**
 * The displayed state. `alarmed` means that the alarm was raised: between `alarmAt` and the check that raises it, a
 * watchdog is still `late` (or `waiting`, which has no late phase).
 */
export function stateOf(clock: WatchdogClock, now: Date, outages: readonly Outage[]): WatchdogState {
  const times = deadlines(clock, outages)
  if (times === null) return 'paused'
  if (clock.phase !== 'watching') return clock.phase
  return now < times.dueAt ? 'onTime' : 'late'
}

/**
 * The clock of a new watchdog. It runs from the newest stored match, however old ("arms immediately, using the
 * endpoint's history"), else from now.
 */
export function arm(
  settings: WatchdogSchedule & { readonly active: boolean; readonly pausedByPlan: boolean },
  history: Match | null,
  now: Date,
): WatchdogClock {
  return {
    ...settings,
    ...startingFrom(isPaused(settings) ? null : history, now),
    ...settledBy(history),
    alarmedAt: null,
    recoveredAt: null,
    lastAlertedAt: null,
  }
}

/** Applies a match. A paused watchdog ignores it, also after it is resumed. */
export function noticeMatch(clock: WatchdogClock, match: Match | null): Step {
  if (match === null || match.requestId <= clock.settledRequestId) return { clock, event: null }
  if (isPaused(clock)) return { clock: { ...clock, settledRequestId: match.requestId }, event: null }
  const recovered = clock.phase === 'alarmed'
  return {
    clock: {
      ...clock,
      phase: 'watching',
      // Never backwards, because the clocks of gateways differ slightly.
      baselineAt: later(clock.baselineAt, match.receivedAt),
      ...settledBy(match),
      recoveredAt: recovered ? later(clock.alarmedAt, match.receivedAt) : clock.recoveredAt,
    },
    event: recovered ? 'recovered' : null,
  }
}

/** Raises the alarm if it is due; else changes nothing. */
export function evaluate(clock: WatchdogClock, now: Date, outages: readonly Outage[]): Step {
  const times = deadlines(clock, outages)
  if (times === null || clock.phase === 'alarmed' || now < times.alarmAt) return { clock, event: null }
  return {
    clock: { ...clock, phase: 'alarmed', alarmedAt: now, lastAlertedAt: now, recoveredAt: null },
    event: 'alarmed',
  }
}

/**
 * Pauses or resumes, by hand (`active`) or by plan. Resuming arms the watchdog from now and ignores the history.
 * Pausing an alarmed watchdog closes its incident without a recovery.
 */
export function setPaused(
  clock: WatchdogClock,
  change: { readonly active?: boolean; readonly pausedByPlan?: boolean },
  now: Date,
): Step {
  const next = { ...clock, ...change }
  if (isPaused(next) === isPaused(clock)) return { clock: next, event: null }
  if (!isPaused(next)) return { clock: { ...next, ...startingFrom(null, now) }, event: null }
  return {
    clock: { ...next, phase: 'waiting' },
    event: clock.phase === 'alarmed' ? 'silenced' : null,
  }
}

/**
 * Changes interval or grace. An alarmed watchdog that is no longer overdue recovers. If an edit makes a watchdog
 * overdue whose silence was already alarmed, it returns to `alarmed` without a second alarm.
 */
export function changeSchedule(
  clock: WatchdogClock,
  schedule: WatchdogSchedule,
  now: Date,
  outages: readonly Outage[],
): Step {
  const next: WatchdogClock = { ...clock, ...schedule }
  const times = deadlines(next, outages)
  if (times === null) return { clock: next, event: null }
  const overdue = now >= times.alarmAt
  if (next.phase === 'alarmed')
    return overdue
      ? { clock: next, event: null }
      : { clock: { ...next, phase: 'watching', recoveredAt: now }, event: 'recovered' }
  const before = deadlines(clock, outages)
  const madeOverdue = overdue && before !== null && now < before.alarmAt
  const alreadyAlarmed = next.alarmedAt !== null && next.alarmedAt > next.baselineAt
  if (madeOverdue && alreadyAlarmed)
    return { clock: { ...next, phase: 'alarmed', recoveredAt: null }, event: null }
  return { clock: next, event: null }
}

/**
 * Starts over with other criteria and their history, as on creation: without a match it gets a whole window. An alarmed
 * watchdog either recovers or stays alarmed without a second alarm.
 *
 * @param history the newest stored request that matches the new criteria
 */
export function changeMatch(
  clock: WatchdogClock,
  history: Match | null,
  now: Date,
  outages: readonly Outage[],
): Step {
  const known = settledBy(history)
  if (isPaused(clock)) return { clock: { ...clock, ...known }, event: null }
  const next: WatchdogClock = { ...clock, ...known, ...startingFrom(history, now) }
  if (clock.phase !== 'alarmed') return { clock: next, event: null }
  const times = deadlines(next, outages)
  if (times !== null && now >= times.alarmAt) return { clock: { ...next, phase: 'alarmed' }, event: null }
  return { clock: { ...next, recoveredAt: now }, event: 'recovered' }
}

function startingFrom(
  history: Match | null,
  now: Date,
): Pick<WatchdogClock, 'phase' | 'armedAt' | 'baselineAt'> {
  return history === null
    ? { phase: 'waiting', armedAt: now, baselineAt: now }
    : { phase: 'watching', armedAt: now, baselineAt: history.receivedAt }
}

function settledBy(match: Match | null) {
  return {
    settledRequestId: match?.requestId ?? 0,
    lastMatchedAt: match?.receivedAt ?? null,
    lastMatchedRequestId: match?.requestId ?? null,
  }
}

function later(a: Date | null, b: Date): Date {
  return a !== null && a > b ? a : b
}
