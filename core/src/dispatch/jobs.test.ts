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

test('a job is done by a look that began since its work was due and committed, and not by one before', () => {
  const jobs = new LaneJobs(laneQueue('test.lanes'))
  const seenSince = 1_800_000_000_000
  const job = { laneId: LANE.id, workspaceId: LANE.workspaceId, seenSince }
  jobs.looked(LANE.id, new Date(seenSince - 1))
  expect(jobs.isDone(job)).toBeFalse()
  jobs.looked(LANE.id, new Date(seenSince))
  expect(jobs.isDone(job)).toBeTrue()
  expect(jobs.isDone({ ...job, laneId: 'other' })).toBeFalse()
  // One that is not shared is taken at once: nothing tells what it has seen.
  expect(jobs.isDone({ laneId: LANE.id, workspaceId: LANE.workspaceId })).toBeFalse()
})

test('a look that makes a job needless comes after all work that shares the job', () => {
  const now = 1_800_000_000_000
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 90 * SECOND_MS }), fc.nat(20 * SECOND_MS), (dueInMs, laterMs) => {
      const dueAt = now + dueInMs
      const jobAt = (at: number, due: number) =>
        new LaneJobs(laneQueue('test.lanes')).missing([{ ...LANE, dueAt: new Date(due) }], new Date(at))[0]
      const job = jobAt(now, dueAt)
      const other = jobAt(now + laterMs, Math.max(dueAt, now + laterMs))
      if (job === undefined || other === undefined) throw new Error('A lane without jobs needs one.')
      if (other.at !== job.at) return
      // A timer for the work of a job ends no sooner than it is due, so its look makes the job needless.
      expect(job.seenSince).toBeLessThanOrEqual(Math.max(dueAt, now + 11 * SECOND_MS))
      // Either is the one that is stored. Both transactions have five seconds to commit before such a look.
      for (const { seenSince, at } of [job, other]) {
        expect(seenSince).toBeGreaterThanOrEqual(now + laterMs + 5 * SECOND_MS)
        expect(seenSince).toBeLessThanOrEqual(at)
      }
    }),
  )
})

test('work that relies on a job has a second to commit before a look that makes the job needless', () => {
  const start = 1_800_000_000_000
  fc.assert(
    fc.property(fc.nat(15 * SECOND_MS), fc.nat(11 * SECOND_MS), (dueInMs, laterMs) => {
      const jobs = new LaneJobs(laneQueue('test.lanes'))
      const missing = (at: number, dueAt: number) =>
        jobs.missing([{ ...LANE, dueAt: new Date(dueAt) }], new Date(at))
      const [job] = missing(start, start + dueInMs)
      jobs.haveCommitted(job === undefined ? [] : [job])
      const now = start + laterMs
      if (job === undefined || missing(now, now + 3600 * SECOND_MS).length > 0) return
      expect(job.seenSince).toBeGreaterThanOrEqual(now + SECOND_MS)
    }),
  )
})
