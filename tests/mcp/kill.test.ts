import { expect, test } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { createTestDatabase } from '../support/database.ts'
import { startEcho } from '../support/echo.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/freePort.ts'
import { type ProcessOptions, startProcess, TEST_SECRET_KEY, temporaryFolder } from '../support/process.ts'
import { clientOf } from '../support/processClient.ts'

/** More by hand: `CREEL_EVENTS=1000 bun run test tests/mcp/kill.test.ts`. */
const EVENTS = Number(process.env.CREEL_EVENTS ?? '40')

const Event = z.looseObject({ eventId: z.string(), cursor: z.string().optional() })
const Page = z.looseObject({ events: z.array(Event), cursor: z.string(), truncated: z.boolean() })
const Said = z.looseObject({ cursor: z.string(), truncated: z.boolean().optional() })

test('polls, streams and callbacks see every event once the service was killed, and none is truncated', async () => {
  const port = await freePort()
  const options = await optionsFor(port)
  let service = await startProcess(options)
  const client = await clientOf(service, options, 'self-hosted')
  const endpoint = await client.endpoint({ name: 'kill' })
  await client.get('/api/v1/events/types')
  const name = 'kill.any'
  const connected = async () => {
    const mcp = new McpClient({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
    const requestInit = { headers: { Authorization: `Bearer ${client.key}` } }
    await mcp.connect(new StreamableHTTPClientTransport(new URL(`${service.baseUrl}/mcp`), { requestInit }))
    return mcp
  }
  const poll = async (cursor: string | null) => {
    const mcp = await connected()
    const page = await mcp.request({ method: 'events/poll', params: { name, cursor } }, Page)
    await mcp.close()
    return page
  }
  await using callback = await startEcho()
  const delivery = { mode: 'webhook', url: callback.url, secret: `whsec_${'c2VjcmV0'.repeat(4)}` }
  const Subscribed = z.looseObject({ id: z.string(), truncated: z.boolean() })
  const subscribe = async () => {
    const mcp = await connected()
    const params = { name, cursor: null, delivery, ttlMs: 3_600_000 }
    const answer = await mcp.request({ method: 'events/subscribe', params }, Subscribed)
    await mcp.close()
    return answer
  }
  const { id } = await subscribe()
  const { cursor: start } = await poll(null)
  const streamed: string[] = []
  let streamCursor = start
  let isTruncated = false
  const stream = async () => {
    const mcp = await connected()
    const hangUp = new AbortController()
    mcp.setNotificationHandler('notifications/events/active', { params: Said }, ({ truncated }) => {
      isTruncated ||= truncated === true
    })
    mcp.setNotificationHandler(
      'notifications/events/event',
      { params: Event },
      ({ eventId, cursor = '' }) => {
        streamed.push(eventId)
        streamCursor = cursor
      },
    )
    const params = { name, cursor: streamCursor }
    const ended = mcp
      .request({ method: 'events/stream', params }, z.looseObject({}), {
        signal: hangUp.signal,
        timeout: 600_000,
      })
      .catch(() => undefined)
    return async () => {
      hangUp.abort('enough')
      await ended
      await mcp.close().catch(() => undefined)
    }
  }

  const hangUp = await stream()
  const capture = async () => (await endpoint.captureMany(EVENTS / 2)).map((row) => `req_${row.id}`)
  const first = await capture()
  await callback.take(Math.min(10, first.length))
  const polled = await poll(start)
  service.signal('SIGKILL')
  await service.exited
  await hangUp()
  service = await startProcess(options)
  const stop = await stream()
  const wanted = [...first, ...(await capture())].sort()

  const seenByPoll = polled.events.map(({ eventId }) => eventId)
  for (let { cursor } = polled; seenByPoll.length < EVENTS; ) {
    const page = await poll(cursor)
    seenByPoll.push(...page.events.map(({ eventId }) => eventId))
    isTruncated ||= page.truncated
    cursor = page.cursor
  }
  expect(seenByPoll.toSorted()).toEqual(wanted)
  await eventually('all events on the stream', () => streamed.length >= EVENTS)
  expect([...new Set(streamed)].sort()).toEqual(wanted)
  const sent = () => {
    const bodies = callback.received.map(({ body }) => Event.partial().parse(JSON.parse(body.toString())))
    return [...new Set(bodies.flatMap(({ eventId }) => eventId ?? []))].sort()
  }
  // Attempts that were under way when the process was killed are repeated when their leases end.
  await eventually('all events at the callback', () => sent().length === EVENTS)
  expect(sent()).toEqual(wanted)
  expect(isTruncated).toBe(false)
  expect(await subscribe()).toMatchObject({ id, truncated: false })
  await stop()
  await service.stop()
})

async function optionsFor(port: number): Promise<ProcessOptions> {
  const folder = await temporaryFolder()
  const plans = join(folder, 'plans.json')
  await writeFile(plans, '{}')
  return {
    database: await createTestDatabase(),
    cwd: folder,
    env: {
      CREEL_PORT: String(port),
      CREEL_SECRET_KEY: TEST_SECRET_KEY,
      CREEL_PLANS_FILE: plans,
      CREEL_ALLOW_DESTINATIONS: '127.0.0.1',
    },
  }
}
