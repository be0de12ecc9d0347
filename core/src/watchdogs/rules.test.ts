import { describe, expect, test } from 'bun:test'
import {
  arm,
  arrivedBaseline,
  changeMatch,
  changeSchedule,
  deadlines,
  defaultGraceSeconds,
  downtimeCreditMs,
  evaluate,
  type Match,
  noticeMatch,
  setPaused,
  stateOf,
  type WatchdogClock,
} from './rules.ts'

const START = Date.parse('2026-11-21T09:00:00.000Z')
const at = (seconds: number) => new Date(START + seconds * 1000)
const match = (requestId: number, seconds: number): Match => ({ requestId, receivedAt: at(seconds) })

const settings = { active: true, pausedByPlan: false, expectedIntervalSeconds: 600, graceSeconds: 120 }
const armed = (history: Match | null = null) => arm(settings, history, at(0))
const alarmed = () => evaluate(noticeMatch(armed(), match(1, 0)).clock, at(720), []).clock
const state = (clock: WatchdogClock, seconds: number) => stateOf(clock, at(seconds), [])

describe('creation', () => {
  test('without a match in history it waits, and its clock runs from the arming', () => {
    const clock = armed()
    expect(state(clock, 0)).toBe('waiting')
    expect(deadlines(clock, [])).toEqual({ dueAt: at(600), alarmAt: at(720) })
  })

  test.each([
    [-60, 'onTime'],
    [-600, 'late'],
    [-719, 'late'],
  ] as const)('a newest match %i s ago makes it %s', (seconds, expected) => {
    const clock = armed(match(7, seconds))
    expect(state(clock, 0)).toBe(expected)
    expect(clock).toMatchObject({ lastMatchedRequestId: 7, lastMatchedAt: at(seconds), armedAt: at(0) })
  })

  test('a history older than the window alarms at the first check', () => {
    expect(evaluate(armed(match(7, -7200)), at(0), []).event).toBe('alarmed')
  })

  test('created paused, it has no deadlines and starts from the day it is resumed', () => {
    const paused = arm({ ...settings, active: false }, match(7, -10), at(0))
    expect(state(paused, 0)).toBe('paused')
    expect(deadlines(paused, [])).toBeNull()
    const resumed = setPaused(paused, { active: true }, at(50)).clock
    expect(state(resumed, 50)).toBe('waiting')
    expect(deadlines(resumed, [])?.dueAt).toEqual(at(650))
  })
})

describe('a match', () => {
  test.each([
    ['waiting', armed(), 10],
    ['onTime', armed(match(1, -5)), 10],
    ['late', armed(match(1, -650)), 10],
  ])('from %s makes it onTime with a new baseline and tells nobody', (_from, clock, seconds) => {
    const step = noticeMatch(clock, match(2, seconds))
    expect(step.event).toBeNull()
    expect(state(step.clock, seconds)).toBe('onTime')
    expect(deadlines(step.clock, [])?.dueAt).toEqual(at(seconds + 600))
  })

  test('after an alarm recovers it, once', () => {
    const step = noticeMatch(alarmed(), match(2, 800))
    expect(step.event).toBe('recovered')
    expect(step.clock).toMatchObject({ recoveredAt: at(800), alarmedAt: at(720) })
    expect(state(step.clock, 800)).toBe('onTime')
    expect(noticeMatch(step.clock, match(2, 800)).event).toBeNull()
  })

  test('that is already settled changes nothing, however often it is folded in', () => {
    const { clock } = noticeMatch(armed(), match(5, 10))
    expect(noticeMatch(clock, match(4, 20)).clock).toBe(clock)
  })

  test('while paused does not count, not even after the pause', () => {
    const paused = setPaused(armed(), { active: false }, at(10)).clock
    const looked = noticeMatch(paused, match(3, 20)).clock
    const resumed = setPaused(looked, { active: true }, at(30)).clock
    expect(noticeMatch(resumed, match(3, 20)).clock).toBe(resumed)
    expect(state(resumed, 30)).toBe('waiting')
  })
})

describe('time', () => {
  test('onTime turns late at dueAt without an alert, and alarmed at alarmAt, once', () => {
    const { clock } = noticeMatch(armed(), match(1, 0))
    expect(state(clock, 599.999)).toBe('onTime')
    expect(state(clock, 600)).toBe('late')
    expect(evaluate(clock, at(719.999), []).event).toBeNull()
    const step = evaluate(clock, at(720), [])
    expect(step.event).toBe('alarmed')
    expect(step.clock).toMatchObject({ alarmedAt: at(720), lastAlertedAt: at(720), recoveredAt: null })
    expect(evaluate(step.clock, at(99_999), []).event).toBeNull()
  })

  test('a waiting one has no late phase', () => {
    expect(state(armed(), 700)).toBe('waiting')
    expect(evaluate(armed(), at(720), []).event).toBe('alarmed')
  })

  test('a paused one never alarms', () => {
    const paused = setPaused(armed(), { pausedByPlan: true }, at(1)).clock
    expect(evaluate(paused, at(1_000_000), []).event).toBeNull()
  })
})

