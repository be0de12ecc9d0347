import { beforeAll, describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { sql } from 'kysely'
import { z } from 'zod'
import type { TestEndpoint } from '../../support/client.ts'
import { startService, type TestService } from '../../support/service.ts'

const Item = z.looseObject({ id: z.int(), bodyPreview: z.string().nullable() })
const BODY_BYTES_MAX = 1_003

let service: TestService

beforeAll(async () => {
  service = await startService({
    limits: { apiRatePerMinute: 1_000_000, payloadBytesMax: BODY_BYTES_MAX },
    parts: ['gateway'],
  })
})

const firstOf = (text: string) => [...text].slice(0, 200).join('') || null

/** Bodies with the preview that each must have. */
const cases = () => {
  const text = fc
    .string({ unit: fc.constantFrom(...'aé€😀"{\n\u0301\ufeff '), maxLength: 320 })
    .filter((made) => Buffer.byteLength(made) <= BODY_BYTES_MAX)
  const texts = fc.sample(text, { numRuns: 40, seed: 7 })
  const plain = texts.map((body) => ({ body: Buffer.from(body), encoded: false, preview: firstOf(body) }))
  const encoded = texts.slice(0, 10).map((body) => ({
    body: gzipSync(body),
    encoded: true,
    preview: firstOf(body),
  }))
  const binary = { body: Buffer.from([255, 1, 2, 3]), encoded: false, preview: null }
  const zero = { body: Buffer.from('with\0zero'), encoded: false, preview: null }
  // The limit cuts a character.
  const cut = {
    body: Buffer.from(`${'x'.repeat(BODY_BYTES_MAX - 2)}€`),
    encoded: false,
    preview: 'x'.repeat(200),
  }
  return [...plain, ...encoded, binary, zero, cut]
}

async function previewsIn(endpoint: TestEndpoint): Promise<ReadonlyMap<number, string | null>> {
  const previews = new Map<number, string | null>()
  for (const query of ['pageSize=100', 'pageSize=100&order=asc', 'pageSize=100&method=post']) {
    const page = await service.alice.expect(
      service.alice.get(endpoint.at(`/requests?${query}`)),
      z.looseObject({ items: z.array(Item) }),
    )
    for (const { id, bodyPreview } of page.items) {
      if (previews.has(id)) expect(bodyPreview).toBe(previews.get(id) ?? null)
      previews.set(id, bodyPreview)
    }
  }
  return previews
}

describe('the preview of a body', () => {
  test.each([false, true])(
    'is its first 200 characters, as it is read, and is not stored (sealed: %p)',
    async (encryptBodies) => {
      const endpoint = await service.alice.endpoint({ encryptBodies })
      const expected = new Map<number, string | null>()
      for (const { body, encoded, preview } of cases()) {
        const headers = encoded ? { 'Content-Encoding': 'gzip' } : {}
        const { id } = await endpoint.capture({ body, headers })
        expected.set(id, preview)
      }
      expect(await previewsIn(endpoint)).toEqual(expected)
      const [first = 0] = expected.keys()
      const detail = await service.alice.expect(service.alice.get(endpoint.at(`/requests/${first}`)), Item)
      expect(detail.bodyPreview).toBe(expected.get(first) ?? null)
      const { rows } = await sql<{ stored: number }>`
        select count(body_preview)::int as stored from requests where endpoint_id = ${endpoint.id}::uuid`.execute(
        service.db,
      )
      expect(rows[0]?.stored).toBe(0)
    },
  )

  test('of an earlier version is what it stored', async () => {
    const endpoint = await service.alice.endpoint()
    const { id } = await endpoint.capture({ body: 'a body' })
    await sql`update requests set body_preview = 'as it was' where id = ${id}`.execute(service.db)
    expect(await previewsIn(endpoint)).toEqual(new Map([[id, 'as it was']]))
  })
})
