import { beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { type Answer, Client, type TestEndpoint } from '../../support/client.ts'
import { boundRows } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'
import { holdUpWrites } from '../../support/heldWrites.ts'
import { countLockWaits } from '../../support/lockWaits.ts'
import { wrongParts } from '../../support/problems.ts'
import { startReceiver } from '../../support/receiver.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService({ limits: { actionsMax: 3 } })
})

const URL_A = 'http://127.0.0.1:9/a'
const forward = (more: object = {}) => ({ kind: 'forward', url: URL_A, ...more })
const add = (endpoint: TestEndpoint, body: object = forward()) =>
  endpoint.client.post(endpoint.at('/actions'), body)
const membersOf = ({ body }: Answer): Record<string, unknown> => Object(body)
const idOf = async (answer: Promise<Answer>) => String(membersOf(await answer).id)

async function listed(endpoint: TestEndpoint) {
  const { actions } = membersOf(await endpoint.client.get(endpoint.at('/actions')))
  return actions as { id: string; name: string; position: number; suspendedByPlan: boolean }[]
}
const names = async (endpoint: TestEndpoint) =>
  (await listed(endpoint)).map(({ name, position }) => [name, position])

describe('POST /api/v1/endpoints/{endpointId}/actions', () => {
  test('a forward action with its defaults', async () => {
    const endpoint = await service.alice.endpoint()
    const answer = await add(endpoint)
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      id: expect.any(String),
      kind: 'forward',
      name: '127.0.0.1:9',
      position: 1,
      url: URL_A,
      appendPath: false,
      appendQuery: false,
      isActive: true,
      suspendedByPlan: false,
      condition: {},
      conditionDescription: 'Always',
      signing: { scheme: 'creel', signed: false, setAt: null },
      auth: {
        kind: 'none',
        isSet: false,
        setAt: null,
        username: null,
        name: null,
        tokenUrl: null,
        clientId: null,
        scope: null,
      },
      tls: null,
      pausedAt: null,
      delivery: null,
      ruleCount: 0,
      alertChannelId: null,
      alertChannelName: null,
      messageTemplate: null,
      channelUnavailable: false,
      apiRequestId: null,
      apiRequestName: null,
      slotMapping: {},
      requestUnavailable: false,
    })
  })

  test('the fixed members of saved requests are ignored', async () => {
    const endpoint = await service.alice.endpoint()
    const answer = await add(
      endpoint,
      forward({ apiRequestId: 'x', slotMapping: { a: 'b' }, requestUnavailable: true }),
    )
    expect(membersOf(answer)).toMatchObject({
      apiRequestId: null,
      slotMapping: {},
      requestUnavailable: false,
    })
  })

  test('a condition keeps its key order and is described', async () => {
    const endpoint = await service.alice.endpoint()
    const answer = await add(endpoint, forward({ condition: { value: 'paid', op: 'eq', path: 'body.type' } }))
    expect(answer.text).toContain('"condition":{"all":[{"value":"paid","op":"eq","path":"body.type"}]}')
    expect(membersOf(answer).conditionDescription).toBe('body.type is "paid"')
  })

  test('a signing secret is set and never shown', async () => {
    const endpoint = await service.alice.endpoint()
    const secret = 'a-very-secret-secret'
    const answer = await add(endpoint, forward({ signingSecret: secret }))
    expect(membersOf(answer).signing).toEqual({ scheme: 'creel', signed: true, setAt: expect.any(String) })
    expect(answer.text + (await endpoint.client.get(endpoint.at('/actions'))).text).not.toContain(secret)
  })

  test.each([
    ['no url', forward({ url: null }), ['#/url required']],
    ['a foreign scheme', forward({ url: 'ftp://example.com/' }), ['#/url bad_url']],
    ['userinfo', forward({ url: 'http://u:p@127.0.0.1/' }), ['#/url bad_url']],
    ['a private address', forward({ url: 'http://10.0.0.1/' }), ['#/url not_allowed']],
    ['a metadata address', forward({ url: 'http://169.254.169.254/' }), ['#/url not_allowed']],
    ['a short secret', forward({ signingSecret: 'short' }), ['#/signingSecret too_short']],
    ['an empty name', forward({ name: '' }), ['#/name too_short']],
    ['position 0', forward({ position: 0 }), ['#/position out_of_range']],
    ['an unknown kind', { kind: 'carrier-pigeon' }, ['#/kind unknown_value']],
    ['no kind', { url: URL_A }, ['#/kind required']],
    ['no channel', { kind: 'notify' }, ['#/alertChannelId required']],
    [
      'an unknown channel',
      { kind: 'notify', alertChannelId: '7a0f8f0e-3d1e-4a43-9a57-0a7b3f2f9d11' },
      ['#/alertChannelId unknown_value'],
    ],
    [
      'several mistakes, all of them, in document order',
      {
        kind: 'forward',
        condition: {
          all: [
            { path: 'bdy.x', op: 'is', value: 1 },
            { path: 'method', op: 'eq' },
          ],
        },
        url: 'http://10.0.0.1/',
        isActive: 'yes',
      },
      [
        '#/condition/all/0/path bad_path',
        '#/condition/all/0/op unknown_op',
        '#/condition/all/1/value required',
        '#/url not_allowed',
        '#/isActive type',
      ],
    ],
  ])('%s is refused and nothing is saved', async (_, body, expected) => {
    const endpoint = await service.alice.endpoint()
    const answer = await add(endpoint, body)
    expect([answer.status, membersOf(answer).code]).toEqual([400, 'validation_failed'])
    expect(wrongParts(answer)).toEqual(expected)
    expect(await listed(endpoint)).toEqual([])
  })

  test('our own address is refused, though loopback is allowed', async () => {
    const endpoint = await service.alice.endpoint()
    for (const url of [endpoint.url, service.baseUrl.replace('127.0.0.1', 'localhost')]) {
      expect(wrongParts(await add(endpoint, forward({ url })))).toEqual(['#/url not_allowed'])
    }
  })

  test('over the limit of the plan: limit_reached', async () => {
    const endpoint = await service.alice.endpoint()
    for (let at = 0; at < 3; at++) await add(endpoint)
    const answer = await add(endpoint)
    expect([answer.status, membersOf(answer).code]).toEqual([409, 'limit_reached'])
    expect(membersOf(await endpoint.client.get(endpoint.at('/actions')))).toMatchObject({
      limit: 3,
      canAddMore: false,
    })
  })

  test('ten at once never exceed the limit', async () => {
    const endpoint = await service.alice.endpoint()
    const answers = await Promise.all(Array.from({ length: 10 }, () => add(endpoint)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3)
    expect((await listed(endpoint)).map(({ position }) => position)).toEqual([1, 2, 3])
  })

  test('while the URL of the endpoint is rotated, both are done', async () => {
    const endpoint = await service.alice.endpoint()
    await using held = await holdUpWrites(service.db, 'insert on actions')
    const added = add(endpoint)
    await held.arrived()
    const rotated = service.alice.post(endpoint.at('/rotate-url'))
    await eventually('the rotation waits', async () => (await countLockWaits(service.db)) >= 2)
    await held.release()
    expect([(await added).status, (await rotated).status]).toEqual([201, 200])
  })

  test('that PostgreSQL ends because of a deadlock may be repeated', async () => {
    const endpoint = await service.alice.endpoint()
    await sql`create function meet_deadlock() returns trigger language plpgsql as $$
      begin raise exception 'deadlock' using errcode = 'deadlock_detected'; end $$`.execute(service.db)
    await sql`create trigger meet_deadlock before insert on actions for each row
      when (new.endpoint_id = ${sql.lit(endpoint.id)}) execute function meet_deadlock()`.execute(service.db)
    const answer = await add(endpoint).finally(() =>
      sql`drop function meet_deadlock cascade`.execute(service.db),
    )
    expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    expect(answer.headers.get('retry-after')).toBe('1')
    expect((await add(endpoint)).status).toBe(201)
  })

  test('notify on a plan without channels: feature_not_in_plan, before any other mistake', async () => {
    const free = await startService({ limits: { alertChannelsMax: 0 } })
    const endpoint = await free.alice.endpoint()
    const answer = await add(endpoint, { kind: 'notify', name: '' })
    expect([answer.status, membersOf(answer).code]).toEqual([403, 'feature_not_in_plan'])
    expect(membersOf(await endpoint.client.get(endpoint.at('/actions'))).options).toEqual({
      kinds: ['forward'],
      channels: [],
      canCreateChannel: false,
      planName: 'Team',
    })
  })
})

