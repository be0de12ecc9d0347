import { beforeAll, expect, test } from 'bun:test'
import { ROUTES, type Route } from '@creel/core'
import fc from 'fast-check'
import { pino } from 'pino'
import { z } from 'zod'
import { type Audit, createAudit } from '../support/audit.ts'
import type { Answer } from '../support/client.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeWorld, pathOf, type World } from '../support/world.ts'

/**
 * A fuzzer driven by the served description: every operation with bodies and queries that are right, nearly right and
 * hostile. No answer is a 500, and each one matches the description. A failure prints its seed.
 */

const RUNS_EACH = Number(process.env.CREEL_FUZZ_RUNS ?? 25)
/** Calls without a body vary in ids and queries only. */
const RUNS_WITHOUT_BODY = Math.ceil(RUNS_EACH / 2)

let service: TestService
let audit: Audit
let world: World
let description: z.output<typeof Example>

/** Causes of internal_error, which only the log has. */
const errors: string[] = []

beforeAll(async () => {
  const log = pino({ level: 'error' }, { write: (line: string) => errors.push(line) })
  service = await startService({ log, limits: { apiRatePerMinute: 1_000_000 } })
  audit = await createAudit(service.alice)
  world = await makeWorld(service.alice)
  description = Example.parse((await service.alice.get('/openapi/v1.json')).body)
})

/** Text that is known to break programs. */
const hostileText = fc.oneof(
  fc.constantFrom(
    '',
    '\u0000',
    'a\u0000b',
    '\ud800',
    '__proto__',
    'constructor',
    "'; drop table requests; --",
    '%00',
    '../../etc/passwd',
    '\r\nSet-Cookie: a=b',
    '{{body.x}}',
    '{{',
    '💥'.repeat(60),
    'x'.repeat(70_000),
    '9007199254740993',
    '1e999',
    'NaN',
    '2026-02-31T25:61:00Z',
    '+275760-09-13T00:00:00.001Z',
    '0000-01-01T00:00:00Z',
    '-1',
    'http://127.0.0.1:9/a',
    'https://user:pass@example.com/#x',
    '[',
    'body.',
    'body["',
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
)

const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom(null, true, false, 0, -1, 1.5, 1e308, -0, 2 ** 53, 2 ** 31, 2 ** 63, [], {}, [[]], [null]),
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom({ __proto__: { admin: true } }, { '\ud800': 1 }, nested(100), nested(2000), wide(3000)),
)

/** JSON nested too deep for a recursive parser. */
function nested(depth: number): unknown {
  return JSON.parse('{"all":['.repeat(depth) + ']}'.repeat(depth))
}

function wide(members: number): unknown {
  return Object.fromEntries(Array.from({ length: members }, (_, index) => [`m${index}`, index]))
}

const Example = z.looseObject({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.looseObject({
        requestBody: z
          .looseObject({
            content: z.looseObject({
              // An import takes lines of JSON, which as a whole are not JSON.
              'application/json': z
                .looseObject({
                  example: z.record(z.string(), z.unknown()).catch({}),
                  schema: z.looseObject({ properties: z.record(z.string(), z.unknown()).catch({}) }),
                })
                .optional(),
            }),
          })
          .optional(),
      }),
    ),
  ),
})

/** A body like the example: some members unchanged, some missing, some hostile, some unknown. */
function bodies(example: Record<string, unknown>, names: readonly string[]): fc.Arbitrary<unknown> {
  const members = fc.record(
    Object.fromEntries(
      [...names, 'unknown'].map((name) => [
        name,
        fc.oneof(
          { weight: 5, arbitrary: fc.constant(example[name]) },
          { weight: 2, arbitrary: hostileValue },
          { weight: 1, arbitrary: mutated(example[name]) },
        ),
      ]),
    ),
    { requiredKeys: [] },
  )
  return fc.oneof({ weight: 9, arbitrary: members }, { weight: 1, arbitrary: hostileValue })
}

/** The value with one of its inner parts replaced. */
function mutated(value: unknown): fc.Arbitrary<unknown> {
  if (typeof value !== 'object' || value === null) return hostileValue
  const keys = Object.keys(value)
  return fc.tuple(fc.nat(), hostileValue).map(([at, hostile]) => {
    const copy = structuredClone(value)
    const key = keys[at % Math.max(1, keys.length)]
    if (key !== undefined) Reflect.set(copy, key, hostile)
    return copy
  })
}

function queries(names: readonly string[]): fc.Arbitrary<string> {
  const values = fc.oneof(
    hostileText,
    fc.constantFrom('1', '0', '50', 'true', 'Succeeded', 'none', '{}', '{"all":[]}'),
  )
  const pair = fc.tuple(fc.constantFrom(...names, 'unknown'), values)
  return fc
    .array(pair, { maxLength: 4 })
    .map((pairs) =>
      new URLSearchParams(
        Object.fromEntries(pairs.map(([name, value]) => [name, value.slice(0, 2000)])),
      ).toString(),
    )
}

/** Ids, sometimes with a wrong one. */
function ids(): fc.Arbitrary<World['ids']> {
  const wrong = fc.record(
    Object.fromEntries(
      Object.keys(world.ids).map((name) => [
        name,
        hostileText.map((id) => encodeURIComponent(id.toWellFormed().slice(0, 200)) || '-'),
      ]),
    ),
  )
  return fc.oneof({ weight: 4, arbitrary: fc.constant(world.ids) }, { weight: 1, arbitrary: wrong })
}

const takesBody = (route: Route) => route.method !== 'GET' && route.method !== 'DELETE'

/** Deletions come last, since other routes need what they delete. */
const isDeletion = (route: Route) => route.method === 'DELETE' || route.name.endsWith('bulkDelete')
const ordered = [...ROUTES.filter((route) => !isDeletion(route)), ...ROUTES.filter(isDeletion)]

test.each(ordered.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s',
  async (_, route) => {
    const body =
      description.paths[route.path]?.[route.method.toLowerCase()]?.requestBody?.content['application/json']
    const names = Object.keys(body?.schema.properties ?? {})
    const queryNames = Object.keys(route.input.shape).filter((name) => name !== 'timeoutSeconds')
    const waits = route.name === 'requests.await' ? '&timeoutSeconds=1' : ''

    const call = (world: World['ids'], query: string, sent: unknown): Promise<Answer> => {
      const path = `${pathOf(route, world)}?${query}${waits}`
      return service.alice.call(route.method, path, takesBody(route) ? sent : undefined)
    }
    const inputs = fc.tuple(ids(), queries(queryNames), bodies(body?.example ?? {}, names))
    await fc.assert(
      fc.asyncProperty(inputs, async ([named, query, sent]) => {
        const answer = await call(named, query, sent === undefined ? {} : sent)
        if (answer.status === 500) throw new Error(errors.at(-1))
        expect(audit.faultsOf(route, answer)).toEqual([])
      }),
      // A waiting call takes a second.
      { numRuns: waits !== '' ? 5 : takesBody(route) ? RUNS_EACH : RUNS_WITHOUT_BODY, endOnFailure: true },
    )
  },
)

test('the service is as well as before', async () => {
  expect((await fetch(`${service.baseUrl}/readyz`)).status).toBe(200)
  expect(await service.alice.get('/api/v1/me')).toMatchObject({ status: 200 })
})