describe('pause and resume', () => {
  test('pausing an alarmed one closes its incident silently', () => {
    const step = setPaused(alarmed(), { active: false }, at(800))
    expect(step.event).toBe('silenced')
    expect(state(step.clock, 800)).toBe('paused')
  })

  test('resuming arms anew from now, with no old history', () => {
    const paused = setPaused(alarmed(), { active: false }, at(800)).clock
    const step = setPaused(paused, { active: true }, at(900))
    expect(step.event).toBeNull()
    expect(step.clock.armedAt).toEqual(at(900))
    expect(state(step.clock, 900)).toBe('waiting')
    expect(deadlines(step.clock, [])?.dueAt).toEqual(at(1500))
  })

  test('both reasons must be gone before it runs again', () => {
    const both = setPaused(
      setPaused(armed(), { active: false }, at(1)).clock,
      { pausedByPlan: true },
      at(2),
    ).clock
    const one = setPaused(both, { active: true }, at(3)).clock
    expect(state(one, 3)).toBe('paused')
    expect(state(setPaused(one, { pausedByPlan: false }, at(4)).clock, 4)).toBe('waiting')
  })

  test('switching on what is on does not arm anew', () => {
    expect(setPaused(armed(), { active: true }, at(300)).clock.armedAt).toEqual(at(0))
  })
})

describe('edits', () => {
  const schedule = (expectedIntervalSeconds: number, graceSeconds = 120) => ({
    expectedIntervalSeconds,
    graceSeconds,
  })

  test('a longer interval moves the deadlines; from alarmed it recovers', () => {
    const step = changeSchedule(alarmed(), schedule(6000), at(800), [])
    expect(step.event).toBe('recovered')
    expect(state(step.clock, 800)).toBe('onTime')
    expect(step.clock.recoveredAt).toEqual(at(800))
  })

  test('an interval change alone cannot send a second alarm', () => {
    const stillOverdue = changeSchedule(alarmed(), schedule(610), at(800), [])
    expect(stillOverdue.event).toBeNull()
    expect(state(stillOverdue.clock, 800)).toBe('alarmed')

    const recovered = changeSchedule(alarmed(), schedule(6000), at(800), []).clock
    const backAgain = changeSchedule(recovered, schedule(600), at(810), [])
    expect(backAgain.event).toBeNull()
    expect(state(backAgain.clock, 810)).toBe('alarmed')
    expect(evaluate(backAgain.clock, at(820), []).event).toBeNull()
  })

  test('an edit does not swallow an alarm that time has made due', () => {
    const recovered = changeSchedule(alarmed(), schedule(6000), at(800), []).clock
    const { clock } = changeSchedule(recovered, schedule(5000), at(6200), [])
    expect(evaluate(clock, at(6201), []).event).toBe('alarmed')
  })

  test('a shorter interval makes a first alarm due at the next check', () => {
    const { clock } = changeSchedule(noticeMatch(armed(), match(1, 0)).clock, schedule(60, 0), at(100), [])
    expect(evaluate(clock, at(100), []).event).toBe('alarmed')
  })

  test('another match starts over on its own history', () => {
    const withHistory = changeMatch(armed(match(1, -100)), match(9, -30), at(10), []).clock
    expect(deadlines(withHistory, [])?.dueAt).toEqual(at(570))
    const without = changeMatch(armed(match(1, -100)), null, at(10), []).clock
    expect(state(without, 10)).toBe('waiting')
    expect(without.lastMatchedAt).toBeNull()
    expect(deadlines(without, [])?.dueAt).toEqual(at(610))
  })

  test('another match of an alarmed one recovers it, or leaves it alarmed without a second alarm', () => {
    expect(changeMatch(alarmed(), match(9, 790), at(800), []).event).toBe('recovered')
    const still = changeMatch(alarmed(), match(9, 1), at(800), [])
    expect(still.event).toBeNull()
    expect(state(still.clock, 800)).toBe('alarmed')
    expect(evaluate(still.clock, at(900), []).event).toBeNull()
  })
})

describe('own downtime', () => {
  const outage = (from: number, to: number) => ({ beganAt: at(from), endedAt: at(to) })

  test('moves dueAt and alarmAt by its length, so that a restart never pages', () => {
    const { clock } = noticeMatch(armed(), match(1, 0))
    const outages = [outage(300, 10_300)]
    expect(deadlines(clock, outages)).toEqual({ dueAt: at(10_600), alarmAt: at(10_720) })
    expect(evaluate(clock, at(10_300), outages).event).toBeNull()
    expect(evaluate(clock, at(10_720), outages).event).toBe('alarmed')
  })

  test.each([
    ['before the baseline', [outage(-500, -100)], 0],
    ['across the baseline', [outage(-500, 100)], 100],
    ['after the alarm was due', [outage(720, 9000)], 0],
    ['after the alarm was due, but for earlier credit', [outage(100, 200), outage(800, 900)], 200],
  ] as const)('an outage %s', (_when, outages, seconds) => {
    expect(downtimeCreditMs(at(0), settings, outages)).toBe(seconds * 1000)
  })
})

test('a watchdog that comes from another cell keeps its deadlines, whatever outages the cells had', () => {
  const outage = (from: number, to: number) => ({ beganAt: at(from), endedAt: at(to) })
  const { clock } = noticeMatch(armed(), match(1, 100))
  const lists = [
    [],
    [outage(-500, 50)],
    [outage(50, 150)],
    [outage(120, 300)],
    [outage(90, 140), outage(200, 350)],
  ]
  for (const former of lists)
    for (const here of lists) {
      const moved = { ...clock, baselineAt: arrivedBaseline(clock, former, here) }
      expect(deadlines(moved, here)).toEqual(deadlines(clock, former))
    }
})

test('the default grace is a fifth of the interval, at least a minute', () => {
  expect([60, 300, 301, 3600].map(defaultGraceSeconds)).toEqual([60, 60, 61, 720])
})
