import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { LaneJobs, laneQueue } from './jobs.ts'

const SECOND_MS = 1000
const LANE = { id: 'lane', workspaceId: 'workspace' }

const steps = fc.array(
  fc.record({
    passedMs: fc.integer({ min: 0, max: 8 * SECOND_MS }),
    dueInMs: fc.integer({ min: -SECOND_MS, max: 90 * SECOND_MS }),
    commits: fc.boolean(),
  }),
  { minLength: 1, maxLength: 60 },
)

test('a lane with work always has a job in time, and a busy one costs an insert in some seconds', () => {
  fc.assert(
    fc.property(steps, (taken) => {
      const jobs = new LaneJobs(laneQueue('test.lanes'))
      const queued: number[] = []
      let now = 1_800_000_000_000
      for (const { passedMs, dueInMs, commits } of taken) {
        now += passedMs
        const dueAt = new Date(now + dueInMs)
        const missing = jobs.missing([{ ...LANE, dueAt }], new Date(now))
        if (!commits) continue
        for (const { at } of missing) queued.push(at)
        jobs.haveCommitted(missing)
        // Late enough for the transaction to commit before the job is taken, and hardly later than the work.
        const inTime = queued.filter(
          (at) =>
            at >= now + 5 * SECOND_MS && at <= Math.max(dueAt.getTime() + SECOND_MS, now + 15 * SECOND_MS),
        )
        expect(inTime).not.toEqual([])
      }
    }),
  )
})

test('work that is due now has one job in at least five seconds', () => {
  const jobs = new LaneJobs(laneQueue('test.lanes'))
  let inserts = 0
  for (let now = 1_800_000_000_000; now < 1_800_000_000_000 + 60 * SECOND_MS; now += 10) {
    const missing = jobs.missing([{ ...LANE, dueAt: new Date(now) }], new Date(now))
    inserts += missing.length
    jobs.haveCommitted(missing)
  }
  expect(inserts).toBeWithin(4, 13)
})

test('a job is done by a look since it was due, and not by one before', () => {
  const jobs = new LaneJobs(laneQueue('test.lanes'))
  const at = 1_800_000_000_000
  const job = { laneId: LANE.id, workspaceId: LANE.workspaceId, at }
  jobs.looked(LANE.id, new Date(at - 1))
  expect(jobs.isDone(job)).toBeFalse()
  jobs.looked(LANE.id, new Date(at))
  expect(jobs.isDone(job)).toBeTrue()
  expect(jobs.isDone({ ...job, laneId: 'other' })).toBeFalse()
  // One that is not shared is taken at once: nothing tells what it has seen.
  expect(jobs.isDone({ laneId: LANE.id, workspaceId: LANE.workspaceId })).toBeFalse()
})
