import { describe, expect, test } from 'bun:test'
import { attemptJobs, attemptsOfJob, type DueAttempt, JOB_ATTEMPTS_MAX } from './attemptJobs.ts'

const due = (deliveryId: number): DueAttempt => ({
  deliveryId,
  attempt: 1,
  actionId: 'a',
  workspaceId: 'w',
  bodyBytes: 10,
})
const range = (from: number, count: number) => Array.from({ length: count }, (_, index) => due(from + index))

describe('jobs of attempts', () => {
  test('are shared by those that are due at the same time, in order, up to a bound', () => {
    const many = range(1, 2 * JOB_ATTEMPTS_MAX + 1)
    expect(attemptJobs(many)).toEqual([
      { payload: { attempts: many.slice(0, JOB_ATTEMPTS_MAX) } },
      { payload: { attempts: many.slice(JOB_ATTEMPTS_MAX, 2 * JOB_ATTEMPTS_MAX) } },
      { payload: { attempts: many.slice(2 * JOB_ATTEMPTS_MAX) } },
    ])
  })

  test('are apart for attempts that are due at other times', () => {
    const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second))
    expect(
      attemptJobs([
        due(1),
        { ...due(2), startAfter: at(1) },
        due(3),
        { ...due(4), startAfter: at(2) },
        { ...due(5), startAfter: at(1) },
      ]),
    ).toEqual([
      { payload: { attempts: [due(1), due(3)] } },
      { payload: { attempts: [due(2), due(5)] }, startAfter: at(1) },
      { payload: { attempts: [due(4)] }, startAfter: at(2) },
    ])
  })

  test('that yield to others are apart, and come later', () => {
    const yielding = { ...due(2), yields: true }
    expect(attemptJobs([due(1), yielding, due(3)])).toEqual([
      { payload: { attempts: [due(1), due(3)] } },
      { payload: { attempts: [due(2)] }, priority: -1 },
    ])
  })

  test('say the attempts of every version', () => {
    expect(attemptsOfJob({ attempts: range(1, 3) })).toEqual(range(1, 3))
    expect(attemptsOfJob(due(7))).toEqual([due(7)])
    // Without its workspace an attempt counts for its action alone.
    const { workspaceId: _, ...older } = due(8)
    expect(attemptsOfJob({ attempts: [older] })).toEqual([{ ...older, workspaceId: 'a' }])
    for (const unknown of [null, {}, { attempts: [] }, { attempts: [{ deliveryId: 'x' }] }])
      expect(attemptsOfJob(unknown)).toBeUndefined()
  })
})