describe('positions', () => {
  test('stay contiguous through create, move and delete', async () => {
    const endpoint = await service.alice.endpoint()
    const a = await idOf(add(endpoint, forward({ name: 'a' })))
    await add(endpoint, forward({ name: 'b' }))
    await add(endpoint, forward({ name: 'c', position: 1 }))
    expect(await names(endpoint)).toEqual([
      ['c', 1],
      ['a', 2],
      ['b', 3],
    ])

    await endpoint.client.put(endpoint.at(`/actions/${a}`), { position: 3 })
    expect(await names(endpoint)).toEqual([
      ['c', 1],
      ['b', 2],
      ['a', 3],
    ])
    await endpoint.client.put(endpoint.at(`/actions/${a}`), { position: 99 })
    expect(await names(endpoint)).toEqual([
      ['c', 1],
      ['b', 2],
      ['a', 3],
    ])
    await endpoint.client.put(endpoint.at(`/actions/${a}`), { position: 1 })
    expect(await names(endpoint)).toEqual([
      ['a', 1],
      ['c', 2],
      ['b', 3],
    ])

    expect((await endpoint.client.delete(endpoint.at(`/actions/${a}`))).status).toBe(204)
    expect(await names(endpoint)).toEqual([
      ['c', 1],
      ['b', 2],
    ])
    expect((await endpoint.client.delete(endpoint.at(`/actions/${a}`))).status).toBe(404)
  })
})

