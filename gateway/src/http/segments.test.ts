import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { Segments } from './segments.ts'

test('whatever the pieces are, they come out as they came in, whole or cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 700_000 }), { maxLength: 6 }),
      fc.integer({ min: 0, max: 1_000_000 }),
      (lengths, bytesMax) => {
        const pieces = lengths.map((length, index) => Buffer.alloc(length, index + 1))
        const whole = Buffer.concat(pieces)
        const segments = new Segments()
        const fill = () => pieces.forEach((piece) => void segments.append(piece))
        fill()
        expect(segments.length).toBe(whole.length)
        expect(segments.take().equals(whole)).toBe(true)
        expect(segments.length).toBe(0)
        fill()
        expect(segments.take(bytesMax).equals(whole.subarray(0, bytesMax))).toBe(true)
      },
    ),
    { numRuns: 50 },
  )
})

test('many small pieces cost no more than their bytes', () => {
  const segments = new Segments()
  const piece = Buffer.from('x')
  for (let count = 0; count < 300_000; count += 1) segments.append(piece)
  const taken = segments.take()
  expect(taken.length).toBe(300_000)
  expect(taken.every((byte) => byte === 120)).toBe(true)
})
