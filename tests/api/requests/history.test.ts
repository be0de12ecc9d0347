import { beforeAll, describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { matches, parseCondition } from '@creel/core/engine/conditions'
import { newestMatching, STORED_REQUEST_COLUMNS, storedRequest } from '@creel/core/requests'
import fc from 'fast-check'
import type { TestEndpoint } from '../../support/client.ts'
import { startService, type TestService } from '../../support/service.ts'

/** Few words, so that conditions match; odd ones, so that SQL and JSON spell them in several ways. */
const word = fc.constantFrom(
  'a',
  'ab',
  'é',
  'É',
  'aé/',
  '"',
  '\\',
  'x y',
  '1',
  '1.0',
  '+',
  '%',
  '😀',
  '\u2028',
  '',
)
const name = fc.constantFrom('a', 'b', 'é', 'a"b', 'x y')

/** A JSON string; JSON may escape any character. */
const jsonWord = (text: fc.Arbitrary<string>) =>
  fc.tuple(text, fc.constantFrom('plain', 'escaped', 'slashed')).map(([each, spelling]) => {
    if (spelling === 'plain') return JSON.stringify(each)
    if (spelling === 'slashed') return JSON.stringify(each).replaceAll('/', '\\/')
    const units = Array.from({ length: each.length }, (_, at) =>
      each.charCodeAt(at).toString(16).padStart(4, '0'),
    )
    return `"${units.map((unit) => `\\u${unit}`).join('')}"`
  })
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    fc.oneof(jsonWord(word), fc.constantFrom('1', '1.0', '9007199254740993', 'true', 'null')),
    fc.array(tie('json'), { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
    fc
      .array(fc.tuple(jsonWord(name), tie('json')), { minLength: 1, maxLength: 3 })
      .map((members) => `{${members.map(([key, value]) => `${key}:${value}`).join(',')}}`),
  ),
}))

const component = (text: fc.Arbitrary<string>) =>
  fc.tuple(text, fc.boolean()).map(([each, isForm]) => {
    const escaped = encodeURIComponent(each)
    return isForm ? escaped.replaceAll('%20', '+') : escaped
  })
const pairs = fc
  .array(fc.tuple(component(name), component(word)), { maxLength: 3 })
  .map((each) => each.map(([key, value]) => `${key}=${value}`).join('&'))

const content = fc.oneof(
  { weight: 6, arbitrary: json.map((body) => ({ type: 'application/json', body })) },
  { weight: 2, arbitrary: pairs.map((body) => ({ type: 'application/x-www-form-urlencoded', body })) },
  { weight: 1, arbitrary: word.map((body) => ({ type: 'text/plain', body })) },
  { weight: 1, arbitrary: word.map((each) => ({ type: 'application/json', body: `{"a":"${each}\0` })) },
)
const sender = fc.record({
  content,
  method: fc.constantFrom('POST', 'PUT'),
  query: pairs,
  path: fc.constantFrom('', '/a', '/ab', '/é'),
  // A value is sent as UTF-8 or as latin1.
  tenant: fc.tuple(fc.constantFrom('a', 'é', 'É', 'x y'), fc.constantFrom('utf8', 'latin1')),
  event: fc.option(fc.constantFrom('a', 'ab'), { nil: undefined }),
  signature: fc.option(fc.constant('sha256=00'), { nil: undefined }),
  isCompressed: fc.integer({ min: 0, max: 4 }).map((die) => die === 0),
})

