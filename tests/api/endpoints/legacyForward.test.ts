import { beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import type { Answer, TestEndpoint } from '../../support/client.ts'
import { eventually } from '../../support/eventually.ts'
import { isWaitingForLock } from '../../support/lockWaits.ts'
import { wrongParts } from '../../support/problems.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService({ limits: { actionsMax: 2 } })
})

const A = 'http://127.0.0.1:9/a'
const B = 'http://127.0.0.1:9/b'
const SECRET = 'sixteen-characters-or-more'

const membersOf = ({ body }: Answer): Record<string, unknown> => Object(body)
const refusal = (answer: Answer) => [answer.status, membersOf(answer).code]
const patch = (endpoint: TestEndpoint, members: object) =>
  endpoint.client.patch(`/api/v1/endpoints/${endpoint.id}`, members)
const create = (members: object) => service.alice.post('/api/v1/endpoints', members)
const shown = async (endpoint: TestEndpoint) => {
  const { forwardUrl, forwardingEnabled, forwardSigning } = membersOf(
    await endpoint.client.get(`/api/v1/endpoints/${endpoint.id}`),
  )
  return { forwardUrl, forwardingEnabled, signed: Object(forwardSigning).signed }
}
const actionsOf = async (endpoint: TestEndpoint) =>
  membersOf(await endpoint.client.get(endpoint.at('/actions'))).actions as Record<string, unknown>[]

describe('reading', () => {
  test('describes the first forward action, on or off; enabled when any action is on', async () => {
    const endpoint = await service.alice.endpoint()
    expect(await shown(endpoint)).toEqual({ forwardUrl: null, forwardingEnabled: false, signed: false })
    const first = { kind: 'forward', url: A, isActive: false, signingSecret: SECRET }
    await service.alice.post(endpoint.at('/actions'), first)
    expect(await shown(endpoint)).toEqual({ forwardUrl: A, forwardingEnabled: false, signed: true })
    await service.alice.post(endpoint.at('/actions'), { kind: 'forward', url: B })
    expect(await shown(endpoint)).toEqual({ forwardUrl: A, forwardingEnabled: true, signed: true })
  })
})

describe('create', () => {
  test('forwardUrl alone makes an action that is on; forwardingEnabled false one that is off', async () => {
    const on = await service.alice.endpoint({ forwardUrl: A, forwardSigningSecret: SECRET })
    expect(await shown(on)).toEqual({ forwardUrl: A, forwardingEnabled: true, signed: true })
    const off = await service.alice.endpoint({ forwardUrl: A, forwardingEnabled: false })
    expect(await shown(off)).toEqual({ forwardUrl: A, forwardingEnabled: false, signed: false })
  })

  test.each([
    [{ forwardingEnabled: true }],
    [{ forwardUrl: '', forwardingEnabled: true }],
    [{ forwardSigningSecret: SECRET }],
    [{ forwardUrl: A, forwardSigningSecret: 'short' }],
    [{ forwardUrl: 'http://10.0.0.1/' }],
    [{ forwardUrl: 'not a url' }],
  ])('%j is refused, and no endpoint is made', async (members) => {
    const before = membersOf(await service.alice.get('/api/v1/endpoints')).totalCount
    expect(refusal(await create(members))).toEqual([400, 'validation_failed'])
    expect(membersOf(await service.alice.get('/api/v1/endpoints')).totalCount).toBe(before)
  })

  test.each([[{ forwardingEnabled: false }], [{ forwardUrl: '' }], [{ forwardSigningSecret: '' }]])(
    '%j asks for nothing',
    async (members) => {
      const answer = await create(members)
      expect(answer.status).toBe(201)
      expect(membersOf(answer)).toMatchObject({ forwardUrl: null, forwardingEnabled: false })
    },
  )
})

