import { expect, test } from 'bun:test'
import { tracked } from '@trpc/server'
import { pino } from 'pino'
import { eventStream } from './eventStream.ts'

test('a client that hangs up while an event is awaited is no error of the service', async () => {
  const lines: string[] = []
  const log = pino({ level: 'error' }, { write: (line) => void lines.push(line) })
  const waits = Promise.withResolvers<void>()
  const hangUp = Promise.withResolvers<void>()
  async function* events() {
    yield tracked('1', { kind: 'first' })
    waits.resolve()
    await hangUp.promise
  }
  const reader = eventStream({ log }, events()).body?.getReader()
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toContain('event: first')
  const next = reader?.read()
  await waits.promise
  await reader?.cancel()
  expect((await next)?.done).toBe(true)
  // Like a follower that ends when its signal is aborted.
  hangUp.resolve()
  await new Promise((resolve) => setImmediate(resolve))
  expect(lines).toEqual([])
})
