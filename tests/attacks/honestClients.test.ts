import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { type AttackedService, startAttackedService } from './attackedService.ts'

const MIB = 1024 * 1024
const READS = 230
/** Timeout of calls that wait for a turn. */
const PATIENCE_SECONDS = 10

let service: AttackedService
let requests: string
let requestId: number

/** A call whose answer is read and dropped. */
async function call(path: string, body?: object) {
  const startedAt = performance.now()
  const answer = await service.call(body === undefined ? 'GET' : 'POST', path, body)
  const { length } = await answer.bytes()
  const retryAfter = answer.headers.get('retry-after')
  return {
    status: answer.status,
    retryAfter: retryAfter === null ? null : Number(retryAfter),
    length,
    seconds: (performance.now() - startedAt) / 1000,
  }
}

const atOnce = <Result>(count: number, make: (at: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, at) => make(at)))

beforeAll(async () => {
  service = await startAttackedService()
  const { creel, attackedPath } = service
  const [endpointId] = attackedPath.split('/').slice(-1)
  requests = `/api/v1/endpoints/${endpointId}/requests`
  const url = `${creel.captureUrl}${attackedPath}`
  expect((await fetch(url, { method: 'POST', body: 'x'.repeat(2 * MIB) })).status).toBe(200)
  const listed = await service.call('GET', requests)
  const Listed = z.looseObject({ items: z.array(z.looseObject({ id: z.int() })) })
  requestId = Listed.parse(await listed.json()).items[0]?.id ?? 0
})

afterAll(() => service.stop())

describe('a client within its budget that asks for much at once is served, while a bystander notices nothing:', () => {
  test('long bodies are read one after the other, and who would wait too long hears how long', async () => {
    const readAlone = () => call(`${requests}/${requestId}?bodyBytesMax=${3 * MIB - 1}`)
    const alone = await readAlone()
    await service.attackedBy(async () => {
      // Each call has another limit, so that no two share a read.
      const answers = await atOnce(READS, (at) =>
        call(`${requests}/${requestId}?bodyBytesMax=${3 * MIB + at}`),
      )
      const refused = answers.filter(({ status }) => status !== 200)
      for (const { status, length } of answers) if (status === 200) expect(length).toBeGreaterThan(2 * MIB)
      const served = READS - refused.length
      // A quarter of what this machine reads in the time, unless it is fast. It may have become busy meanwhile.
      const aloneSeconds = Math.max(alone.seconds, (await readAlone()).seconds)
      expect(served).toBeGreaterThan(Math.min(READS / 10, PATIENCE_SECONDS / aloneSeconds / 4))
      const wholeSeconds = (READS / served) * PATIENCE_SECONDS
      for (const { status, retryAfter, seconds } of refused) {
        // A call is refused at once if the line is too long, else after its wait. Wait and Retry-After together are
        // bounded.
        expect(status).toBe(429)
        expect(seconds + Number(retryAfter)).toBeWithin(PATIENCE_SECONDS - 1, wholeSeconds * 4)
      }
    })
  })

  test('pollers, with filters and without, and previews', () =>
    service.attackedBy(async () => {
      const sample = {
        rule: { version: 1, name: 'A', steps: [{ op: 'set', path: 'headers.X-A', value: 'b' }] },
        sample: {},
      }
      const statuses = await Promise.all([
        atOnce(24, (at) => call(`${requests}?afterId=${requestId - 1}&pageSize=${at + 1}`)),
        atOnce(100, (at) =>
          call(`${requests}?method=POST&afterId=${requestId - 1}&pageSize=${(at % 100) + 1}`),
        ),
        atOnce(30, () => call('/api/v1/transformations/preview', sample)),
      ])
      expect(new Set(statuses.flat().map(({ status }) => status))).toEqual(new Set([200]))
    }))
})
