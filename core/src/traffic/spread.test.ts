import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { MINUTE_MS, spread } from './queries.ts'

const minute = new Date('2026-01-01T00:10:00Z')
const at = (seconds: number) => new Date(minute.getTime() + seconds * 1000)
const counts = (rows: ReturnType<typeof spread>) => rows.map(({ bucket, count }) => [bucket, count])

describe('counts of a minute in the parts of a period', () => {
  test('fall into the part that holds the minute', () => {
    const period = { from: at(-600), to: at(600), buckets: 2 }
    expect(counts(spread([{ endpointId: 'a', minute, count: 7 }], period))).toEqual([[2, 7]])
  })

  test('are shared where parts are shorter', () => {
    const period = { from: at(-30), to: at(90), buckets: 8 }
    expect(counts(spread([{ endpointId: 'a', minute, count: 6 }], period))).toEqual([
      [3, 1],
      [4, 2],
      [5, 1],
      [6, 2],
    ])
  })

  test('of a minute that has only begun fall into what there is of it', () => {
    const period = { from: at(-30), to: at(15), buckets: 3 }
    expect(counts(spread([{ endpointId: 'a', minute, count: 6 }], period))).toEqual([[3, 6]])
  })

  test('add up, whatever the period', () => {
    const whole = fc.record({
      fromMs: fc.integer({ min: -3_600_000, max: MINUTE_MS - 1 }),
      toMs: fc.integer({ min: 1, max: 3_600_000 }),
      buckets: fc.integer({ min: 1, max: 120 }),
      count: fc.integer({ min: 0, max: 1_000_000 }),
    })
    fc.assert(
      fc.property(whole, ({ fromMs, toMs, buckets, count }) => {
        fc.pre(fromMs < toMs)
        const period = { from: at(fromMs / 1000), to: at(toMs / 1000), buckets }
        const rows = spread([{ endpointId: 'a', minute, count }], period)
        expect(rows.reduce((sum, row) => sum + row.count, 0)).toBe(count)
        for (const row of rows) expect(row.bucket >= 1 && row.bucket <= buckets).toBe(true)
      }),
    )
  })
})
