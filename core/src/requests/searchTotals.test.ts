import { describe, expect, test } from 'bun:test'
import { searchTotals } from './rangeTotals.ts'
import type { ListFilters } from './schema.ts'

const ASKED = { filters: { q: 'x' }, hasCursor: false, storedCount: 1000 }
const found = (matchedCount: number, lookedThrough: number, lookedTo: number | null = 7) => ({
  matchedCount,
  lookedThrough,
  lookedTo,
})

describe('the total of a search', () => {
  test('is exact where everything was looked through', () => {
    expect(searchTotals(found(0, 1000, null), ASKED)).toEqual({ totalCount: 0, isExact: true })
    expect(searchTotals(found(12, 1000, null), ASKED)).toEqual({ totalCount: 12, isExact: true })
  })

  test('is estimated from the part that was looked through', () => {
    expect(searchTotals(found(10, 100), ASKED)).toEqual({ totalCount: 100, isExact: false })
    const below = { ...ASKED, hasCursor: true }
    expect(searchTotals(found(10, 100, null), below)).toEqual({ totalCount: 100, isExact: false })
  })

  test('is more than what was found while others may follow, and never 0 beside what was not looked through', () => {
    expect(searchTotals(found(0, 100), ASKED).totalCount).toBe(1)
    expect(searchTotals(found(3, 1000), ASKED).totalCount).toBe(4)
    expect(searchTotals(found(0, 0, null), { ...ASKED, hasCursor: true }).totalCount).toBe(1)
    const empty = { ...ASKED, hasCursor: true, storedCount: 0 }
    expect(searchTotals(found(0, 0, null), empty).totalCount).toBe(0)
  })

  test('is not taken from all that is stored where ids narrow it', () => {
    const narrowing: Partial<ListFilters>[] = [{ afterId: 3 }, { beforeId: 9 }, { eventId: 'evt_1' }]
    for (const filters of narrowing) {
      expect(searchTotals(found(5, 5, null), { ...ASKED, filters, hasCursor: true }).totalCount).toBe(5)
    }
  })
})