describe('PUT /api/v1/endpoints/{endpointId}/actions/{actionId}', () => {
  test('changes what is named; what GET shows can be sent back', async () => {
    const endpoint = await service.alice.endpoint()
    const made = await add(endpoint, forward({ condition: { path: 'method', op: 'eq', value: 'POST' } }))
    const path = endpoint.at(`/actions/${membersOf(made).id}`)
    expect(membersOf(await endpoint.client.put(path, membersOf(made)))).toEqual(membersOf(made))

    const renamed = await endpoint.client.put(path, { name: 'Billing', condition: null })
    expect(membersOf(renamed)).toEqual({ ...membersOf(made), name: 'Billing' })
    const always = await endpoint.client.put(path, { condition: {} })
    expect(membersOf(always)).toMatchObject({ condition: {}, conditionDescription: 'Always' })
  })

  test('a kind cannot change; a bad URL is refused; an equal one is not evaluated anew', async () => {
    const open = await startService({ allowDestinations: ['127.0.0.0/8', '10.0.0.1'] })
    const endpoint = await open.alice.endpoint()
    const made = await add(endpoint, forward({ url: 'http://10.0.0.1/x' }))
    const closed = await startService({
      database: open.database,
      secretKey: open.secretKey,
      parts: ['gateway'],
    })
    const path = endpoint.at(`/actions/${membersOf(made).id}`)
    const client = new Client(closed.baseUrl, closed.captureUrl, open.alice.key, open.alice.workspaceId)
    expect(wrongParts(await client.put(path, { kind: 'notify' }))).toEqual(['#/kind not_allowed'])
    expect(wrongParts(await client.put(path, { url: 'http://10.0.0.1/y' }))).toEqual(['#/url not_allowed'])
    expect((await client.put(path, { url: 'http://10.0.0.1/x', name: 'n' })).status).toBe(200)
  })

  test('an equal token endpoint is not evaluated anew', async () => {
    const open = await startService({ allowDestinations: ['127.0.0.0/8', '10.0.0.1'] })
    const endpoint = await open.alice.endpoint()
    const tokenUrl = 'http://10.0.0.1/token'
    const auth = { kind: 'oauth2ClientCredentials', tokenUrl, clientId: 'creel', clientSecret: 'sssh-123' }
    const made = await add(endpoint, forward({ auth }))
    const closed = await startService({
      database: open.database,
      secretKey: open.secretKey,
      parts: ['gateway'],
    })
    const path = endpoint.at(`/actions/${membersOf(made).id}`)
    const client = new Client(closed.baseUrl, closed.captureUrl, open.alice.key, open.alice.workspaceId)
    const other = { auth: { ...auth, tokenUrl: 'http://10.0.0.1/other' } }
    expect(wrongParts(await client.put(path, other))).toEqual(['#/auth/tokenUrl not_allowed'])
    expect((await client.put(path, { ...membersOf(made), isActive: false })).status).toBe(200)
  })

  test('delays longer than the retention of a smaller plan stay as they are', async () => {
    const own = await startService({ plan: 'team' })
    const endpoint = await own.alice.endpoint()
    const delivery = { timeoutSeconds: 5, retry: { delays: ['30d', '30d'] } }
    const made = await add(endpoint, forward({ delivery }))
    await own.operator.workspaces.setPlan({ workspace: own.alice.workspaceId, plan: 'pro' })
    const path = endpoint.at(`/actions/${membersOf(made).id}`)
    const [shown] = await listed(endpoint)
    expect((await endpoint.client.put(path, { ...shown, name: 'Billing' })).status).toBe(200)
    const longer = { delivery: { retry: { delays: ['29d', '30d'] } } }
    expect(wrongParts(await endpoint.client.put(path, longer))).toEqual([
      '#/delivery/retry/delays/1 out_of_range',
    ])
  })

  test('another endpoint or workspace: the same 404', async () => {
    const [mine, other] = [await service.alice.endpoint(), await service.alice.endpoint()]
    const id = await idOf(add(mine))
    const unknown = await service.alice.put(other.at('/actions/7a0f8f0e-3d1e-4a43-9a57-0a7b3f2f9d11'), {})
    for (const answer of [
      await service.alice.put(other.at(`/actions/${id}`), {}),
      await service.alice.put(other.at('/actions/none'), {}),
      await service.charlie.put(mine.at(`/actions/${id}`), {}),
    ]) {
      expect(answer.status).toBe(404)
      if (answer.text.includes('action')) expect(membersOf(answer).detail).toBe(membersOf(unknown).detail)
    }
  })
})

