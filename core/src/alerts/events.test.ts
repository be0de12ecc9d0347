import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { EVENT_KINDS, EVENTS, everySubscription, passes, SEVERITIES, SUBSCRIBABLE_KINDS } from './events.ts'

describe('EVENTS', () => {
  test('every kind but the test message is subscribable', () => {
    expect(EVENT_KINDS.filter((kind) => !EVENTS[kind].subscribable)).toEqual(['channel.test'])
    expect(SUBSCRIBABLE_KINDS).toHaveLength(EVENT_KINDS.length - 1)
  })
})

describe('passes', () => {
  test('a channel that subscribes to everything gets every subscribable kind at every severity', () => {
    for (const kind of SUBSCRIBABLE_KINDS) {
      for (const severity of SEVERITIES)
        expect(passes(everySubscription('info'), { kind, severity })).toBe(true)
    }
  })

  test('a kind that is not subscribed never passes', () => {
    expect(
      passes([{ kind: 'delivery.parked', minSeverity: 'info' }], {
        kind: 'delivery.recovered',
        severity: 'critical',
      }),
    ).toBe(false)
  })

  test('the threshold lets exactly its own and higher severities pass', () => {
    const severities = fc.constantFrom(...SEVERITIES)
    fc.assert(
      fc.property(severities, severities, (minSeverity, severity) => {
        expect(
          passes([{ kind: 'watchdog.alarmed', minSeverity }], { kind: 'watchdog.alarmed', severity }),
        ).toBe(SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(minSeverity))
      }),
    )
  })
})
