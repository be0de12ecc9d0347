import { describe, expect, test } from 'bun:test'
import { sharedLooks } from './endpointWatch.ts'

describe('sharedLooks', () => {
  test('readers that ask the same share one look', async () => {
    const looks = sharedLooks<number>()
    let begun = 0
    const look = async () => {
      begun += 1
      return begun
    }
    expect(await Promise.all([looks.find('a', look), looks.find('a', look), looks.find('b', look)])).toEqual([
      1, 1, 2,
    ])
  })

  test('a look that began before a change never answers who asks after it', async () => {
    const looks = sharedLooks<string>()
    const slow = Promise.withResolvers<string>()
    const before = looks.find('a', () => slow.promise)
    looks.clear()
    const after = looks.find('a', async () => 'with the change')
    slow.resolve('without it')
    expect(await before).toBe('without it')
    expect(await after).toBe('with the change')
    expect(await looks.find('a', async () => 'anew')).toBe('with the change')
  })

  test('a look that failed is not remembered', async () => {
    const looks = sharedLooks<string>()
    await expect(looks.find('a', () => Promise.reject(new Error('gone')))).rejects.toThrow('gone')
    expect(await looks.find('a', async () => 'back')).toBe('back')
  })
})
