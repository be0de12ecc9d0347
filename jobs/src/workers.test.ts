import { expect, test } from 'bun:test'
import { oneAfterAnother } from './workers.ts'

/** After all that is ready to run. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('a run begins when the one before it has ended', async () => {
  const starts = oneAfterAnother(60_000)
  const { promise: first, resolve: endFirst } = Promise.withResolvers<void>()
  const begun: string[] = []
  const run = (name: string, ends: Promise<void>) =>
    starts(async () => {
      begun.push(name)
      await ends
    })
  const all = [run('first', first), run('second', Promise.resolve())]
  await settled()
  expect(begun).toEqual(['first'])
  endFirst()
  await Promise.all(all)
  expect(begun).toEqual(['first', 'second'])
})

test('a run that hangs holds the next one up for a moment only', async () => {
  const starts = oneAfterAnother(5)
  const { promise: hanging, resolve: endHanging } = Promise.withResolvers<void>()
  const end = starts(() => hanging)
  await starts(async () => {})
  endHanging()
  await end
})

test('an error of a run is its own, and ends its turn', async () => {
  const starts = oneAfterAnother(60_000)
  const failing = starts(() => Promise.reject(new Error('refused')))
  await expect(failing).rejects.toThrow('refused')
  await starts(async () => {})
})
