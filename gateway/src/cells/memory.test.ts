import { expect, test } from 'bun:test'
import { createMemory } from './cells.ts'

const KNOWN = 50_000
const UNKNOWN = 10_000

test('an answer counts for its time: 30 s that a cell knows a caller, 3 s that none does', () => {
  let now = 0
  const memory = createMemory(() => now)
  memory.remember('known', 2)
  memory.rememberUnknown('unknown', null)
  memory.rememberUnknown('unanswered', 3)
  now = 3_000
  expect([memory.cellOf('known'), memory.isUnknown('unknown')]).toEqual([2, true])
  // A cell that did not answer may know it.
  expect([memory.unansweredOf('unanswered'), memory.isUnknown('unanswered')]).toEqual([3, false])
  now = 3_001
  expect(memory.unansweredOf('unanswered')).toBeUndefined()
  expect([memory.cellOf('known'), memory.isUnknown('unknown')]).toEqual([2, false])
  now = 30_001
  expect(memory.cellOf('known')).toBeUndefined()
})

test('made-up callers drop each other, and never one that is known', () => {
  const memory = createMemory(() => 0)
  memory.remember('known', 1)
  for (let at = 0; at <= UNKNOWN; at += 1) memory.rememberUnknown(`made up ${at}`, null)
  expect(memory.isUnknown('made up 0')).toBe(false)
  expect(memory.isUnknown(`made up ${UNKNOWN}`)).toBe(true)
  expect(memory.cellOf('known')).toBe(1)
  for (let at = 0; at < KNOWN; at += 1) memory.remember(`other ${at}`, 2)
  expect(memory.cellOf('known')).toBeUndefined()
  expect(memory.cellOf(`other ${KNOWN - 1}`)).toBe(2)
})
