import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { z } from 'zod'
import type { Client, TestEndpoint } from '../../support/client.ts'
import { eventually } from '../../support/eventually.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { startService, type TestService } from '../../support/service.ts'

/** Replays of many requests, against a real receiver. */

let service: TestService
let alice: Client
let endpoint: TestEndpoint
let ids: number[]
let receiver: Receiver

const Counts = z.looseObject({
  sends: z.int(),
  waiting: z.int(),
  done: z.int(),
  errored: z.int(),
  equal: z.int(),
  changed: z.int(),
  failed: z.int(),
})
const Run = z.looseObject({
  id: z.string(),
  state: z.string(),
  reason: z.string().nullable(),
  seed: z.int(),
  counts: Counts,
})
const Started = z.looseObject({
  replay: Run.nullable(),
  sendCount: z.int(),
  shown: z.array(z.looseObject({ error: z.string().nullable() })),
})
const Results = z.object({
  items: z.array(
    z.looseObject({
      position: z.int(),
      requestId: z.int(),
      fault: z.string().nullable(),
      copy: z.int(),
      state: z.string(),
      outcome: z.string().nullable(),
      statusCode: z.int().nullable(),
      error: z.string().nullable(),
      differences: z.array(z.looseObject({ path: z.string() })),
    }),
  ),
  next: z.int().nullable(),
})

const REQUESTS = 12
const SECRET = 'a secret of the endpoint'

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000 } })
  alice = service.alice
  receiver = await startReceiver()
  endpoint = await alice.endpoint({
    name: 'replayed',
    provider: 'github',
    signingSecret: SECRET,
  })
  const captured = []
  for (let at = 0; at < REQUESTS; at += 1) {
    captured.push(
      await endpoint.capture({
        body: JSON.stringify({ id: at, type: 'order.paid' }),
        headers: { 'X-Hub-Signature-256': `sha256=${'0'.repeat(64)}`, 'Content-Type': 'application/json' },
        suffix: `/orders?at=${at}`,
      }),
    )
  }
  ids = captured.map(({ id }) => id)
})

afterAll(async () => {
  await receiver[Symbol.asyncDispose]()
  await service.stop()
})

const at = (path = '') => endpoint.at(`/replays${path}`)

async function begin(members: object) {
  const { replay } = await alice.expect(
    alice.post(at(), { select: { requestIds: ids }, pace: { perSecond: 1000 }, ...members }),
    Started,
  )
  if (replay === null) throw new Error('Nothing was started.')
  return replay
}

const read = (id: string) => alice.expect(alice.get(at(`/${id}`)), Run)
const ended = (id: string) =>
  eventually('the end of the replay', async () => {
    const run = await read(id)
    return ['done', 'failed', 'cancelled'].includes(run.state) && run
  })
const resultsOf = async (id: string, query = 'limit=100') =>
  (await alice.expect(alice.get(at(`/${id}/results?${query}`)), Results)).items

/** The ids of the requests that have arrived since a count, in their order. */
const arrivedSince = (count: number) =>
  receiver.received.slice(count).map((one) => Number(JSON.parse(one.body.toString()).id))