test('an action goes with many deliveries that wait, in transactions of at most a thousand', async () => {
  const { alice, db } = service
  const endpoint = await alice.endpoint()
  const policy = { order: { by: 'body.key' } }
  const id = await idOf(add(endpoint, forward({ delivery: policy })))
  await alice.post(endpoint.at(`/actions/${id}/pause`))
  const insert = (state: string) =>
    sql`
    insert into deliveries (workspace_id, endpoint_id, request_id, action_id, action_name, kind, trigger,
      next_attempt_at, created_at, flow_state, flow_due_at, order_key)
    select ${alice.workspaceId}::uuid, ${endpoint.id}::uuid, n, ${id}::uuid, 'App', 'forward', 'capture',
      now(), now(), ${state}, now(), 'k' from generate_series(1, 1500) n`.execute(db)
  await insert('waiting')
  await insert('behind')
  await sql`update deliveries set behind_id = id - 1 where action_id = ${id} and flow_state = 'behind'`.execute(
    db,
  )
  await using _ = await boundRows(db, { table: 'deliveries', change: 'delete', most: 1000 })
  const answer = await alice.delete(endpoint.at(`/actions/${id}`))
  expect(answer.status).toBe(204)
  expect((await sql`select from deliveries where action_id = ${id}`.execute(db)).rows).toEqual([])
})

describe('a smaller plan', () => {
  test('suspends the newest actions, which keep their positions, and lifts that when there is room', async () => {
    await using receiver = await startReceiver()
    const own = await startService({ limits: { actionsMax: 1 }, plan: 'team' })
    const wide = await startService({
      database: own.database,
      secretKey: own.secretKey,
      limits: { actionsMax: 3 },
    })
    const alice = new Client(wide.baseUrl, wide.captureUrl, own.alice.key, own.alice.workspaceId)
    const endpoint = await alice.endpoint()
    const first = await idOf(add(endpoint, forward({ name: 'first', url: receiver.url })))
    await add(endpoint, forward({ name: 'second', url: receiver.url, position: 1 }))
    await own.operator.workspaces.setPlan({ workspace: own.alice.workspaceId, plan: 'pro' })
    const flags = async () => (await listed(endpoint)).map((action) => [action.name, action.suspendedByPlan])
    expect(await flags()).toEqual([
      ['second', true],
      ['first', false],
    ])
    await alice.delete(endpoint.at(`/actions/${first}`))
    expect(await flags()).toEqual([['second', false]])
  })
})
