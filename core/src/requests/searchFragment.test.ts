import { describe, expect, test } from 'bun:test'
import { rarestFragment } from './searchFragment.ts'

const JSON_BODY = Buffer.from('{"id":"evt_7","type":"invoice.paid","customer":"cus_1","text":"next"}')

const choose = (q: string, ...samples: Buffer[]) =>
  rarestFragment(q, samples)?.map((spelling) => spelling.toString())

describe('the fragment of a sought text', () => {
  test('is one without letters where there is one, as long as may be', () => {
    expect(choose('order-48213-x', JSON_BODY)).toEqual(['-482'])
  })

  test('has every spelling of its letters', () => {
    expect(choose('az', JSON_BODY)?.toSorted()).toEqual(['Z', 'z'])
    expect(choose('k-', Buffer.from('aa-'))).toEqual(['k-', 'K-', '\u212a-'])
    expect(choose('i', JSON_BODY)).toBeUndefined()
    expect(choose('I', Buffer.from('aa'))).toEqual(['i', 'I', '\u0130'])
  })

  test('is not what the samples hold', () => {
    expect(choose('_7x', JSON_BODY)).toEqual(['_7x', '_7X'])
    expect(choose('"next"', JSON_BODY)).toBeUndefined()
  })

  test('holds nothing beyond ASCII, where case may meet in other letters', () => {
    expect(choose('\u212a', JSON_BODY)).toBeUndefined()
    expect(choose('Größe 4', JSON_BODY)).toEqual([' 4'])
  })

  test('is none where nothing is known', () => {
    expect(choose('order-48213')).toBeUndefined()
  })
})