describe('a replay to a URL', () => {
  test('sends every request in the order of arrival, marked, with path and query where asked', async () => {
    const before = receiver.received.length
    const replay = await begin({ to: { url: receiver.url, appendPath: true } })
    expect((await ended(replay.id)).counts).toMatchObject({ sends: REQUESTS, done: REQUESTS, waiting: 0 })
    expect(arrivedSince(before)).toEqual(ids.map((_, index) => index))
    const [first] = receiver.received.slice(before)
    expect(first?.header('creel-rehearsal')).toBe(replay.id)
    expect(first?.url).toBe('/hooks/orders?at=0')
    const results = await resultsOf(replay.id)
    expect(results.map(({ requestId, statusCode }) => [requestId, statusCode])).toEqual(
      ids.map((id) => [id, 200]),
    )
  })

  test('sends nothing that would leave the base path of the URL', async () => {
    const climbing = await alice.endpoint()
    const { id: requestId } = await climbing.capture({ suffix: '/..%2f..%2fadmin' })
    const before = receiver.received.length
    const { replay } = await alice.expect(
      alice.post(climbing.at('/replays'), {
        select: { requestIds: [requestId] },
        to: { url: receiver.url, appendPath: true },
      }),
      Started,
    )
    const path = climbing.at(`/replays/${replay?.id}`)
    const [result] = await eventually('the result', async () => {
      const { items } = await alice.expect(alice.get(`${path}/results`), Results)
      return items[0]?.state === 'errored' && items
    })
    expect(result?.error).toStartWith('unsafe_path: ')
    expect(receiver.received).toHaveLength(before)
  })

  test('sends imported requests at their times, although their ids are newer', async () => {
    const target = await alice.endpoint()
    const own = await target.capture()
    const { text: rawBody } = await alice.get(endpoint.at('/requests/export?includeSecrets=true'))
    const { firstId } = await alice.expect(target.importLines(rawBody), z.looseObject({ firstId: z.int() }))
    const { shown } = await alice.expect(
      alice.post(target.at('/replays'), {
        select: { requestIds: [own.id, firstId, firstId + 1] },
        to: { url: receiver.url },
        pace: { speed: 1 },
        dryRun: true,
      }),
      z.looseObject({ shown: z.array(z.looseObject({ requestId: z.int() })) }),
    )
    expect(shown.map(({ requestId }) => requestId)).toEqual([firstId, firstId + 1, own.id])
  })

  test('plans the same faults for the same seed', async () => {
    const faults = { duplicate: 0.25, reorder: 0.25, drop: 0.25 }
    const runs = []
    for (const seed of [7, 7, 8]) {
      const before = receiver.received.length
      const replay = await begin({ to: { url: receiver.url }, faults, seed })
      await ended(replay.id)
      runs.push(arrivedSince(before))
    }
    const [one, two, three] = runs
    expect(one).toEqual(two ?? [])
    expect(one).not.toEqual(three ?? [])
    // A quarter is dropped, a quarter comes twice.
    expect(one).toHaveLength(REQUESTS)
    expect(new Set(one).size).toBe(REQUESTS * 0.75)
  })

  test('signs with the secret of the endpoint, or spoils the signature', async () => {
    for (const [faults, isRight] of [
      [{}, true],
      [{ badSignature: 1 }, false],
    ] as const) {
      const before = receiver.received.length
      const replay = await begin({ to: { url: receiver.url }, sign: 'provider', faults })
      await ended(replay.id)
      for (const request of receiver.received.slice(before)) {
        const digest = createHmac('sha256', SECRET).update(request.body).digest('hex')
        expect(request.header('x-hub-signature-256') === `sha256=${digest}`).toBe(isRight)
      }
    }
  })

  test('cannot be sent to a capture URL of this service', async () => {
    const url = `${service.captureUrl}/hook/${endpoint.id}`
    const answer = await alice.post(at(), { select: { requestIds: ids }, to: { url } })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('this service itself')
  })

  test('applies an edit; a rule that faults is an outcome of its request, and the others go on', async () => {
    const before = receiver.received.length
    const edit = {
      version: 1,
      name: 'Add',
      steps: [{ op: 'set', path: 'body.edited', value: true }],
    }
    const replay = await begin({ to: { url: receiver.url }, edit })
    await ended(replay.id)
    const bodies = receiver.received.slice(before).map(({ body }) => JSON.parse(body.toString()))
    expect(bodies).toHaveLength(REQUESTS)
    expect(bodies.every(({ edited }) => edited === true)).toBe(true)
  })
})

