import { expect, test } from 'bun:test'
import { CONNECTION_FIELDS } from '@creel/core/engine/words'
import { retentionMs } from '@creel/core/plans'
import { backoffMs, DAY_MS } from '@creel/core/platform/time'
import * as client from 'creel-client'
import { longRetention } from '../../creel/src/longRetention.ts'

/** Values that two packages have, since they must not import each other, are the same. */

test('the fields of a connection are those of the client', () => {
  expect([...client.CONNECTION_FIELDS].sort()).toEqual([...CONNECTION_FIELDS].sort())
})

test('waits grow as those of the client', () => {
  for (const of of [
    { first: 100, max: 1_000 },
    { first: 250, max: 30_000 },
  ])
    for (const failures of [0, 1, 2, 5, 40, 2_000])
      expect(client.backoffMs(of, failures)).toBe(backoffMs(of, failures))
})

test('program and console tell of the longest retention that there is', async () => {
  const days = retentionMs({ retentionDays: Number.MAX_SAFE_INTEGER }) / DAY_MS
  expect(longRetention('team', 10 * days)?.found).toContain(` ${Math.floor(days / 365)} years `)
  const page = await Bun.file(new URL('../../console/src/requests/FirstRun.tsx', import.meta.url)).text()
  expect(Number(/^const DAYS_MAX = ([\d_]+)$/m.exec(page)?.[1]?.replaceAll('_', ''))).toBe(days)
})
