import { expect, test } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createMCPClient, experimental_createMCPEventWebhook as createWebhook } from '@ai-sdk/mcp'
import { newAuthority } from '../support/certificates.ts'
import { createTestDatabase } from '../support/database.ts'
import { memoryStore } from '../support/eventStore.ts'
import { startProcess, temporaryFolder } from '../support/process.ts'

test('the client of the AI SDK is sent events over https, by a certificate that the service trusts', async () => {
  const authority = await newAuthority()
  const { certificate, key } = await authority.issue('callback', 10)
  const file = join(await temporaryFolder(), 'ca.pem')
  await writeFile(file, authority.certificate)
  const creel = await startProcess({
    database: await createTestDatabase(),
    env: { CREEL_ALLOW_DESTINATIONS: '127.0.0.0/8,localhost', NODE_EXTRA_CA_CERTS: file },
  })
  const store = memoryStore()
  const arrived = Promise.withResolvers<unknown>()
  const webhook = createWebhook({ store, onEvent: async ({ event }) => arrived.resolve(event) })
  const receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: { cert: certificate, key },
    fetch: (request) => webhook(request),
  })
  const client = await createMCPClient({
    transport: {
      type: 'http',
      url: `${creel.baseUrl}/mcp`,
      headers: { Authorization: `Bearer ${creel.first?.key}` },
    },
    experimental_events: { store },
  })
  const { events } = await client.experimental_events.list()
  await client.experimental_events.subscribe({
    name: events[0]?.name ?? '',
    delivery: { mode: 'webhook', url: `https://localhost:${receiver.port}/hooks` },
    ttlMs: 600_000,
  })
  const sent = await fetch(creel.first?.captureUrl ?? '', { method: 'POST', body: '{"amount":1}' })
  expect(sent.status).toBe(200)
  expect(await arrived.promise).toMatchObject({ eventId: 'req_1' })
  await client.close()
  await receiver.stop(true)
  await creel.stop()
})