const path = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.constantFrom('body', 'method', 'path', 'label', 'contentType', 'ip', 'sizeBytes'),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('verification.verdict', 'headers.X-None', 'headers.X-GitHub-Event'),
  },
  { weight: 1, arbitrary: fc.constantFrom('query.a', 'query.é', 'query.x y') },
  { weight: 2, arbitrary: fc.constant('headers.x-tenant') },
  {
    weight: 6,
    arbitrary: fc
      .array(
        fc.oneof(
          name.map((each) => `[${JSON.stringify(each)}]`),
          fc.constantFrom('[*]', '[0]', '[-1]', '.a'),
        ),
        {
          minLength: 1,
          maxLength: 3,
        },
      )
      .map((segments) => `body${segments.join('')}`),
  },
)
const value = fc.oneof(
  { weight: 5, arbitrary: word },
  {
    weight: 1,
    arbitrary: fc.constantFrom(1, 9007199254740992, true, null, 'POST', '/a', 'unsigned', 'failed'),
  },
  { weight: 1, arbitrary: fc.constantFrom<unknown>([], ['a'], { a: 1 }, 'application/json', '127.0.0.1') },
)
const ignoreCase = fc.boolean()
const leaf = fc.oneof(
  fc.record({ path, op: fc.constantFrom('eq', 'neq', 'contains'), value, ignoreCase }),
  fc.record({
    path,
    op: fc.constantFrom('startsWith', 'endsWith', 'like', 'contains'),
    value: word,
    ignoreCase,
  }),
  fc.record({ path, op: fc.constantFrom('in', 'nin'), value: fc.array(value, { maxLength: 3 }), ignoreCase }),
  fc.record({ path, op: fc.constantFrom('gt', 'lte'), value: fc.constantFrom(0, 1, 10) }),
  fc.record({ path, op: fc.constant('exists'), value: fc.boolean() }),
)
const { condition } = fc.letrec<{ condition: unknown }>((tie) => ({
  condition: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    leaf,
    fc.array(tie('condition'), { minLength: 1, maxLength: 3 }).map((all) => ({ all })),
    fc.array(tie('condition'), { minLength: 1, maxLength: 3 }).map((any) => ({ any })),
    tie('condition').map((not) => ({ not })),
  ),
}))

const STORED = 150

let service: TestService
let endpoint: TestEndpoint

beforeAll(async () => {
  service = await startService({ parts: ['gateway'] })
  endpoint = await service.alice.endpoint({ provider: 'github', signingSecret: 'a secret' })
  for (const sent of fc.sample(sender, { numRuns: STORED, seed: 20261121 })) {
    const [tenant, spelling] = sent.tenant
    await endpoint.send({
      method: sent.method,
      suffix: `${sent.path}?${sent.query}`,
      body: sent.isCompressed ? gzipSync(sent.content.body) : sent.content.body,
      headers: {
        ...(sent.isCompressed ? { 'content-encoding': 'gzip' } : {}),
        'Content-Type': sent.content.type,
        'X-Tenant': Buffer.from(tenant, spelling === 'utf8' ? 'utf8' : 'latin1').toString('latin1'),
        ...(sent.event === undefined ? {} : { 'X-GitHub-Event': sent.event }),
        ...(sent.signature === undefined ? {} : { 'X-Hub-Signature-256': sent.signature }),
      },
    })
  }
})

describe('the search for stored requests that match a condition', () => {
  test('passes over none that does: what SQL leaves out, the condition would refuse', async () => {
    const rows = await service.db
      .selectFrom('requests')
      .where('endpointId', '=', endpoint.id)
      .select(['id', ...STORED_REQUEST_COLUMNS])
      .orderBy('id', 'desc')
      .execute()
    const stored = rows.map((row) => ({ id: row.id, request: storedRequest(row) }))
    expect(stored).toHaveLength(STORED)
    await fc.assert(
      fc.asyncProperty(condition, async (document) => {
        const parsed = parseCondition(document)
        if ('issues' in parsed) throw new Error(parsed.issues.map(({ detail }) => detail).join('\n'))
        const found = await newestMatching(service.db, endpoint.id, parsed.condition, { limit: STORED })
        expect(found.map(({ requestId }) => requestId)).toEqual(
          stored.filter(({ request }) => matches(parsed.condition, request)).map(({ id }) => id),
        )
      }),
      { numRuns: 200 },
    )
  })
})

test('a preview of a condition counts what it tested, whatever arrives or goes meanwhile', async () => {
  const busy = await service.alice.endpoint()
  const body = JSON.stringify({ wanted: 'x'.repeat(60_000) })
  const kept = await busy.captureMany(60, { body })
  const preview = service.alice.post(busy.at('/conditions/preview'), {
    condition: { path: 'body.wanted', op: 'exists', value: true },
  })
  const meanwhile = Promise.all([
    ...Array.from({ length: 10 }, () => busy.send({ body })),
    ...kept.slice(0, 5).map(({ id }) => service.alice.delete(busy.at(`/requests/${id}`))),
  ])
  expect((await preview).body).toMatchObject({ notMatched: { count: 0, firstIds: [] } })
  await meanwhile
})