describe('a comparison', () => {
  test('with an earlier replay finds what changed, and ignores what is not stable', async () => {
    let answers = 0
    const answerWith = (status: (id: number) => number) => {
      receiver.answer = (request, response) => {
        answers += 1
        const { id } = JSON.parse(request.body.toString())
        response.writeHead(status(id), { 'Content-Type': 'application/json' })
        response.end(JSON.stringify({ id, nonce: answers, ok: status(id) === 200 }))
      }
    }
    answerWith(() => 200)
    const baseline = await begin({ to: { url: receiver.url }, faults: { duplicate: 1 } })
    await ended(baseline.id)
    answerWith((id) => (id === 3 ? 201 : id === 5 ? 500 : 200))
    const replay = await begin({ to: { url: receiver.url }, compare: { with: baseline.id } })
    expect((await ended(replay.id)).counts).toMatchObject({ changed: 1, failed: 1 })
    const [changed] = await resultsOf(replay.id, 'outcome=changed')
    expect(changed).toMatchObject({ requestId: ids[3] })
    expect(changed?.differences.map(({ path }) => path)).toEqual(['status', 'body.ok'])
    const junit = await alice.get(at(`/${replay.id}/report?format=junit`))
    expect(junit.text).toContain(`failures="2"`)
    const markdown = await alice.get(at(`/${replay.id}/report?format=md`))
    expect(markdown.text).toContain('status: 200 became 201')
    receiver.answer = { status: 200 }
  })

  test('of duplicates finds a handler that is not idempotent', async () => {
    const seen = new Set<number>()
    receiver.answer = (request, response) => {
      const { id } = JSON.parse(request.body.toString())
      const isAgain = seen.has(id)
      seen.add(id)
      response.writeHead(isAgain && id === 4 ? 409 : 200)
      response.end()
    }
    const replay = await begin({
      to: { url: receiver.url },
      faults: { duplicate: 1 },
      compare: { with: 'first' },
    })
    expect((await ended(replay.id)).counts).toMatchObject({ changed: 1 })
    const [changed] = await resultsOf(replay.id, 'outcome=changed')
    expect(changed).toMatchObject({ requestId: ids[4], copy: 1, fault: 'duplicate' })
    receiver.answer = { status: 200 }
  })

  test('of duplicates ends, whatever it ignores', async () => {
    const replay = await begin({
      to: { url: receiver.url },
      faults: { duplicate: 1 },
      compare: { with: 'first', ignore: ['body.\0', 'body.\ud800'] },
    })
    expect((await ended(replay.id)).counts).toMatchObject({ changed: 0, done: 2 * ids.length })
    const none = await alice.expect(
      alice.get(at(`/${replay.id}/results?afterPosition=${Number.MAX_SAFE_INTEGER}`)),
      Results,
    )
    expect(none).toEqual({ items: [], next: null })
  })

  test('with what was recorded takes the answers of the action', async () => {
    const action = await alice.post(endpoint.at('/actions'), {
      kind: 'forward',
      name: 'Shop',
      url: receiver.url,
    })
    const { id: actionId } = z.looseObject({ id: z.string() }).parse(action.body)
    const captured = await endpoint.capture({ body: '{"id":99}' })
    await eventually('the delivery', async () => (await endpoint.requests('state=Succeeded')).length === 1)
    receiver.answer = { status: 202 }
    const replay = await begin({
      select: { requestIds: [captured.id] },
      to: { actionId },
      compare: { with: 'recorded' },
    })
    expect((await ended(replay.id)).counts).toMatchObject({ sends: 1, changed: 1 })
    const [result] = await resultsOf(replay.id)
    expect(result?.differences).toMatchObject([{ path: 'status', before: 200, after: 202 }])
    receiver.answer = { status: 200 }
    await alice.delete(endpoint.at(`/actions/${actionId}`))
  })
})

describe('a running replay', () => {
  test('pauses, goes on and is cancelled', async () => {
    const before = receiver.received.length
    // Slow, so that a pause by a busy machine comes before the end.
    const replay = await begin({ to: { url: receiver.url }, pace: { perSecond: 2 } })
    await receiver.take(before + 3)
    expect((await alice.expect(alice.post(at(`/${replay.id}/pause`)), Run)).state).toBe('paused')
    const paused = await eventually('the last send', async () => {
      const { counts } = await read(replay.id)
      return counts.done === receiver.received.length - before && counts
    })
    expect(paused.done).toBeLessThan(REQUESTS)
    await alice.expect(alice.post(at(`/${replay.id}/resume`)), Run)
    await receiver.take(before + paused.done + 1)
    expect((await alice.expect(alice.post(at(`/${replay.id}/cancel`)), Run)).state).toBe('cancelled')
    expect((await alice.post(at(`/${replay.id}/resume`))).status).toBe(400)
  })

  test('is followed to its end', async () => {
    const replay = await begin({ to: { url: receiver.url }, pace: { perSecond: 50 } })
    const stream = await fetch(`${service.baseUrl}${at(`/${replay.id}/stream`)}`, {
      headers: { Authorization: `Bearer ${alice.key}` },
    })
    const text = await stream.text()
    expect(text).toContain('event: progress')
    expect(text).toContain('"state":"done"')
  })

  test('of a listener is taken and answered, in order', async () => {
    const replay = await begin({ to: { listeners: true } })
    const Taken = z.object({
      items: z.array(z.looseObject({ position: z.int(), requestId: z.int(), body: z.string() })),
      state: z.string(),
    })
    const order: number[] = []
    for (let state = 'running'; state === 'running'; ) {
      const taken = await alice.expect(
        alice.post(at(`/${replay.id}/take`), { max: 5, waitSeconds: 5 }),
        Taken,
      )
      ;({ state } = taken)
      // One at a time keeps the order.
      expect(taken.items.length).toBeLessThan(2)
      for (const { position, requestId, body } of taken.items) {
        expect(JSON.parse(Buffer.from(body, 'base64').toString()).type).toBe('order.paid')
        order.push(requestId)
        const received = { statusCode: 200, headers: [], body: '' }
        const answer = { position, durationMs: 1, received }
        expect((await alice.post(at(`/${replay.id}/answer`), answer)).status).toBe(204)
        expect((await alice.post(at(`/${replay.id}/answer`), answer)).status).toBe(400)
      }
    }
    expect(order).toEqual(ids)
    expect((await read(replay.id)).state).toBe('done')
  })
})

