import { afterAll, beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import { eventually } from '../support/eventually.ts'
import { ATTACKER, type AttackedService, startAttackedService } from './attackedService.ts'

/** Event subscriptions with conditions on long bodies, whose callback never answers after the challenge. */

const SUBSCRIPTIONS = 100
const CALLS_AT_ONCE = 10
const CAPTURES = 300
const BODY_BYTES = 100_000

let service: AttackedService
let callback: ReturnType<typeof Bun.serve>
let eventsHeld = 0

const Challenge = z.looseObject({ challenge: z.string().optional() })
const Types = z.object({ events: z.array(z.object({ name: z.string() })).min(1) })

beforeAll(async () => {
  callback = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const { challenge } = Challenge.parse(await request.json())
      if (challenge !== undefined) return Response.json({ challenge })
      eventsHeld += 1
      return await new Promise<Response>(() => {})
    },
  })
  service = await startAttackedService({ env: { CREEL_ALLOW_DESTINATIONS: '127.0.0.0/8' }, words: [] })
})

afterAll(async () => {
  await callback.stop(true)
  await service.stop()
})

test('an innocent bystander notices nothing of a hundred subscriptions to long captures that are never answered', async () => {
  const { events } = Types.parse(await (await service.call('GET', '/api/v1/events/types')).json())
  const name = events[0]?.name ?? ''
  const delivery = {
    mode: 'webhook',
    url: `http://127.0.0.1:${callback.port}/`,
    secret: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
  }
  const subscribe = (at: number) =>
    service.call('POST', '/api/v1/subscriptions', { name, arguments: { fields: [`body.f${at}`] }, delivery })
  // The check of the callback counts for the others.
  const statuses = new Set([(await subscribe(0)).status])
  for (let from = 1; from < SUBSCRIPTIONS; from += CALLS_AT_ONCE) {
    const some = await Promise.all(Array.from({ length: CALLS_AT_ONCE }, (_, at) => subscribe(from + at)))
    for (const { status } of some) statuses.add(status)
  }
  const text = 'x'.repeat(BODY_BYTES)
  const members = Array.from({ length: SUBSCRIPTIONS }, (_, at) => [`f${at}`, at])
  const body = JSON.stringify({ text, ...Object.fromEntries(members) })
  await service.attackedBy(async () => {
    for (let sent = 0; sent < CAPTURES; sent += CALLS_AT_ONCE) {
      const some = Array.from({ length: CALLS_AT_ONCE }, () =>
        fetch(`${service.creel.baseUrl}${service.attackedPath}`, {
          method: 'POST',
          headers: { 'X-Forwarded-For': ATTACKER, 'Content-Type': 'application/json' },
          body,
        }),
      )
      for (const answer of await Promise.all(some)) expect(answer.status).toBe(200)
    }
    await eventually('an event that is held', () => eventsHeld > 0)
  })
  expect([...statuses]).toContain(200)
})
