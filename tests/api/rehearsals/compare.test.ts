import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import type { TestEndpoint } from '../../support/client.ts'
import { eventually } from '../../support/eventually.ts'
import { type Receiver, type ReceiverAnswer, startReceiver } from '../../support/receiver.ts'
import { startService, type TestService } from '../../support/service.ts'

/** Answers of replays beside their baselines: what counts as equal, what is not compared, and whose answers count. */

let service: TestService
let receiver: Receiver
const destinations: Receiver[] = []

const Run = z.looseObject({
  id: z.string(),
  state: z.string(),
  counts: z
    .looseObject({ equal: z.int(), slower: z.int(), changed: z.int(), uncompared: z.int() })
    // Equal answers count as slower where the machine is busy.
    .transform((counts) => ({ ...counts, equal: counts.equal + counts.slower })),
})
const Started = z.looseObject({ replay: Run })
const Results = z.looseObject({
  items: z.array(
    z.looseObject({
      position: z.int(),
      outcome: z.string().nullable(),
      differences: z.array(z.looseObject({ path: z.string(), missing: z.string().nullable() })),
    }),
  ),
})
const Problem = z.looseObject({ errors: z.array(z.looseObject({ pointer: z.string(), detail: z.string() })) })

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000 } })
  receiver = await startReceiver()
})

afterAll(async () => {
  for (const one of [receiver, ...destinations]) await one[Symbol.asyncDispose]()
  await service.stop()
})

const json = (body: string): ReceiverAnswer => ({
  status: 200,
  headers: { 'Content-Type': 'application/json' },
  body,
})

async function replaysOf(endpoint: TestEndpoint, url = receiver.url) {
  const at = (path = '') => endpoint.at(`/replays${path}`)
  const begin = (members: object) =>
    service.alice.post(at(), { select: { filter: {} }, to: { url }, pace: { perSecond: 1000 }, ...members })
  const run = async (members: object) => {
    const { replay } = await service.alice.expect(begin(members), Started)
    return await eventually('the end of the replay', async () => {
      const read = await service.alice.expect(service.alice.get(at(`/${replay.id}`)), Run)
      return ['done', 'failed', 'cancelled'].includes(read.state) && read
    })
  }
  const results = async (id: string) =>
    (await service.alice.expect(service.alice.get(at(`/${id}/results?limit=100`)), Results)).items
  const report = async (id: string, format: 'junit' | 'md') =>
    (await service.alice.get(at(`/${id}/report?format=${format}`))).text
  return { at, begin, run, results, report }
}

/** An endpoint with forward actions, in the order of their names, and captures whose deliveries have ended. */
async function delivered(captures: number, answers: Readonly<Record<string, ReceiverAnswer>>) {
  const endpoint = await service.alice.endpoint()
  const actionIds: string[] = []
  for (const [name, answer] of Object.entries(answers)) {
    const destination = await startReceiver(answer)
    destinations.push(destination)
    const made = await service.alice.expect(
      service.alice.post(endpoint.at('/actions'), { kind: 'forward', name, url: destination.url }),
      z.looseObject({ id: z.string() }),
    )
    actionIds.push(made.id)
  }
  for (let n = 0; n < captures; n += 1) await endpoint.capture({ body: JSON.stringify({ n }) })
  const count = captures * actionIds.length
  await eventually('the deliveries', async () => {
    const { body } = await service.alice.get(endpoint.at('/deliveries?state=Succeeded&pageSize=100'))
    return Object(body).items.length === count
  })
  return { endpoint, actionIds, ...(await replaysOf(endpoint)) }
}

