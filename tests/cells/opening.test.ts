import { expect, test } from 'bun:test'
import { startCells } from '../support/cells.ts'
import { Client } from '../support/client.ts'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startFar } from '../support/far.ts'
import { startProcess } from '../support/process.ts'

test('while a cell opens, the program is not ready, and callers of the cell wait', async () => {
  const far = await startFar(await createTestDatabase(), 0)
  const { env, cells } = await startCells([await createTestDatabase(), far])
  const [, cell] = cells
  if (cell === undefined) throw new Error('There is no second cell.')
  // The cell opens only once the program was seen to be not ready.
  far.path.isSilent = true
  const late = await startProcess({ env: { ...env, CREEL_GATEWAYS: '1' } })
  const owner = new Client(late.baseUrl, late.captureUrl, cell.owner.key, cell.owner.workspaceId)
  const url = `${late.captureUrl}${new URL(cell.oldUrl).pathname}`
  const calls = Promise.all([
    patient(() => fetch(url, { method: 'POST' })),
    patient(() => owner.get('/api/v1/me')),
  ])
  const ready = await fetch(`${late.baseUrl}/readyz`)
  expect([ready.status, await ready.text()]).toEqual([
    503,
    expect.stringContaining('"cell cell-2":"opening"'),
  ])
  far.path.isSilent = false
  expect(await calls).toEqual(['answered', 'answered'])
  await eventually('the end of the start', async () => (await fetch(`${late.baseUrl}/readyz`)).status === 200)
})

/** Whether a caller was answered, or at least not refused before it had waited as long as callers do. */
async function patient(call: () => Promise<{ readonly status: number }>): Promise<string> {
  const beganAt = performance.now()
  const { status } = await call()
  const hasWaited = performance.now() - beganAt > 4_900
  return status === 200 || hasWaited ? 'answered' : `${status} at once`
}
