import { expect, test } from 'bun:test'
import { createTestDatabase } from '../support/database.ts'
import { startProcess } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'

test('CREEL_DISPATCH=off captures and sends nothing; the next start sends what has waited', async () => {
  await using receiver = await startReceiver()
  const database = await createTestDatabase()
  const env = { CREEL_ALLOW_DESTINATIONS: '127.0.0.0/8' }
  const held = await startProcess({ database, env: { ...env, CREEL_DISPATCH: 'off' } })
  expect(held.lines.at(-2)).toBe('creel dispatch off')
  const readiness = await fetch(`${held.baseUrl}/readyz`)
  expect(readiness.status).toBe(200)
  expect(await readiness.json()).toMatchObject({ status: 'ready', dispatch: expect.stringMatching(/^off/) })

  const { key = '', captureUrl = '' } = held.first ?? {}
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  const endpoint = `/api/v1/endpoints/${captureUrl.slice(captureUrl.lastIndexOf('/') + 1)}`
  const action = JSON.stringify({ kind: 'forward', url: receiver.url })
  const made = await fetch(`${held.baseUrl}${endpoint}/actions`, { method: 'POST', headers, body: action })
  expect(made.status).toBe(201)
  expect((await fetch(captureUrl, { method: 'POST', body: 'held' })).status).toBe(200)
  const listed = await (await fetch(`${held.baseUrl}${endpoint}/requests`, { headers })).json()
  expect(listed).toMatchObject({ items: [{ state: 'Pending', attemptCount: 0 }] })
  // A stop finishes the attempts in flight. There are none.
  expect(await held.stop()).toBe(0)
  expect(receiver.received).toHaveLength(0)

  const sending = await startProcess({ database, env })
  expect((await receiver.take(1))[0]?.body.toString()).toBe('held')
  expect(sending.lines).not.toContain('creel dispatch off')
  expect(await sending.stop()).toBe(0)
  await database.drop()
})
