import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { type AttackedService, forwarded, startAttackedService } from './attackedService.ts'

const BODY_BYTES = 15_000_000
const CAPTURES = 3
const KEYS = 3
/** Streams that a key may hold open at once. */
const STREAMS = 8

let service: AttackedService
let endpointId: string
const keys: string[] = []

const call = async (path: string, body: object) => {
  const answer = await service.call('POST', path, body)
  return z.looseObject({ id: z.string(), key: z.string().optional() }).parse(await answer.json())
}

beforeAll(async () => {
  service = await startAttackedService()
  endpointId = (await call('/api/v1/endpoints', {})).id
  for (let count = 0; count < CAPTURES; count += 1) {
    const url = `${service.creel.captureUrl}/hook/${endpointId}`
    expect((await fetch(url, { method: 'POST', body: 'x'.repeat(BODY_BYTES) })).status).toBe(200)
  }
  for (let count = 0; count < KEYS; count += 1) {
    keys.push((await call('/api/v1/keys', { name: `reads ${count}`, scope: 'read' })).key ?? '')
  }
})

afterAll(() => service.stop())

/** Opens all streams that the keys may hold, and reads nothing of them. */
async function follow(path: string): Promise<void> {
  for (const key of keys) {
    const head = `GET ${path} HTTP/1.1\r\n${forwarded}Authorization: Bearer ${key}\r\nAccept: text/event-stream\r\n\r\n`
    for (const socket of service.many(STREAMS, head)) socket.pause()
  }
  await service.rounds(36)
}

describe('an innocent bystander notices nothing of followers that read nothing of captures with long bodies', () => {
  test('over REST', () =>
    service.attackedBy(() => follow(`/api/v1/endpoints/${endpointId}/requests/stream?whole=true&afterId=0`)))

  test('over tRPC', () => {
    const input = encodeURIComponent(JSON.stringify({ endpointId, whole: true, afterId: 0 }))
    return service.attackedBy(() => follow(`/trpc/requests.follow?input=${input}`))
  })
})
