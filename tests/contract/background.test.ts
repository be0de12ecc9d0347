import { expect, test } from 'bun:test'
import { QUEUES } from '@creel/core'
import { sourcesOf } from './sources.ts'

test('every queue that a noun declares is listed with its work', async () => {
  const declared = (await sourcesOf('core')).flatMap(({ path, text, isTest }) =>
    isTest
      ? []
      : [
          ...text.matchAll(
            /= (?:queue\(\{\n {2}name: |(?:lane|short|sweep)Queue\(|(runQueues)\(\s*)'([^']+)'/g,
          ),
        ].flatMap(([, runs, name]) =>
          (runs === undefined ? [name] : [`${name}.run`, `${name}.sweep`]).map((one) => ({
            path,
            name: one,
          })),
        ),
  )
  expect(declared.length).toBeGreaterThan(10)
  expect(QUEUES.map(({ name }) => name).sort()).toEqual(declared.map(({ name }) => name ?? '').sort())
  // A queue is among the declarations of its noun, or beside the work of its own.
  const besideWork = declared.filter(({ path }) => !/\/(jobs|declarations)\.ts$/.test(path))
  expect(besideWork.map(({ path }) => path)).toEqual([...new Set(besideWork.map(({ path }) => path))])
})

test('a job whose process died blocks the next one of its queue for a minute at most', () => {
  const blocking = QUEUES.filter(({ options }) => options.policy === 'singleton')
  expect(blocking.length).toBeGreaterThan(5)
  for (const { name, options } of blocking)
    expect([name, (options.heartbeatSeconds ?? Infinity) <= 60]).toEqual([name, true])
})