describe('before anything is sent', () => {
  test('a dry run shows what would go out, and what cannot be signed', async () => {
    const before = receiver.received.length
    const unsigned = await alice.endpoint({ provider: 'plaid', signingSecret: 'x' })
    await unsigned.capture()
    const dry = await alice.expect(
      alice.post(unsigned.at('/replays'), {
        select: { filter: {} },
        to: { url: receiver.url },
        sign: 'provider',
        dryRun: true,
      }),
      z.looseObject({ replay: z.null(), shown: z.array(z.looseObject({})), unsignedCount: z.int() }),
    )
    expect(dry).toMatchObject({ requestCount: 1, unsignedCount: 1 })
    expect(receiver.received).toHaveLength(before)
  })

  test('a secret that is a key is shown as no token, whatever the sender used', async () => {
    const signingSecret = `whsec_${Buffer.from(SECRET).toString('base64')}`
    const gitlab = await alice.endpoint({ provider: 'gitlab', signingSecret })
    await gitlab.capture({ headers: { 'X-Gitlab-Token': 'of the sender', 'webhook-id': 'msg_1' } })
    const order = { select: { filter: {} }, to: { url: receiver.url }, sign: 'provider', dryRun: true }
    const { text } = await alice.post(gitlab.at('/replays'), order)
    expect(text).toContain('webhook-signature')
    expect(text).not.toContain(signingSecret)
  })

  test('every wrong part is named at once', async () => {
    const answer = await alice.post(at(), {
      select: {},
      to: { url: 'http://10.0.0.1/' },
      sign: 'creel',
      faults: { reorder: 0.5 },
      concurrency: 4,
      edit: { version: 1, name: 'x', steps: [{ op: 'nothing' }] },
      compare: { with: 'first' },
    })
    expect(answer.status).toBe(400)
    const { errors } = z
      .looseObject({ errors: z.array(z.looseObject({ pointer: z.string() })) })
      .parse(answer.body)
    const pointers = errors.map(({ pointer }) => pointer.split('/').slice(0, 3).join('/'))
    expect(new Set(pointers)).toEqual(
      new Set(['#/select', '#/to/url', '#/sign', '#/concurrency', '#/edit/steps', '#/compare/with']),
    )
  })

  test.each([
    ['nothing selected', { select: { filter: { label: 'no.such' } } }, '#/select'],
    ['shares over 1', { faults: { drop: 0.7, duplicate: 0.7 } }, '#/faults'],
    ['a share over 1', { faults: { drop: 1.5 } }, '#/faults/drop'],
    ['a day and more', { pace: { perSecond: 0.0001 } }, '#/pace'],
    ['an unknown action', { to: { actionId: '00000000-0000-4000-8000-000000000000' } }, '#/to/actionId'],
  ])('%s is refused', async (_what, members, pointer) => {
    const answer = await alice.post(at(), {
      select: { requestIds: ids },
      to: { url: receiver.url },
      ...members,
    })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain(`"${pointer}`)
  })

  test('an endpoint may forbid it', async () => {
    const own = await alice.endpoint({ allowRehearsal: false })
    await own.capture()
    const answer = await alice.post(own.at('/replays'), {
      select: { filter: {} },
      to: { url: receiver.url },
    })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('forbids replays')
  })
})
