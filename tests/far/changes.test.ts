import { test } from 'bun:test'
import { startEndpointChanges } from '@creel/core/platform/changes'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startFar } from '../support/far.ts'

const ENDPOINT = '0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33'

test('a connection that loses every packet delays what a process tells the others, and no more', async () => {
  const warned: unknown[] = []
  const log = { warn: (...words: unknown[]) => void warned.push(words) }
  const far = await startFar(await createTestDatabase(), 1)
  const teller = startEndpointChanges(far.url, log)
  const hearer = startEndpointChanges(far.near.url, log)
  let heard = 0
  hearer.onAny((endpointId) => {
    if (endpointId === ENDPOINT) heard += 1
  })
  const isHeard = () =>
    eventually('a change that the other process hears of', () => {
      teller.announce([ENDPOINT])
      return heard > 0
    })
  await isHeard()
  far.path.lose()
  teller.announce([ENDPOINT])
  await eventually('the loss', () => warned.length > 0)
  heard = 0
  await isHeard()
  await Promise.all([teller.stop(), hearer.stop()])
})
