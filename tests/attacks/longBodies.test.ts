import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { eventually } from '../support/eventually.ts'
import { type AttackedService, startAttackedService } from './attackedService.ts'

/** Captures of long bodies, and their deliveries. */

const BODY = Buffer.alloc(16 * 1024 * 1024, 'é"x\n')
/** Limit for the processor time of one turn of the service's event loop. */
const BUSY_MS = 250
const CAPTURES = 5
const REPLAYS = 8

let service: AttackedService
let receiver: ReturnType<typeof Bun.serve>
/** Lengths of the bodies that were delivered. */
let received: number[] = []

beforeAll(async () => {
  receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      let length = 0
      for await (const piece of request.body ?? []) length += piece.length
      received.push(length)
      return new Response()
    },
  })
  service = await startAttackedService({ env: { CREEL_ALLOW_DESTINATIONS: '127.0.0.0/8' }, words: [] })
})

afterAll(async () => {
  await service.stop()
  await receiver.stop(true)
})

async function call(method: string, path: string, body?: object) {
  const answer = await service.call(method, `/api/v1/endpoints${path}`, body)
  expect(answer.status).toBeLessThan(300)
  return await answer.json()
}

async function endpoint(members: object): Promise<string> {
  return z.looseObject({ id: z.string() }).parse(await call('POST', '', members)).id
}

async function forward(endpointId: string, members: object): Promise<void> {
  received = []
  const url = `http://127.0.0.1:${receiver.port}/`
  await call('POST', `/${endpointId}/actions`, { kind: 'forward', name: 'A', url, ...members })
}

async function capture(endpointId: string): Promise<void> {
  const answer = await fetch(`${service.creel.captureUrl}/hook/${endpointId}`, { method: 'POST', body: BODY })
  expect(answer.status).toBe(200)
}

async function haveArrived(count: number): Promise<void> {
  await eventually('all deliveries', () => received.length === count)
  expect(new Set(received)).toEqual(new Set([BODY.length]))
}

describe('an innocent bystander notices nothing of', () => {
  test.each([
    ['as they are', {}],
    ['that are encrypted', { encryptBodies: true }],
  ])('captures of long bodies %s', async (_, members) => {
    const id = await endpoint(members)
    await service.attackedBy(async () => {
      for (let sent = 0; sent < CAPTURES; sent += 1) await capture(id)
    }, BUSY_MS)
  })

  test('deliveries that read long bodies again', async () => {
    const id = await endpoint({})
    // No first attempt of such an action is made by the process that captured.
    await forward(id, { delivery: { concurrency: 1 } })
    await service.attackedBy(async () => {
      for (let sent = 0; sent < CAPTURES; sent += 1) await capture(id)
      await haveArrived(CAPTURES)
    }, BUSY_MS)
  })

  test('replays of a long body', async () => {
    const id = await endpoint({})
    await forward(id, {})
    await service.attackedBy(async () => {
      await capture(id)
      const Listed = z.looseObject({ items: z.tuple([z.looseObject({ id: z.int() })]) })
      const [request] = Listed.parse(await call('GET', `/${id}/requests`)).items
      for (let sent = 0; sent < REPLAYS; sent += 1)
        await call('POST', `/${id}/requests/${request.id}/replay`, {})
      await haveArrived(1 + REPLAYS)
    }, BUSY_MS)
  })
})
