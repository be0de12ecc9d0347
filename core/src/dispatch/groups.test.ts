import { expect, test } from 'bun:test'
import type { LaneWithSlots, Look, Send } from './adapter.ts'
import { LaneGroups } from './groups.ts'

const laneOf = (at: number): LaneWithSlots => ({ id: `lane-${at}`, workspaceId: 'workspace', slots: at })
const lanes = (count: number) => Array.from({ length: count }, (_, at) => laneOf(at))

/** Groups whose looks end when the test says so. */
function openGroups() {
  const asked: (readonly string[])[] = []
  const ends: PromiseWithResolvers<ReadonlyMap<string, Look<Send>>>[] = []
  const groups = new LaneGroups<Send>((some) => {
    asked.push(some.map(({ id }) => id))
    const end = Promise.withResolvers<ReadonlyMap<string, Look<Send>>>()
    ends.push(end)
    return end.promise
  })
  return { groups, asked, ends }
}

const FOUND: Look<Send> = { sends: [], nextInMs: 7 }

test('lanes of one turn of the event loop are one group, and get their own looks', async () => {
  const { groups, asked, ends } = openGroups()
  const looks = lanes(3).map((lane) => groups.look(lane))
  await Promise.resolve()
  expect(asked).toEqual([['lane-0', 'lane-1', 'lane-2']])
  ends[0]?.resolve(new Map([['lane-1', FOUND]]))
  expect(await Promise.all(looks)).toEqual([undefined, FOUND, undefined])
})

test('beside four groups, further lanes wait and then go together, 32 at most', async () => {
  const { groups, asked, ends } = openGroups()
  const looks: Promise<unknown>[] = []
  for (let at = 0; at < 4; at += 1) {
    looks.push(groups.look(laneOf(at)))
    await Promise.resolve()
  }
  looks.push(...lanes(40).map((lane) => groups.look(lane)))
  await Promise.resolve()
  expect(asked).toHaveLength(4)
  for (let at = 0; at < 6; at += 1) {
    while (ends[at] === undefined) await Promise.resolve()
    ends[at]?.resolve(new Map())
  }
  await Promise.all(looks)
  expect(asked.map((group) => group.length)).toEqual([1, 1, 1, 1, 32, 8])
})

test('an error goes to the lanes of its group only, and later groups go on', async () => {
  const { groups, ends } = openGroups()
  const failed = groups.look(laneOf(1))
  await Promise.resolve()
  ends[0]?.reject(new Error('no database'))
  await expect(failed).rejects.toThrow('no database')
  const next = groups.look(laneOf(2))
  await Promise.resolve()
  ends[1]?.resolve(new Map([['lane-2', FOUND]]))
  expect(await next).toBe(FOUND)
})

test('a lane without a result is left out of groups until it is admitted again', async () => {
  const { groups, asked, ends } = openGroups()
  const left = groups.look(laneOf(1))
  await Promise.resolve()
  ends[0]?.resolve(new Map())
  expect(await left).toBeUndefined()
  expect(await groups.look(laneOf(1))).toBeUndefined()
  expect(asked).toHaveLength(1)
  groups.admit('lane-1')
  const next = groups.look(laneOf(1))
  await Promise.resolve()
  ends[1]?.resolve(new Map([['lane-1', FOUND]]))
  expect(await next).toBe(FOUND)
})
