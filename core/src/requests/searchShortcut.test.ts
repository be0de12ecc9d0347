import { describe, expect, test } from 'bun:test'
import { cheapestShortcut } from './searchShortcut.ts'

const HEADERS = 'application/json'
const JSON_BODY = '{"id":"evt_7","type":"invoice.paid","customer":"cus_1","text":"next"}'

function choose(q: string, ...bodies: string[]): [string, string[]] | undefined {
  const shortcut = cheapestShortcut(
    q,
    bodies.map((body) => [Buffer.from(HEADERS), Buffer.from(body)]),
  )
  return shortcut && [shortcut.rules, shortcut.spellings.map(String).toSorted()]
}

describe('the shortcut to a sought text', () => {
  test('is a part without letters where there is one, as long as may be', () => {
    expect(choose('order-48213-x', JSON_BODY)).toEqual(['out', ['-482']])
  })

  test('is a part with every spelling of its letters', () => {
    expect(choose('jz', JSON_BODY)).toEqual(['out', ['Z', 'z']])
    expect(choose('k-', 'a-'.repeat(20))).toEqual(['out', ['k-', 'K-', '\u212a-'].toSorted()])
  })

  test('is no part that the samples hold', () => {
    expect(choose('_7x', JSON_BODY)).toEqual(['out', ['_7x', '_7X'].toSorted()])
  })

  test('is the whole text where most hold it, as they spell it', () => {
    expect(choose('Next', JSON_BODY, JSON_BODY, '{}')).toEqual(['in', ['next']])
    expect(choose('JSON', '{}')).toEqual(['in', ['json']])
    expect(choose('NEXT', 'the NEXT')).toEqual(['in', ['NEXT']])
  })

  test('holds nothing beyond ASCII, where case may meet in other letters', () => {
    expect(choose('\u212a', JSON_BODY)).toBeUndefined()
    expect(choose('Größe', 'Größe'.repeat(20))).toBeUndefined()
    expect(choose('Größe 4', JSON_BODY)).toEqual(['out', [' 4']])
  })

  test('is none where nothing is known', () => {
    expect(choose('order-48213')).toBeUndefined()
  })
})