describe('a body', () => {
  test('with a null member differs from one without it', async () => {
    const { run, results, report } = await delivered(1, { Shop: json('{"a":null}') })
    receiver.answer = json('{}')
    const { id, counts } = await run({ compare: { with: 'recorded' } })
    expect(counts).toMatchObject({ changed: 1, equal: 0 })
    const [result] = await results(id)
    expect(result?.differences).toMatchObject([
      { path: 'body.a', before: null, after: null, missing: 'after' },
    ])
    expect(await report(id, 'md')).toContain('body.a: null became absent')
  })

  test('that nests without an end is compared as a whole, and the other sends go on', async () => {
    const { run, results } = await delivered(3, { Shop: json('{"a":1}') })
    receiver.answer = json('['.repeat(60_000) + ']'.repeat(60_000))
    const { id, state, counts } = await run({ compare: { with: 'recorded' } })
    expect({ state, changed: counts.changed }).toEqual({ state: 'done', changed: 3 })
    expect((await results(id)).map(({ differences }) => differences[0]?.path)).toEqual(Array(3).fill('body'))
  })

  test('that was dropped from the baseline is not compared', async () => {
    const { run, report } = await replaysOf(await captured(2))
    receiver.answer = json('{"a":1}')
    const baseline = await run({})
    await service.db
      .updateTable('replayItems')
      .set({ body: null })
      .where('replayId', '=', baseline.id)
      .execute()
    const { id, counts } = await run({ compare: { with: baseline.id } })
    expect(counts).toMatchObject({ equal: 0, changed: 0, uncompared: 2 })
    expect(await report(id, 'junit')).toContain('skipped="2"')
    expect((await run({ compare: { with: baseline.id, ignore: ['body'] } })).counts).toMatchObject({
      equal: 2,
    })
  })
})

describe('the first answer of a pair', () => {
  /** Holds first answers until `together` have arrived; answers every repetition with 409. */
  function notIdempotent(together: number) {
    const seen = new Set<string>()
    const gathered = Promise.withResolvers<void>()
    return async (body: string) => {
      if (seen.has(body)) return 409
      seen.add(body)
      if (seen.size >= together) gathered.resolve()
      await gathered.promise
      return 200
    }
  }

  test('is the baseline of the second, however many are under way at once', async () => {
    const answerTo = notIdempotent(4)
    receiver.answer = async ({ body }, response) => {
      response.writeHead(await answerTo(body.toString()))
      response.end()
    }
    const { run } = await replaysOf(await captured(4))
    const faults = { duplicate: 1 }
    const { counts } = await run({ faults, compare: { with: 'first' }, concurrency: 8 })
    expect(counts).toMatchObject({ sends: 8, changed: 4, uncompared: 0 })
  })

  test('is waited for by listeners, too', async () => {
    const { at, begin, results } = await replaysOf(await captured(4))
    const { replay } = await service.alice.expect(
      begin({
        to: { listeners: true },
        faults: { duplicate: 1 },
        compare: { with: 'first' },
        concurrency: 8,
      }),
      Started,
    )
    const answer = (position: number, statusCode: number) =>
      service.alice.post(at(`/${replay.id}/answer`), {
        position,
        durationMs: 1,
        received: { statusCode, headers: [], body: '' },
      })
    const take = async () => {
      const Taken = z.looseObject({ items: z.array(z.looseObject({ position: z.int(), copy: z.int() })) })
      const words = { max: 8, waitSeconds: 5 }
      return (await service.alice.expect(service.alice.post(at(`/${replay.id}/take`), words), Taken)).items
    }
    const firsts = []
    while (firsts.length < 4) firsts.push(...(await take()))
    expect(firsts.map(({ position, copy }) => [position, copy])).toEqual(
      [1, 3, 5, 7].map((place) => [place, 0]),
    )
    await answer(3, 200)
    expect((await take()).map(({ position }) => position)).toEqual([4])
    await answer(4, 409)
    expect((await results(replay.id)).map(({ outcome }) => outcome)).toEqual([
      null,
      null,
      null,
      'changed',
      ...Array(4).fill(null),
    ])
  })
})

