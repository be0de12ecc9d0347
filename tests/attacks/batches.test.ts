import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { ATTACKER, type AttackedService, startAttackedService } from './attackedService.ts'

/** Stored bodies: JSON just short enough to be parsed, and one that is long. */
const PARSED = { count: 30, bytes: 1_000_000 }
const LONG_BYTES = 20_000_000
const BATCH = 20
const ATTACK_MS = 1_200

let service: AttackedService
let key: string
let endpointId: string
let longId: number

const call = (path: string, init: RequestInit = {}) =>
  fetch(`${service.creel.baseUrl}${path}`, {
    ...init,
    headers: {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      'X-Forwarded-For': ATTACKER,
    },
  })

beforeAll(async () => {
  service = await startAttackedService()
  key = service.attackersKey
  const made = await call('/api/v1/endpoints', { method: 'POST', body: '{}' })
  endpointId = z.looseObject({ id: z.string() }).parse(await made.json()).id
  const capture = (body: string) =>
    fetch(`${service.creel.captureUrl}/hook/${endpointId}`, { method: 'POST', body })
  const members = Array.from({ length: PARSED.bytes / 10 }, (_, at) => at).join(',')
  const parsed = `{"list":[${members.slice(0, PARSED.bytes).replace(/,\d*$/, '')}]}`
  for (let count = 0; count < PARSED.count; count += 1) expect((await capture(parsed)).status).toBe(200)
  expect((await capture('x'.repeat(LONG_BYTES))).status).toBe(200)
  const listed = await call(`/api/v1/endpoints/${endpointId}/requests?pageSize=1`)
  const { items } = z
    .looseObject({ items: z.array(z.looseObject({ id: z.int() })) })
    .parse(await listed.json())
  longId = items[0]?.id ?? 0
  const readKey = await call('/api/v1/keys', {
    method: 'POST',
    body: JSON.stringify({ name: 'reads', scope: 'read' }),
  })
  key = z.looseObject({ key: z.string() }).parse(await readKey.json()).key
})

afterAll(() => service.stop())

/** Sends a batch of twenty, and hangs up after some seconds when it is not answered by then. */
async function batchOf(procedure: string, input: object): Promise<void> {
  const inputs = Object.fromEntries(Array.from({ length: BATCH }, (_, at) => [at, input]))
  const path = `/trpc/${Array.from({ length: BATCH }, () => procedure).join(',')}?batch=1`
  const signal = AbortSignal.timeout(ATTACK_MS)
  const init = { method: 'POST', body: JSON.stringify(inputs), signal }
  const answer = await call(path, init).catch(() => undefined)
  // The time may also be over in the middle of an answer.
  await answer?.bytes().catch(() => undefined)
  expect([200, 207, undefined]).toContain(answer?.status)
}

describe('an innocent bystander notices nothing of a key that may only read and sends batches of', () => {
  test('conditions that are tried on megabytes', () =>
    service.attackedBy(() =>
      batchOf('conditions.try', {
        endpointId,
        condition: { all: [{ path: 'body.list[*].x', op: 'eq', value: 'nothing' }] },
        last: 500,
      }),
    ))

  test('signatures that are tried on a long body', () =>
    service.attackedBy(() =>
      batchOf('verification.try', {
        endpointId,
        requestId: longId,
        provider: 'github',
        signingSecret: 'secret',
      }),
    ))

  test('rules that are tried on a long body', () =>
    service.attackedBy(() =>
      batchOf('transformations.preview', {
        endpointId,
        requestId: longId,
        rule: { version: 1, name: 'None', steps: [{ op: 'set', path: 'headers.X-A', value: 'b' }] },
      }),
    ))
})
