import { expect, test } from 'bun:test'
import { pino } from 'pino'
import { readyz } from './operations.ts'

test('a check that hangs fails, and a note that hangs is unknown', async () => {
  const hangs = () => new Promise<never>(() => undefined)
  const answer = await readyz(
    { checks: { database: hangs }, notes: { jobs: hangs } },
    pino({ level: 'silent' }),
  )
  expect(answer.status).toBe(503)
  expect(await answer.json()).toEqual({
    status: 'unavailable',
    checks: { database: 'unavailable' },
    jobs: 'unknown',
  })
})
