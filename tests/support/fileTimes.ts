/**
 * Preloaded: records the processor time of each test file, if `bun run test --record` asks for it. Then one file runs at
 * a time, so all that the run's processes use meanwhile is used for that file: by the tests, by the programs that they
 * start, and by PostgreSQL. The clean-up after a file runs beside the next one, and counts there.
 */
import { afterAll } from 'bun:test'
import { appendFileSync } from 'node:fs'
import { processorSecondsBelow } from '../../scripts/processes.ts'

/** Interval of looking which file is running. */
const LOOK_MS = 10

const record = process.env.CREEL_TEST_RECORD
if (record !== undefined) {
  const run = Number(process.env.CREEL_TEST_RUN)
  const now = () => ({ wall: performance.now() / 1000, processor: processorSecondsBelow(run) })
  let file = Bun.main
  let from = now()
  const note = () => {
    const to = now()
    const line = [file, to.wall - from.wall, to.processor - from.processor]
    appendFileSync(record, `${JSON.stringify(line)}\n`)
    file = Bun.main
    from = to
  }
  setInterval(() => {
    if (file !== Bun.main) note()
  }, LOOK_MS).unref()
  afterAll(note)
}
