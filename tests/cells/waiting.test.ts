import { afterAll, beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import { type CellsProgram, startCells } from '../support/cells.ts'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { runCreel } from '../support/process.ts'

/** Calls that wait while their workspace moves to another cell. */

const Types = z.object({ events: z.array(z.looseObject({ name: z.string() })) })

/** Repeats a call, as a good client does, until its answer has a text. @returns the statuses */
async function repeated(call: () => Promise<{ status: number; text: string }>, wanted: string) {
  const statuses: number[] = []
  for (;;) {
    const { status, text } = await call()
    statuses.push(status)
    if (text.includes(wanted)) return statuses
    // The pace of a client.
    await Bun.sleep(100)
  }
}

let program: CellsProgram

beforeAll(async () => {
  program = await startCells(await Promise.all([createTestDatabase(), createTestDatabase()]))
})

afterAll(async () => {
  await program.process.stop()
})

test('a call that waits is to be sent again, and a stream of events for an agent goes on', async () => {
  const { env, process } = program
  const [{ owner } = { owner: undefined }] = program.cells
  if (owner === undefined) throw new Error('There are no cells.')
  const endpoint = await owner.endpoint({ name: 'waits' })
  const types = await owner.expect(owner.get('/api/v1/events/types'), Types)
  const name = types.events.find((type) => type.name.startsWith('waits'))?.name
  const found = Promise.all([
    repeated(() => owner.get(endpoint.at('/requests/await?afterId=0&timeoutSeconds=60')), '"id"'),
    repeated(() => owner.post('/api/v1/events/poll', { name, cursor: '0', waitSeconds: 20 }), '"eventId"'),
  ])
  const hangUp = new AbortController()
  const streamed = await fetch(`${process.baseUrl}/mcp`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${owner.key}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2025-11-25',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'events/stream', params: { name } }),
    signal: hangUp.signal,
  })
  let said = ''
  const reading = (async () => {
    const decoder = new TextDecoder()
    for await (const piece of streamed.body ?? []) said += decoder.decode(piece)
  })().catch(() => undefined)
  await eventually('the stream', () => Promise.resolve(said.includes('events/active')))
  const moved = await runCreel(['workspaces', 'move', owner.workspaceId, '--to', 'cell-2'], { env })
  expect(moved.exitCode).toBe(0)
  await eventually('the workspace', async () => (await owner.get('/api/v1/endpoints')).status === 200)
  await endpoint.capture()
  for (const statuses of await found) {
    expect(statuses).not.toContain(401)
    expect(statuses).not.toContain(404)
  }
  await eventually('the event', () => Promise.resolve(said.includes('events/event')))
  expect(said).not.toContain('events/terminated')
  hangUp.abort()
  await reading
})
