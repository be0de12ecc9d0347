import { expect, test } from 'bun:test'
import { QUEUES } from '@creel/core'
import { sourcesOf } from './sources.ts'

test('every queue that a noun declares is listed with its work', async () => {
  const declared = (await sourcesOf('core')).flatMap(({ path, text, isTest }) =>
    isTest
      ? []
      : [
          ...text.matchAll(/= (?:queue\(\{\n {2}name: |(?:lane|sweep)Queue\(|(runQueues)\(\s*)'([^']+)'/g),
        ].flatMap(([, runs, name]) =>
          (runs === undefined ? [name] : [`${name}.run`, `${name}.sweep`]).map((one) => ({
            path,
            name: one,
          })),
        ),
  )
  expect(declared.length).toBeGreaterThan(10)
  expect(QUEUES.map(({ name }) => name).sort()).toEqual(declared.map(({ name }) => name ?? '').sort())
  // Each noun keeps its queues in one file, with its other declarations if it has more.
  expect(declared.filter(({ path }) => !/\/(jobs|declarations)\.ts$/.test(path))).toEqual([])
})
