/** Scripted and relayed answers over several processes, and through the death of one. */
import { expect, test } from 'bun:test'
import { openDatabase } from '@creel/core'
import { sql } from 'kysely'
import { z } from 'zod'
import { Client } from '../support/client.ts'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { type ProcessOptions, startProcess, TEST_SECRET_KEY } from '../support/process.ts'
import { clientOf } from '../support/processClient.ts'
import { startReceiver } from '../support/receiver.ts'

const CONNECTIONS = 64
const TIMES = 100

const WithId = z.looseObject({ id: z.string() })
const Requests = z.looseObject({
  items: z.array(
    z.looseObject({
      id: z.int(),
      state: z.string(),
      duplicateOf: z.int().nullable(),
      answeredBy: z.looseObject({ kind: z.string(), note: z.string().nullable() }).nullable(),
    }),
  ),
})

async function installation() {
  const database = await createTestDatabase()
  const options: ProcessOptions = {
    database,
    env: {
      CREEL_SECRET_KEY: TEST_SECRET_KEY,
      CREEL_ALLOW_DESTINATIONS: '127.0.0.1',
      CREEL_RETRY_SCHEDULE: Array(40).fill('50ms').join(','),
    },
  }
  const first = await startProcess(options)
  return { database, options, first, client: await clientOf(first, options, 'self-hosted') }
}

test('two gateways answer exactly as often as a response may', async () => {
  const { options, first, client } = await installation()
  const second = await startProcess(options, ['--only', 'gateway'])
  const endpoint = await client.endpoint({ responses: [{ status: 500, times: TIMES }, { status: 201 }] })
  const urls = [first, second].map(({ captureUrl }) => `${captureUrl}/hook/${endpoint.id}`)
  const seen: number[] = []
  const sender = async (url: string) => {
    for (let sent = 0; sent < 5; sent++) seen.push((await fetch(url, { method: 'POST', body: '{}' })).status)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, (_one, index) => sender(urls[index % 2] ?? '')))
  expect(seen.filter((status) => status === 500)).toHaveLength(TIMES)
  expect(seen.filter((status) => status === 201)).toHaveLength(CONNECTIONS * 5 - TIMES)
  await first.stop()
  await second.stop()
})

test('a process that dies between commit and answer has stored and delivers the event once', async () => {
  const answering = Promise.withResolvers<void>()
  await using receiver = await startReceiver((_request, response) => {
    void answering.promise.then(() => response.end('done'))
  })
  const { options, first, client } = await installation()
  const endpoint = await client.endpoint({
    eventIdPath: 'body.id',
    dedupe: { by: 'event', windowSeconds: 3600, then: 'skip' },
  })
  const action = await client.expect(
    client.post(endpoint.at('/actions'), { kind: 'forward', url: receiver.url }),
    WithId,
  )
  await client.expect(
    client.patch(endpoint.at(''), { answerFrom: { actionId: action.id, timeoutMs: 10_000 } }),
    WithId,
  )
  const body = '{"id":"evt_1"}'
  const lost = fetch(endpoint.url, { method: 'POST', body }).catch(() => 'lost')
  await receiver.take(1)
  first.signal('SIGKILL')
  expect(await lost).toBe('lost')

  // The second attempt of the event is under way, and the sender's retry waits for the first, which has ended.
  const again = await startProcess(options)
  const later = new Client(again.baseUrl, again.captureUrl, client.key, client.workspaceId)
  await receiver.take(2)
  const retried = await fetch(`${again.captureUrl}/hook/${endpoint.id}`, { method: 'POST', body })
  expect(retried.status).toBe(200)
  const requests = async () => (await later.expect(later.get(endpoint.at('/requests')), Requests)).items
  await eventually('the note', async () => (await requests())[0]?.answeredBy !== null)
  // Not the timeout, and not the end of the second attempt.
  expect((await requests())[0]?.answeredBy).toMatchObject({ kind: 'fallback', note: 'no_response' })
  answering.resolve()
  await eventually('the delivery', async () => (await requests()).some(({ state }) => state === 'Succeeded'))
  const [duplicate, stored] = await requests()
  expect(duplicate).toMatchObject({ state: 'Skipped', duplicateOf: stored?.id })
  // The attempt that the process had begun, and the one that succeeded.
  expect(receiver.received).toHaveLength(2)
  await again.stop()
})

test('a use that was counted by a process that died is not given again', async () => {
  const { database, options, first, client } = await installation()
  const endpoint = await client.endpoint({
    responses: [{ status: 500, times: 2, delayMs: 30_000 }, { status: 202 }],
  })
  const Shown = z.looseObject({ responses: z.array(z.looseObject({ used: z.int().nullable() })) })
  const usedIn = async (of: Client) => (await of.expect(of.get(endpoint.at('')), Shown)).responses[0]?.used
  const lost = fetch(endpoint.url, { method: 'POST', body: '{}' }).catch(() => 'lost')
  await eventually('the use', async () => (await usedIn(client)) === 1)
  first.signal('SIGKILL')
  expect(await lost).toBe('lost')

  // The other use need not be as late.
  const { db, close } = openDatabase(database.url, 1)
  await sql`update endpoints set responses = replace(responses, '30000', '1') where id = ${endpoint.id}`.execute(
    db,
  )
  await close()
  const again = await startProcess(options)
  const later = new Client(again.baseUrl, again.captureUrl, client.key, client.workspaceId)
  expect(await usedIn(later)).toBe(1)
  const statuses = []
  for (let sent = 0; sent < 3; sent += 1) {
    const answer = await fetch(`${again.captureUrl}/hook/${endpoint.id}`, { method: 'POST', body: '{}' })
    statuses.push(answer.status)
  }
  expect(statuses).toEqual([500, 202, 202])
  const { items } = await later.expect(later.get(endpoint.at('/requests')), Requests)
  expect(items).toHaveLength(4)
  await again.stop()
})
