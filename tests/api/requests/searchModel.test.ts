import { beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { z } from 'zod'
import { containsText } from '../../../core/src/requests/search.ts'
import { cheapestShortcut, type Shortcut } from '../../../core/src/requests/searchShortcut.ts'
import type { TestEndpoint } from '../../support/client.ts'
import { startService, type TestService } from '../../support/service.ts'

/** Bytes of a body that are searched. */
const SEARCHED = 262_144

/** Letters whose cases meet in other letters, or in none; the Kelvin sign and the dotted capital I meet in ASCII. */
const letter = fc.constantFrom(...'kK\u212aiI\u0130ısSſßéÉΣσς😀中%_\\ ')
const text = fc.string({ unit: letter, minLength: 1, maxLength: 6 })
const body = fc.oneof(
  { weight: 20, arbitrary: text },
  { weight: 1, arbitrary: text.map((end) => `${'x'.repeat(SEARCHED - 4)}${end}`) },
)
const sender = fc.record({
  body,
  suffix: fc.string({ unit: fc.constantFrom(...'kKiIs'), maxLength: 3 }).map((path) => `/${path}?q=${path}`),
  headers: fc.record({ 'X-Name': fc.string({ unit: fc.constantFrom(...'kKiIsS%_'), maxLength: 4 }) }),
})

const Detail = z.object({
  id: z.int(),
  path: z.string(),
  queryString: z.string().nullable(),
  rawHeaders: z.array(z.object({ value: z.string() })),
  body: z.string().nullable(),
})

let endpoint: TestEndpoint
let db: TestService['db']
/** Every stored request, and its searched parts in lower case. */
let stored: readonly { readonly id: number; readonly searched: readonly string[] }[]

beforeAll(async () => {
  const service = await startService({ limits: { apiRatePerMinute: 1_000_000 } })
  const { alice } = service
  db = service.db
  endpoint = await alice.endpoint({ name: 'search' })
  for (const sent of fc.sample(sender, { numRuns: 90, seed: 20261121 })) await endpoint.send(sent)
  stored = await Promise.all(
    (await endpoint.requests('pageSize=100')).map(async ({ id }) => ({
      id,
      searched: searchedParts(await alice.expect(alice.get(endpoint.at(`/requests/${id}`)), Detail)),
    })),
  )
})

describe('the filter q', () => {
  test('finds what a person would who ignores case', async () => {
    expect(stored).toHaveLength(90)
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: letter, minLength: 1, maxLength: 3 }), async (q) => {
        const found = await endpoint.requests(`pageSize=100&q=${encodeURIComponent(q)}`)
        expect(found.map(({ id }) => id)).toEqual(
          stored
            .filter(({ searched }) => searched.some((part) => part.includes(inLowerCase(q))))
            .map(({ id }) => id),
        )
      }),
      { numRuns: 120 },
    )
  })

  test('finds the same by a shortcut, whatever requests it was chosen by', async () => {
    const taken = { in: 0, out: 0 }
    const bodies = stored.flatMap(({ searched }) =>
      searched.filter((part) => part.length > 0 && part.length < 10),
    )
    const part = fc
      .tuple(fc.constantFrom(...bodies), fc.nat(4))
      .map(([body, from]) => [...body].slice(from).join('') || body)
    await fc.assert(
      fc.asyncProperty(part, fc.oneof(text, fc.constant('')), async (q, sample) => {
        // An empty sample is replaced by the text that is searched.
        const shortcut = cheapestShortcut(q, [[Buffer.from(sample || q)]])
        if (shortcut === undefined) return
        taken[shortcut.rules] += 1
        const found = await idsWith(q, shortcut)
        expect(found).toEqual(await idsWith(q))
        expect(found).not.toEqual([])
      }),
      { numRuns: 80 },
    )
    expect(Math.min(taken.in, taken.out)).toBeGreaterThan(10)
  })

  test('finds the same from a cursor, whatever note a caller writes into it', async () => {
    const note = fc.oneof(
      fc.constantFrom('given', 'lower', 'none', 'other'),
      fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 4 })).map(([from, length]) => `${from}.${length}`),
      fc.stringMatching(/^[\w.-]{1,16}$/),
    )
    const start = Number.MAX_SAFE_INTEGER
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: letter, minLength: 1, maxLength: 4 }), note, async (q, written) => {
        const cursor = Buffer.from(`${start} ${written}`, 'latin1').toString('base64url')
        const query = `pageSize=100&q=${encodeURIComponent(q)}`
        const found = await endpoint.requests(`${query}&before=${cursor}`)
        expect(found.map(({ id }) => id)).toEqual((await endpoint.requests(query)).map(({ id }) => id))
      }),
      { numRuns: 60 },
    )
  })
})

async function idsWith(q: string, shortcut?: Shortcut): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select r.id from requests r where ${containsText(q, shortcut)} order by r.id`.execute(db)
  return rows.map(({ id }) => id)
}

function searchedParts({ path, queryString, rawHeaders, body }: z.output<typeof Detail>): string[] {
  const parts = [path, queryString ?? '', ...rawHeaders.map(({ value }) => value), prefixOf(body ?? '')]
  return parts.map(inLowerCase)
}

/** The searched prefix, in whole characters: one that the limit cuts is not searched. */
function prefixOf(text: string): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, SEARCHED), { stream: true })
}

/** Lower case by Unicode's simple mapping, one letter for one. */
function inLowerCase(text: string): string {
  return [...text].map((each) => (each === '\u0130' ? 'i' : each.toLowerCase())).join('')
}
