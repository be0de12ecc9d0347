import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { type AttackedService, startAttackedService } from './attackedService.ts'

const KIB = 1024
const MIB = 1024 * KIB
/** Limit for the processor time of one turn of the service's event loop. */
const BUSY_MS = 200
/** Short requests of the attacked endpoint. */
const MANY = 200

let service: AttackedService
let requests: string
/** Requests with a body of 8 MiB, of just under 1 MiB, and of 8 MiB. */
const ids: number[] = []

/** Requests of an endpoint that encrypts, and the id of one with a body of 8 MiB. */
let sealed: { readonly requests: string; readonly id: number }

/** Reads an answer and drops it. */
async function read(path: string, headers: Readonly<Record<string, string>> = {}) {
  const answer = await service.call('GET', path, undefined, headers)
  let length = 0
  for await (const chunk of answer.body ?? []) length += chunk.length
  return { status: answer.status, length, retryAfter: answer.headers.get('retry-after') }
}

const atOnce = <Result>(count: number, make: (at: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, at) => make(at)))

beforeAll(async () => {
  service = await startAttackedService()
  const { creel, attackedPath } = service
  const [endpointId] = attackedPath.split('/').slice(-1)
  requests = `/api/v1/endpoints/${endpointId}/requests`
  const capture = async (bytes: number, url = `${creel.captureUrl}${attackedPath}`) => {
    const body = JSON.stringify({ text: 'é"x\n'.repeat(bytes / 6) })
    expect((await fetch(url, { method: 'POST', body })).status).toBe(200)
  }
  const Listed = z.looseObject({ items: z.tuple([z.looseObject({ id: z.int() })], z.unknown()) })
  const newest = async (path: string) =>
    Listed.parse(await (await service.call('GET', path)).json()).items[0].id
  for (const bytes of [8 * MIB, 1000 * KIB, 8 * MIB]) {
    await capture(bytes)
    ids.push(await newest(requests))
  }
  const made = await service.call('POST', '/api/v1/endpoints', { encryptBodies: true })
  const endpoint = z.looseObject({ id: z.string() }).parse(await made.json())
  const path = `/api/v1/endpoints/${endpoint.id}/requests`
  await capture(8 * MIB, `${creel.captureUrl}/hook/${endpoint.id}`)
  sealed = { requests: path, id: await newest(path) }
  for (let at = 0; at < MANY; at += 50) await atOnce(50, () => capture(24 * KIB))
})

afterAll(() => service.stop())

describe('a client within its budget that reads much at once holds up no other workspace:', () => {
  test('exports', () =>
    service.attackedBy(async () => {
      const answers = await atOnce(24, () => read(`${requests}/export?includeSecrets=true`))
      const served = answers.filter(({ status }) => status === 200)
      expect(served.length).toBeGreaterThanOrEqual(2)
      for (const { length } of served) expect(length).toBeGreaterThan(4 * MIB)
      for (const { status, retryAfter } of answers)
        if (status !== 200) expect([status, Number(retryAfter) > 0]).toEqual([429, true])
    }, BUSY_MS))

  test.each([
    // Each call has another limit, so that no two share a read.
    ['bodies of just under a megabyte', 100, (at: number) => `/${ids[1]}?bodyBytesMax=${MIB + at}`],
    ['long bodies', 16, (at: number) => `/${ids[0]}?bodyBytesMax=${50 * MIB + at}`],
    ['downloads of long bodies', 16, () => `/${ids[0]}/body`],
  ])('%s', (_, count, path) =>
    service.attackedBy(async () => {
      const statuses = (await atOnce(count, (at) => read(requests + path(at)))).map(({ status }) => status)
      expect(statuses).toContain(200)
      expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([])
    }, BUSY_MS),
  )

  test('octets of sealed long bodies', () =>
    service.attackedBy(async () => {
      const path = `${sealed.requests}/${sealed.id}/body`
      const parts = await atOnce(60, (at) => read(path, { Range: `bytes=${at * 130_000}-${at * 130_000}` }))
      for (const { status, length } of parts) expect([status, length]).toEqual([206, 1])
    }, BUSY_MS))
})
