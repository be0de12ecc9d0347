import { expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  arm,
  changeSchedule,
  deadlines,
  evaluate,
  type Match,
  noticeMatch,
  type Step,
  setPaused,
  stateOf,
  type WatchdogClock,
} from './rules.ts'

/**
 * The reference: a simple watchdog that gets every event as it happens. It stores one "silent since" instant and
 * whether an alarm is open, in whole seconds, without lazy folding.
 */
class Reference {
  silentSince: number
  matched = false
  open = false
  /** The silence that has been alarmed, so that edits do not alarm it again. */
  alarmedSilence: number | null = null
  on = true
  plan = true
  readonly notified: string[] = []

  constructor(
    now: number,
    public interval: number,
    public grace: number,
  ) {
    this.silentSince = now
  }

  get running() {
    return this.on && this.plan
  }

  capture(now: number) {
    if (!this.running) return
    if (this.open) this.notified.push('recovered')
    this.open = false
    this.matched = true
    this.silentSince = now
    this.alarmedSilence = null
  }

  check(now: number) {
    if (!this.running || this.open || now < this.silentSince + this.interval + this.grace) return
    this.open = true
    this.alarmedSilence = this.silentSince
    this.notified.push('alarmed')
  }

  switch(on: boolean, plan: boolean, now: number) {
    const before = this.running
    this.on = on
    this.plan = plan
    if (before && !this.running) {
      if (this.open) this.notified.push('silenced')
      this.open = false
      this.matched = false
    }
    if (!before && this.running) {
      this.silentSince = now
      this.matched = false
      this.alarmedSilence = null
    }
  }

  edit(interval: number, grace: number, now: number) {
    const wasOverdue = now >= this.silentSince + this.interval + this.grace
    this.interval = interval
    this.grace = grace
    if (!this.running) return
    const overdue = now >= this.silentSince + interval + grace
    if (this.open && !overdue) {
      this.open = false
      this.matched = true
      this.notified.push('recovered')
    } else if (!this.open && overdue && !wasOverdue && this.alarmedSilence === this.silentSince)
      this.open = true
  }

  state(now: number) {
    if (!this.running) return 'paused'
    if (this.open) return 'alarmed'
    if (!this.matched) return 'waiting'
    return now < this.silentSince + this.interval ? 'onTime' : 'late'
  }
}

/** The real rules as the service uses them: captures only note the criteria's last match. */
class Service {
  lastMatch: Match | null = null
  clock: WatchdogClock
  readonly notified: string[] = []

  constructor(now: number, interval: number, grace: number) {
    const settings = {
      active: true,
      pausedByPlan: false,
      expectedIntervalSeconds: interval,
      graceSeconds: grace,
    }
    this.clock = arm(settings, null, date(now))
  }

  private take({ clock, event }: Step) {
    this.clock = clock
    if (event !== null) this.notified.push(event)
  }

  settle() {
    this.take(noticeMatch(this.clock, this.lastMatch))
  }

  apply(change: (clock: WatchdogClock) => Step) {
    this.settle()
    this.take(change(this.clock))
  }

  /** The view of a GET: folded for the answer, not stored. */
  view(now: number) {
    const { clock } = noticeMatch(this.clock, this.lastMatch)
    const times = deadlines(clock, [])
    return {
      state: stateOf(clock, date(now), []),
      dueAt: times && times.dueAt.getTime() / 1000,
      alarmAt: times && times.alarmAt.getTime() / 1000,
    }
  }
}

const date = (seconds: number) => new Date(seconds * 1000)

const seconds = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 2000 }))
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), seconds }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('capture' as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('check' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('switch' as const), on: fc.boolean(), plan: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('edit' as const),
      interval: fc.integer({ min: 60, max: 1000 }),
      grace: fc.integer({ min: 0, max: 500 }),
    }),
  },
)

test('whatever happens, and however late matches are folded in, people see and hear what the reference says', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 60, max: 600 }),
      fc.integer({ min: 0, max: 300 }),
      fc.array(step, { maxLength: 60 }),
      (interval, grace, steps) => {
        let now = 1_000_000
        let requestId = 0
        const reference = new Reference(now, interval, grace)
        const service = new Service(now, interval, grace)
        for (const next of steps) {
          // No two events happen in the same instant, because their order would be undefined.
          now += 1
          if (next.do === 'wait') now += next.seconds
          if (next.do === 'capture') {
            reference.capture(now)
            service.lastMatch = { requestId: ++requestId, receivedAt: date(now) }
          }
          if (next.do === 'check') {
            reference.check(now)
            service.apply((clock) => evaluate(clock, date(now), []))
          }
          if (next.do === 'switch') {
            reference.switch(next.on, next.plan, now)
            const change = { active: next.on, pausedByPlan: !next.plan }
            service.apply((clock) => setPaused(clock, change, date(now)))
          }
          if (next.do === 'edit') {
            reference.edit(next.interval, next.grace, now)
            const schedule = { expectedIntervalSeconds: next.interval, graceSeconds: next.grace }
            service.apply((clock) => changeSchedule(clock, schedule, date(now), []))
          }
          const due = reference.running ? reference.silentSince + reference.interval : null
          expect(service.view(now)).toEqual({
            state: reference.state(now),
            dueAt: due,
            alarmAt: due === null ? null : due + reference.grace,
          })
        }
        service.settle()
        expect(service.notified).toEqual(reference.notified)
      },
    ),
    { numRuns: 2000 },
  )
})
