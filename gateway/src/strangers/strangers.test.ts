import { describe, expect, test } from 'bun:test'
import { createStrangers } from './strangers.ts'

/** The number of failed calls in a window, with a stopped clock, until the address is refused. */
function wrongCallsUntilRefused(trustsProxies: boolean, isForwarded: boolean): number {
  const now = new Date()
  const strangers = createStrangers({ now: () => now }, { trustsProxies })
  let calls = 0
  while (strangers.waitOf('192.0.2.1') === undefined) {
    strangers.note('192.0.2.1', isForwarded)
    calls += 1
  }
  return calls
}

describe('wrong calls of one address in a minute', () => {
  test('are 600', () => {
    expect(wrongCallsUntilRefused(false, false)).toBe(600)
  })

  test('are ten times as many through a proxy while none is trusted', () => {
    expect(wrongCallsUntilRefused(false, true)).toBe(6000)
  })

  test('are counted anew when the clock was set back', () => {
    let now = new Date()
    const strangers = createStrangers({ now: () => now }, { trustsProxies: false })
    for (let call = 0; call < 600; call += 1) strangers.note('192.0.2.1', false)
    expect(strangers.waitOf('192.0.2.1')).toBe(60)
    now = new Date(now.getTime() - 3_600_000)
    expect(strangers.waitOf('192.0.2.1')).toBeUndefined()
  })

  test('are 600 where proxies are trusted, whatever their clients write', () => {
    expect(wrongCallsUntilRefused(true, true)).toBe(600)
  })
})
