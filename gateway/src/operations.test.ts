import { expect, test } from 'bun:test'
import { pino } from 'pino'
import { readyz } from './operations.ts'

test('a check that hangs fails, and a note that hangs is unknown', async () => {
  const begun: string[] = []
  const hangs = (what: string) => () => {
    begun.push(what)
    return new Promise<never>(() => undefined)
  }
  const answering = readyz(
    { checks: { database: hangs('check') }, notes: { jobs: hangs('note') } },
    pino({ level: 'silent' }),
  )
  // Both begin at once: one after the other they would take twice the time.
  expect(begun).toEqual(['check', 'note'])
  const answer = await answering
  expect(answer.status).toBe(503)
  expect(await answer.json()).toEqual({
    status: 'unavailable',
    checks: { database: 'unavailable' },
    jobs: 'unknown',
  })
})