describe('recorded answers', () => {
  test('are those of the action that is named, or of the one that is rehearsed', async () => {
    const { actionIds, run } = await delivered(2, { Billing: json('{"by":1}'), Analytics: json('{"by":2}') })
    const [billing, analytics] = actionIds
    receiver.answer = json('{"by":1}')
    const compare = { with: 'recorded' }
    expect((await run({ compare: { ...compare, actionId: billing } })).counts).toMatchObject({ equal: 2 })
    expect((await run({ compare: { ...compare, actionId: analytics } })).counts).toMatchObject({ changed: 2 })
    expect((await run({ compare, to: { actionId: analytics } })).counts).toMatchObject({ equal: 2 })
  })

  test('need the name of an action where there are several, and it must exist', async () => {
    const { actionIds, begin } = await delivered(1, { Billing: json('1'), Analytics: json('2') })
    const refused = async (compare: object) =>
      Problem.parse((await begin({ compare })).body).errors.map(({ pointer, detail }) => [pointer, detail])
    const [several] = await refused({ with: 'recorded' })
    expect(several?.[0]).toBe('#/compare/actionId')
    expect(several?.[1]).toContain(`Billing (${actionIds[0]}), Analytics (${actionIds[1]})`)
    const actionId = '00000000-0000-4000-8000-000000000000'
    expect(await refused({ with: 'recorded', actionId })).toMatchObject([
      ['#/compare/actionId', expect.anything()],
    ])
    expect(await refused({ with: 'first', actionId })).toMatchObject([
      ['#/compare/with', expect.anything()],
      ['#/compare/actionId', expect.anything()],
    ])
  })

  test('to a changed request are not those to the request itself', async () => {
    const { endpoint, actionIds, run, results } = await delivered(1, {
      Shop: (request, response) => response.end(request.header('x-changed') ?? 'as captured'),
    })
    const [{ id } = { id: 0 }] = await endpoint.requests()
    const sent = await service.alice.post(endpoint.at(`/requests/${id}/send`), {
      actionId: actionIds[0] ?? '',
      headers: [{ name: 'X-Changed', value: 'yes' }],
    })
    expect(Object(sent.body)).toMatchObject({ trigger: 'edited', state: 'Succeeded' })
    receiver.answer = { status: 200, body: 'as captured' }
    const replay = await run({ compare: { with: 'recorded' } })
    expect((await results(replay.id)).map(({ differences }) => differences)).toEqual([[]])
    expect(replay.counts).toMatchObject({ equal: 1, changed: 0 })
  })

  test('that are missing are counted, and skipped in JUnit', async () => {
    const { endpoint, run, report } = await delivered(1, { Shop: json('{}') })
    await service.alice.post(endpoint.at('/actions'), { kind: 'forward', name: 'Late', url: receiver.url })
    const late = await service.alice.get(endpoint.at('/actions'))
    const [, { id: actionId }] = Object(late.body).actions
    receiver.answer = json('{}')
    const { id, counts } = await run({ compare: { with: 'recorded', actionId } })
    expect(counts).toMatchObject({ done: 1, equal: 0, uncompared: 1 })
    expect(await report(id, 'junit')).toMatch(/skipped="1".*<skipped message="not compared/s)
    expect(await report(id, 'md')).toContain('1 without a baseline.')
    expect((await run({})).counts).toMatchObject({ done: 1, uncompared: 0 })
  })
})

describe('answers of a replay', () => {
  const KEPT_MAX = 16 * 1024 * 1024
  const setBytes = (replayId: string, answerBytes: number) =>
    service.db.updateTable('replays').set({ answerBytes }).where('id', '=', replayId).execute()
  const bytesOf = async (replayId: string) =>
    (
      await service.db
        .selectFrom('replays')
        .where('id', '=', replayId)
        .select('answerBytes')
        .executeTakeFirstOrThrow()
    ).answerBytes

  test.each([false, true])(
    'are kept up to 16 MB with headers and differences; later ones have an outcome (sealed: %p)',
    async (encryptBodies) => {
      const endpoint = await service.alice.endpoint({ encryptBodies })
      await endpoint.capture({ body: '{}' })
      const { at, begin, report } = await replaysOf(endpoint)
      const pairs = { faults: { duplicate: 1 }, compare: { with: 'first' } }
      const { replay } = await service.alice.expect(begin({ to: { listeners: true }, ...pairs }), Started)
      const value = 'x'.repeat(60_000)
      const answer = async (position: number, statusCode: number) => {
        const taken = await service.alice.post(at(`/${replay.id}/take`), { waitSeconds: 5 })
        expect(Object(taken.body).items).toMatchObject([{ position }])
        const received = { statusCode, headers: [{ name: 'X-Long', value }], body: 'b2s=' }
        const words = { position, durationMs: 1, received }
        expect((await service.alice.post(at(`/${replay.id}/answer`), words)).status).toBe(204)
      }
      await answer(1, 200)
      expect(await bytesOf(replay.id)).toBeGreaterThan(value.length)
      await setBytes(replay.id, KEPT_MAX - value.length)
      await answer(2, 409)
      expect(await bytesOf(replay.id)).toBe(KEPT_MAX - value.length)
      const { body } = await service.alice.get(at(`/${replay.id}/results`))
      expect(Object(body).items).toMatchObject([
        { headers: [{ name: 'X-Long', value }], body: 'ok' },
        { state: 'done', outcome: 'changed', statusCode: 409, headers: null, body: null, differences: [] },
      ])
      expect(await report(replay.id, 'md')).toContain('status 409; what differs was not kept')
    },
  )

  test('that were not kept are no baseline for headers and bodies', async () => {
    const { run } = await replaysOf(await captured(1))
    receiver.answer = { status: 200, headers: { 'X-Own': 'yes' }, body: 'ok' }
    const baseline = await run({})
    await service.db
      .updateTable('replayItems')
      .set({ headers: null, body: null })
      .where('replayId', '=', baseline.id)
      .execute()
    const again = async (ignore: readonly string[] = []) =>
      (await run({ compare: { with: baseline.id, ignore } })).counts
    expect(await again()).toMatchObject({ equal: 0, changed: 0, uncompared: 1 })
    expect(await again(['body'])).toMatchObject({ equal: 0, uncompared: 1 })
    expect(await again(['body', 'headers'])).toMatchObject({ equal: 1, uncompared: 0 })
    receiver.answer = { status: 201 }
    expect(await again()).toMatchObject({ changed: 1 })
  })

  test('have values of headers of 65,536 characters at most', async () => {
    const { at, begin } = await replaysOf(await captured(1))
    const { replay } = await service.alice.expect(begin({ to: { listeners: true } }), Started)
    await service.alice.post(at(`/${replay.id}/take`), { waitSeconds: 5 })
    const answer = (length: number) => {
      const headers = [{ name: 'X-Long', value: 'x'.repeat(length) }]
      const received = { statusCode: 200, headers, body: '' }
      return service.alice.post(at(`/${replay.id}/answer`), { position: 1, durationMs: 1, received })
    }
    const refused = await answer(65_537)
    expect(refused.status).toBe(400)
    expect(Problem.parse(refused.body).errors.map(({ pointer }) => pointer)).toEqual([
      '#/received/headers/0/value',
    ])
    expect((await answer(65_536)).status).toBe(204)
  })

  test('are all in a report of many, which has 16 MB of differences at most', async () => {
    const sends = 60
    const endpoint = await service.alice.endpoint()
    await endpoint.captureMany(sends)
    const { run, report } = await replaysOf(endpoint)
    receiver.answer = { status: 200 }
    const { id } = await run({ concurrency: 8 })
    const junit = await report(id, 'junit')
    expect(junit).toContain(`tests="${sends}" failures="0"`)
    const names = [...junit.matchAll(/name="request (\d+)"/g)].map(([, number]) => Number(number))
    expect(names).toHaveLength(sends)
    expect(names).toEqual(names.toSorted((one, two) => one - two))
    // As answers before this bound could have them: half a megabyte each.
    const difference = { path: `body.${'p'.repeat(490)}`, before: null, after: null, missing: null }
    await service.db
      .updateTable('replayItems')
      .set({ outcome: 'changed', differences: JSON.stringify(Array(1000).fill(difference)) })
      .where('replayId', '=', id)
      .execute()
    const long = await report(id, 'junit')
    expect(long).toContain(`tests="${sends}" failures="${sends}"`)
    expect(long.match(/differences are not shown/g)?.length).toBeGreaterThan(20)
    expect(long.length).toBeLessThan(17 * 1024 * 1024)
    expect(await report(id, 'md')).toContain(`${sends} sends, seed`)
  })
})

test('a path that no answer can have is refused by its place', async () => {
  const { begin } = await replaysOf(await captured(1))
  const ignore = ['body.id', '$$', 'headers.Date', 'items', 'body[].a', 'status.code', 'body']
  const refused = Problem.parse((await begin({ compare: { with: 'first', ignore } })).body)
  expect(refused.errors.map(({ pointer }) => pointer)).toEqual([
    '#/compare/with',
    '#/compare/ignore/1',
    '#/compare/ignore/3',
    '#/compare/ignore/5',
  ])
})

async function captured(count: number): Promise<TestEndpoint> {
  const endpoint = await service.alice.endpoint()
  for (let n = 0; n < count; n += 1) await endpoint.capture({ body: JSON.stringify({ n }) })
  return endpoint
}
