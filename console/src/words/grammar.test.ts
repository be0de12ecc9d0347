import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { filtersOf, parseSearch, termFor, withoutTerm } from './grammar.ts'

const NOW = Date.parse('2026-11-22T12:00:00.500Z')
const filters = (search: string) => filtersOf(parseSearch(search), NOW)

describe('a search', () => {
  test('names are filters, the rest is text', () => {
    expect(filters('paid method:post state:failed is:none label:"invoice paid" event:evt_1 42')).toEqual({
      q: 'paid 42',
      method: 'post',
      state: 'Failed',
      verification: 'none',
      label: 'invoice paid',
      eventId: 'evt_1',
    })
  })

  test('times count back from now, to the second', () => {
    expect(filters('since:2h until:15m')).toEqual({
      since: '2026-11-22T10:00:00.000Z',
      until: '2026-11-22T11:45:00.000Z',
    })
    expect(filters('since:2026-11-20').since).toBe('2026-11-20T00:00:00.000Z')
  })

  test('a request may need attention, or a replay', () => {
    expect(filters('needs:attention')).toEqual({ needsAttention: true })
    expect(filters('needs:Replay')).toEqual({ deadLettered: true })
    expect(parseSearch('needs:help').map(({ problem }) => problem)).toEqual([
      'needs must be attention or replay',
    ])
  })

  test('a value that is none says what would be right, and the rest still searches', () => {
    const terms = parseSearch('state:broken since:soon is:ok paid')
    expect(terms.map(({ problem }) => problem?.split(' ')[0])).toEqual(['state', 'since', 'is', undefined])
    expect(filtersOf(terms, NOW)).toEqual({ q: 'paid' })
  })

  test('a filter whose value is yet to be typed is left out', () => {
    expect(filters('paid state:')).toEqual({ q: 'paid' })
    expect(filters('label: event: since:')).toEqual({})
  })

  test('an unknown name is text, and quotes keep blanks', () => {
    expect(filters('foo:bar "a  b"')).toEqual({ q: 'foo:bar a  b' })
    expect(filters('http://x.test/a')).toEqual({ q: 'http://x.test/a' })
  })

  test('a term can be taken out wherever it stands', () => {
    const search = 'state:failed  "a b" label:x'
    const [state, text, label] = parseSearch(search)
    if (state === undefined || text === undefined || label === undefined) throw new Error('three terms')
    expect(withoutTerm(search, state)).toBe('"a b" label:x')
    expect(withoutTerm(search, text)).toBe('state:failed label:x')
    expect(withoutTerm(search, label)).toBe('state:failed "a b"')
  })

  test('a term that is made for a value means that value', () => {
    const plain = fc.string({ minLength: 1, maxLength: 60 }).filter((value) => !/["\s]/.test(value))
    fc.assert(
      fc.property(plain, plain, (left, right) => {
        const value = `${left} ${right}`
        expect(filters(termFor('label', value))).toEqual({ label: value })
        expect(filters(termFor('event', value))).toEqual({ eventId: value })
        expect(filters(termFor('text', value))).toEqual({ q: value })
      }),
    )
  })

  test('no search throws', () => {
    fc.assert(fc.property(fc.string(), (search) => void filters(search)))
  })
})