describe('PATCH', () => {
  test('forwardUrl sets, creates, leaves and clears', async () => {
    const endpoint = await service.alice.endpoint()
    await patch(endpoint, { forwardUrl: A })
    expect(await shown(endpoint)).toMatchObject({ forwardUrl: A, forwardingEnabled: true })
    const [action] = await actionsOf(endpoint)
    await patch(endpoint, { forwardUrl: B })
    expect((await actionsOf(endpoint)).map(({ id, url }) => [id, url])).toEqual([[action?.id, B]])
    await patch(endpoint, { forwardUrl: null, name: 'other' })
    expect(await shown(endpoint)).toMatchObject({ forwardUrl: B })
    await patch(endpoint, { forwardUrl: '' })
    expect(await actionsOf(endpoint)).toEqual([])
  })

  test('forwardingEnabled switches that action only; what GET shows changes nothing', async () => {
    const endpoint = await service.alice.endpoint({ forwardUrl: A })
    await service.alice.post(endpoint.at('/actions'), { kind: 'forward', url: B })
    await patch(endpoint, { forwardingEnabled: false })
    expect((await actionsOf(endpoint)).map(({ isActive }) => isActive)).toEqual([false, true])
    // It reads true because of the other action. Sending it back unchanged changes nothing.
    await patch(endpoint, { forwardingEnabled: true })
    expect((await actionsOf(endpoint)).map(({ isActive }) => isActive)).toEqual([false, true])
  })

  test('without a forward action: true is refused, false changes nothing, a secret is refused, "" is not', async () => {
    const endpoint = await service.alice.endpoint()
    expect(refusal(await patch(endpoint, { forwardingEnabled: true }))).toEqual([400, 'validation_failed'])
    expect((await patch(endpoint, { forwardingEnabled: false })).status).toBe(200)
    expect(refusal(await patch(endpoint, { forwardSigningSecret: SECRET }))).toEqual([
      400,
      'validation_failed',
    ])
    expect((await patch(endpoint, { forwardSigningSecret: '' })).status).toBe(200)
  })

  test('a notify action is nothing to forward to: true is refused, also where GET shows it', async () => {
    const channel = await service.alice.post('/api/v1/alert-channels', {
      kind: 'webhook',
      name: 'hook',
      settings: { url: 'http://127.0.0.1:9/' },
    })
    const endpoint = await service.alice.endpoint()
    await service.alice.post(endpoint.at('/actions'), {
      kind: 'notify',
      alertChannelId: membersOf(channel).id,
    })
    expect(await shown(endpoint)).toMatchObject({ forwardingEnabled: true, forwardUrl: null })
    const answer = await patch(endpoint, { forwardingEnabled: true })
    expect(wrongParts(answer)).toEqual(['#/forwardingEnabled not_allowed'])
    expect((await patch(endpoint, { forwardingEnabled: true, forwardUrl: A })).status).toBe(200)
  })

  test('names everything at once that is wrong, also what does not fit the action', async () => {
    const endpoint = await service.alice.endpoint()
    const made = await service.alice.post(endpoint.at('/actions'), {
      kind: 'forward',
      url: A,
      auth: { kind: 'bearer', token: 'tok-123456' },
      signing: { scheme: 'standard-webhooks' },
    })
    expect(made.status).toBe(201)
    const members = { forwardUrl: 'http://127.0.0.1:10/', forwardSigningSecret: SECRET }
    expect(wrongParts(await patch(endpoint, { ...members, responseStatusCode: 700 })).toSorted()).toEqual([
      '#/forwardSigningSecret bad_format',
      '#/forwardUrl not_allowed',
      '#/responseStatusCode out_of_range',
    ])
    const twice = { forwardUrl: 'http://10.0.0.1/', forwardSigningSecret: 'short' }
    expect(wrongParts(await patch(endpoint, twice)).toSorted()).toEqual([
      '#/forwardSigningSecret too_short',
      '#/forwardUrl not_allowed',
    ])
  })

  test('clearing the URL while enabling is refused', async () => {
    const endpoint = await service.alice.endpoint({ forwardUrl: A })
    expect(refusal(await patch(endpoint, { forwardUrl: '', forwardingEnabled: true }))).toEqual([
      400,
      'validation_failed',
    ])
    expect(await shown(endpoint)).toMatchObject({ forwardUrl: A })
  })

  test('a secret alone does not check the URL again', async () => {
    const endpoint = await service.alice.endpoint({ forwardUrl: A })
    await service.db
      .updateTable('actions')
      .set({ url: 'http://10.0.0.1/' })
      .where('endpointId', '=', endpoint.id)
      .execute()
    expect((await patch(endpoint, { forwardSigningSecret: SECRET })).status).toBe(200)
    expect(await shown(endpoint)).toEqual({
      forwardUrl: 'http://10.0.0.1/',
      forwardingEnabled: true,
      signed: true,
    })
    expect((await patch(endpoint, { forwardUrl: 'http://10.0.0.1/' })).status).toBe(200)
    expect((await patch(endpoint, { forwardUrl: 'http://10.0.0.2/' })).status).toBe(400)
    await patch(endpoint, { forwardSigningSecret: '' })
    expect(await shown(endpoint)).toMatchObject({ signed: false })
  })

  test('creating one over the limit of actions: limit_reached, and nothing is saved', async () => {
    const notify = await service.alice.endpoint()
    const channel = membersOf(
      await service.alice.post('/api/v1/alert-channels', {
        kind: 'webhook',
        name: 'hook',
        settings: { url: 'http://127.0.0.1:9/' },
      }),
    ).id
    for (let at = 0; at < 2; at++)
      await service.alice.post(notify.at('/actions'), { kind: 'notify', alertChannelId: channel })
    expect(refusal(await patch(notify, { forwardUrl: A, name: 'changed' }))).toEqual([409, 'limit_reached'])
    expect(membersOf(await service.alice.get(`/api/v1/endpoints/${notify.id}`)).name).not.toBe('changed')
  })

  test('the action is removed while the call runs: 409 concurrent_change, and nothing is saved', async () => {
    const endpoint = await service.alice.endpoint({ forwardUrl: A })
    const [action] = await actionsOf(endpoint)
    const held = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    // The removal holds the endpoint's row, so that the PATCH has read the action when it has to wait.
    const removal = service.db.transaction().execute(async (trx) => {
      await sql`select from endpoints where id = ${endpoint.id} for no key update`.execute(trx)
      locked.resolve()
      await held.promise
      await trx.deleteFrom('actions').where('id', '=', String(action?.id)).execute()
    })
    await locked.promise
    const call = patch(endpoint, { forwardUrl: B, name: 'changed' })
    await eventually('the call, waiting for the lock', () => isWaitingForLock(service.db))
    held.resolve()
    await removal
    expect(refusal(await call)).toEqual([409, 'concurrent_change'])
    expect(membersOf(await service.alice.get(`/api/v1/endpoints/${endpoint.id}`)).name).not.toBe('changed')
  })

  test('of removals and changes over HTTP at the same time each is whole, and none answers otherwise', async () => {
    for (let round = 0; round < 10; round++) {
      const endpoint = await service.alice.endpoint({ forwardUrl: A })
      const [action] = await actionsOf(endpoint)
      const [removed, ...changed] = await Promise.all([
        service.alice.delete(endpoint.at(`/actions/${action?.id}`)),
        ...['x', 'y', 'z'].map((path) => patch(endpoint, { forwardUrl: `${A}/${path}`, name: path })),
      ])
      expect(removed?.status).toBe(204)
      for (const answer of changed) expect([200, 409]).toContain(answer.status)
      const { name } = membersOf(await service.alice.get(`/api/v1/endpoints/${endpoint.id}`))
      if (changed.every(({ status }) => status === 409)) expect(name).toBe('Untitled endpoint')
    }
  })
})
