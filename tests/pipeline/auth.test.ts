import { beforeAll, describe, expect, test } from 'bun:test'
import type { Trx } from '@creel/core'
import { pino } from 'pino'
import { z } from 'zod'
import { attemptsEnded } from '../support/attempts.ts'
import type { TestEndpoint } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { holdOpen } from '../support/heldWrites.ts'
import { isWaitingForLock } from '../support/lockWaits.ts'
import { wrongParts } from '../support/problems.ts'
import { type Received, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { startTokenServer } from '../support/tokenServer.ts'

/** Credentials of forwards are sent to receivers, and shown to no other client. */

const logLines: string[] = []
let service: TestService
beforeAll(async () => {
  const log = pino({ level: 'trace' }, { write: (line: string) => logLines.push(line) })
  service = await startService({ log })
})

const Action = z.looseObject({ id: z.string(), auth: z.record(z.string(), z.unknown()) })
const Detail = z.looseObject({
  state: z.string(),
  error: z.string().nullable(),
  sent: z.looseObject({ rawHeaders: z.array(z.object({ name: z.string(), value: z.string() })) }).nullable(),
  received: z.looseObject({ body: z.string().nullable() }).nullable(),
})

const forward = (endpoint: TestEndpoint, url: string, auth: object, more: object = {}) =>
  endpoint.client.expect(
    endpoint.client.post(endpoint.at('/actions'), { kind: 'forward', url, auth, ...more }),
    Action,
  )
const change = (endpoint: TestEndpoint, { id }: { id: string }, members: object) =>
  endpoint.client.put(endpoint.at(`/actions/${id}`), members)

/** The newest attempt in full, once `count` have ended. */
async function record(endpoint: TestEndpoint, count: number) {
  await attemptsEnded(service, endpoint, count)
  const { id } = await service.db
    .selectFrom('deliveryAttempts')
    .where('endpointId', '=', endpoint.id)
    .select('id')
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow()
  const answer = service.alice.get(endpoint.at(`/deliveries/${id}`))
  return { ...(await service.alice.expect(answer, Detail)), text: (await answer).text }
}

const valuesOf = (one: Received | undefined, name: string) =>
  (one?.rawHeaders ?? [])
    .filter(([field]) => field.toLowerCase() === name.toLowerCase())
    .map(([, value]) => value)

const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`

describe('a receiver gets', () => {
  test.each([
    ['a bearer token', { kind: 'bearer', token: 'tok-123456' }, 'authorization', 'Bearer tok-123456'],
    [
      'a name and a password',
      { kind: 'basic', username: 'ädä', password: 'p:ss wörd' },
      'authorization',
      basic('ädä:p:ss wörd'),
    ],
    ['a header', { kind: 'header', name: 'X-Api-Key', value: 'key-123456' }, 'x-api-key', 'key-123456'],
  ])('%s, in place of what was captured; its record does not', async (_, auth, name, value) => {
    // A receiver that repeats what it was sent.
    await using receiver = await startReceiver((one, response) => {
      response.setHeader('X-Seen', one.header(name) ?? '')
      response.end(JSON.stringify(one.rawHeaders))
    })
    const endpoint = await service.alice.endpoint()
    const action = await forward(endpoint, receiver.url, auth)
    const captured = { [name.toUpperCase()]: 'of the sender', 'X-Other': 'stays' }
    const { id } = await endpoint.capture({ headers: captured })
    const [one] = await receiver.take(1)
    expect(valuesOf(one, name)).toEqual([value])
    expect(valuesOf(one, 'x-other')).toEqual(['stays'])
    const { sent, received, text } = await record(endpoint, 1)
    expect(sent?.rawHeaders.filter((field) => field.name.toLowerCase() === name)).toEqual([
      { name: expect.any(String), value: '•••' },
    ])
    expect(received?.body).toContain('•••')
    expect(sent?.rawHeaders.map((field) => field.name.toLowerCase())).toEqual(
      one?.rawHeaders.map(([field]) => field.toLowerCase()) ?? [],
    )
    const audit = await service.alice.get('/api/v1/audit')
    const secret = Object.values(auth).at(-1) ?? ''
    const others = [audit.text, text, JSON.stringify(action), logLines.join('\n')]
    for (const other of others) for (const part of [secret, value]) expect(other).not.toContain(part)
    // A replay and an edited request bear the same credentials.
    await service.alice.post(endpoint.at(`/requests/${id}/replay`))
    await service.alice.post(endpoint.at(`/requests/${id}/send`), { actionId: action.id, sign: false })
    const all = await receiver.take(3)
    expect(all.map((each) => valuesOf(each, name))).toEqual([[value], [value], [value]])
    expect((await record(endpoint, 3)).text).not.toContain(secret)
  })

  test('what a rule writes, unless it is the field of the credentials', async () => {
    await using receiver = await startReceiver()
    const endpoint = await service.alice.endpoint()
    await forward(endpoint, receiver.url, { kind: 'bearer', token: 'tok-123456' })
    const write = (path: string, text: string) => ({
      op: 'compute',
      path,
      fn: 'concat',
      args: [{ literal: text }],
    })
    const steps = [write('headers.Authorization', 'Bearer of-a-rule'), write('headers.X-Tenant', 'acme')]
    const rule = { version: 1, name: 'theirs', steps }
    const made = await service.alice.post(endpoint.at('/transformations'), rule)
    expect(made.status).toBe(201)
    await endpoint.capture()
    const [one] = await receiver.take(1)
    expect(valuesOf(one, 'authorization')).toEqual(['Bearer tok-123456'])
    expect(valuesOf(one, 'x-tenant')).toEqual(['acme'])
  })
})

test('the record of an interrupted attempt hides them, too', async () => {
  await using receiver = await startReceiver(() => {})
  const endpoint = await service.alice.endpoint()
  await forward(endpoint, receiver.url, { kind: 'bearer', token: 'tok-123456' })
  await endpoint.capture()
  await receiver.take(1)
  receiver.answer = { status: 200 }
  await service.clock.advance(91_000)
  await attemptsEnded(service, endpoint, 2)
  const rows = await service.db
    .selectFrom('attemptDetails')
    .where('endpointId', '=', endpoint.id)
    .select('sentHeaders')
    .execute()
  expect(rows).toHaveLength(2)
  for (const { sentHeaders } of rows) {
    expect(sentHeaders).toContain('"Authorization"')
    expect(sentHeaders).not.toContain('tok-123456')
  }
})

describe('an OAuth client', () => {
  const client = (tokenUrl: string) => ({
    kind: 'oauth2ClientCredentials',
    tokenUrl,
    clientId: 'creel client',
    clientSecret: 'client:secret-123',
    scope: 'hooks.write hooks.read',
  })

  test('fetches one token for all that wait, and keeps it until 60 s before it ends', async () => {
    await using receiver = await startReceiver()
    await using tokens = await startTokenServer()
    const endpoint = await service.alice.endpoint()
    await forward(endpoint, receiver.url, client(tokens.url))
    const held = Promise.withResolvers<void>()
    tokens.held = held.promise
    await endpoint.captureMany(5)
    held.resolve()
    const five = await receiver.take(5)
    expect(tokens.fetches).toHaveLength(1)
    const [token = ''] = tokens.tokens
    for (const one of five) expect(valuesOf(one, 'authorization')).toEqual([`Bearer ${token}`])
    const [fetched] = tokens.fetches
    expect(fetched?.body.toString()).toBe('grant_type=client_credentials&scope=hooks.write+hooks.read')
    expect(fetched?.header('authorization')).toBe(basic('creel+client:client%3Asecret-123'))

    await service.clock.advance(3530_000)
    await endpoint.capture()
    await receiver.take(6)
    expect(tokens.fetches).toHaveLength(1)
    await service.clock.advance(20_000)
    await endpoint.capture()
    const seven = await receiver.take(7)
    expect(valuesOf(seven[6], 'authorization')).toEqual([`Bearer ${tokens.tokens[1]}`])
    const { text } = await record(endpoint, 7)
    expect(text).toContain('•••')
    expect(
      [text, logLines.join('\n')].filter((one) => tokens.tokens.some((each) => one.includes(each))),
    ).toEqual([])
  })

  test('fetches another one after a 401, once', async () => {
    await using tokens = await startTokenServer()
    const accepted = new Set<string>()
    await using receiver = await startReceiver((one, response) => {
      response.statusCode = accepted.has(one.header('authorization') ?? '') ? 200 : 401
      response.end()
    })
    const endpoint = await service.alice.endpoint()
    await forward(endpoint, receiver.url, client(tokens.url))
    await endpoint.capture()
    expect(await record(endpoint, 1)).toMatchObject({ state: 'Failed', error: 'http_401' })
    expect([tokens.fetches.length, receiver.received.length]).toEqual([2, 2])
    // Nor is one fetched for each of the attempts that follow at once.
    await endpoint.capture()
    await record(endpoint, 2)
    expect([tokens.fetches.length, receiver.received.length]).toEqual([2, 3])
    await service.clock.advance(11_000)
    await attemptsEnded(service, endpoint, 4)
    tokens.held = undefined
    const before = tokens.fetches.length
    await service.clock.advance(11_000)
    receiver.answer = (one, response) => {
      response.statusCode = one.header('authorization') === `Bearer ${tokens.tokens[before]}` ? 200 : 401
      response.end()
    }
    await endpoint.capture()
    await attemptsEnded(service, endpoint, 5)
    const last = await record(endpoint, 5)
    expect(last.state).toBe('Succeeded')
    expect(tokens.fetches).toHaveLength(before + 1)
  })

  test.each([
    ['refuses', { status: 401, body: '{"error":"invalid_client"}' }, 'answered 401 (invalid_client)'],
    ['says nothing of a token', { status: 200, body: '<html>' }, 'holds no access token'],
    [
      'gives a token that would end its header',
      { status: 200, body: JSON.stringify({ access_token: 'a\r\nX-Evil: 1' }) },
      'holds no access token',
    ],
    ['answers without end', { status: 200, body: 'x'.repeat(100_000) }, 'holds no access token'],
  ])('fails its attempts, to be retried, where the server %s', async (_, failure, words) => {
    await using receiver = await startReceiver()
    await using tokens = await startTokenServer()
    tokens.failure = failure
    const endpoint = await service.alice.endpoint()
    await forward(endpoint, receiver.url, client(tokens.url))
    await endpoint.capture()
    const failed = await record(endpoint, 1)
    expect(failed).toMatchObject({ state: 'Errored', sent: null })
    expect(failed.error).toMatch(/^auth: /)
    expect(failed.error).toContain(words)
    tokens.failure = undefined
    await service.clock.advance(7000)
    expect((await record(endpoint, 2)).state).toBe('Succeeded')
    expect(receiver.received).toHaveLength(1)
  })

  test('waits for its token within the time limit of the attempt', async () => {
    await using receiver = await startReceiver()
    await using tokens = await startTokenServer()
    const held = Promise.withResolvers<void>()
    tokens.held = held.promise
    const endpoint = await service.alice.endpoint()
    await forward(endpoint, receiver.url, client(tokens.url), { delivery: { timeoutSeconds: 1 } })
    await endpoint.capture()
    const { error } = await record(endpoint, 1)
    expect(error).toBe('auth: the token endpoint did not answer within 1000 ms')
    held.resolve()
  })

  test('reaches no address that forwards must not', async () => {
    await using receiver = await startReceiver()
    const endpoint = await service.alice.endpoint()
    const members = (tokenUrl: string) => ({ kind: 'forward', url: receiver.url, auth: client(tokenUrl) })
    const refused = await service.alice.post(endpoint.at('/actions'), members('https://10.0.0.1/token'))
    expect(wrongParts(refused)).toEqual(['#/auth/tokenUrl not_allowed'])
    const plain = await service.alice.post(endpoint.at('/actions'), members('http://8.8.8.8/token'))
    expect(wrongParts(plain)).toEqual(['#/auth/tokenUrl bad_url'])
    // A name that leads there by the time it is asked.
    await forward(endpoint, receiver.url, client('https://unknown.invalid/token'))
    await endpoint.capture()
    expect((await record(endpoint, 1)).error).toStartWith('auth: the token endpoint did not answer: dns')
  })
})

describe('credentials are written, never read', () => {
  test('the view shows all but the secret; a change keeps what it leaves out', async () => {
    const endpoint = await service.alice.endpoint()
    const url = 'http://127.0.0.1:9/'
    const action = await forward(endpoint, url, { kind: 'basic', username: 'ada', password: 'old-password' })
    const nothing = { username: null, name: null, tokenUrl: null, clientId: null, scope: null }
    const view = { ...nothing, kind: 'basic', username: 'ada', isSet: true, setAt: expect.any(String) }
    expect(action.auth).toEqual(view)
    await using receiver = await startReceiver()
    // The credentials that were read can be written back.
    const again = await change(endpoint, action, { auth: action.auth })
    expect(Object(again.body).auth).toEqual(action.auth)
    await change(endpoint, action, { auth: { kind: 'basic', username: 'bob' } })
    await change(endpoint, action, { url: receiver.url, auth: { kind: 'basic', password: 'new-password' } })
    await endpoint.capture()
    const [one] = await receiver.take(1)
    expect(one?.header('authorization')).toBe(basic('bob:new-password'))
    const removed = await change(endpoint, action, { auth: null })
    expect(Object(removed.body).auth).toEqual({ ...nothing, kind: 'none', isSet: false, setAt: null })
    await endpoint.capture()
    expect((await receiver.take(2))[1]?.header('authorization')).toBeUndefined()
  })

  test('they do not follow to another host', async () => {
    const endpoint = await service.alice.endpoint()
    const action = await forward(endpoint, 'http://127.0.0.1:9/', { kind: 'bearer', token: 'tok-123456' })
    const elsewhere = 'http://127.0.0.1:10/'
    expect(wrongParts(await change(endpoint, action, { url: elsewhere }))).toEqual(['#/auth required'])
    const kept = { url: elsewhere, auth: { kind: 'bearer' } }
    expect(wrongParts(await change(endpoint, action, kept))).toEqual(['#/auth/token required'])
    const legacy = await service.alice.patch(`/api/v1/endpoints/${endpoint.id}`, { forwardUrl: elsewhere })
    expect(wrongParts(legacy)).toEqual(['#/forwardUrl not_allowed'])
    expect((await change(endpoint, action, { url: 'http://127.0.0.1:9/other' })).status).toBe(200)
    const given = { url: elsewhere, auth: { kind: 'bearer', token: 'tok-654321' } }
    expect((await change(endpoint, action, given)).status).toBe(200)
  })

  test('they do not follow where another call changes the action meanwhile', async () => {
    const { alice, db } = service
    const endpoint = await alice.endpoint()
    const here = 'http://127.0.0.1:9/'
    const elsewhere = 'http://127.0.0.1:10/'
    const bearer = { kind: 'bearer', token: 'tok-123456' }
    const other = await forward(endpoint, here, bearer)
    const { authSettings, authSecrets, authSetAt } = await db
      .selectFrom('actions')
      .where('id', '=', other.id)
      .selectAll()
      .executeTakeFirstOrThrow()
    for (const [theirs, ours, wrong] of [
      [{ authSettings, authSecrets, authSetAt }, { url: elsewhere }, '#/auth required'],
      [{ url: elsewhere }, { auth: bearer }, '#/auth not_allowed'],
    ] as const) {
      const action = await forward(endpoint, here, { kind: 'none' })
      await using changing = holdOpen(db, async (trx: Trx) => {
        // A change of an action holds its endpoint.
        await trx
          .selectFrom('endpoints')
          .where('id', '=', endpoint.id)
          .select('id')
          .forNoKeyUpdate()
          .execute()
        await trx.updateTable('actions').set(theirs).where('id', '=', action.id).execute()
      })
      await changing.isOpen
      const call = change(endpoint, action, ours)
      await eventually('the call, waiting for the action', () => isWaitingForLock(db))
      await changing.release()
      expect(wrongParts(await call)).toEqual([wrong])
    }
  })

  test.each([
    ['an unknown kind', { kind: 'digest' }, ['#/auth/kind unknown_value']],
    ['no token', { kind: 'bearer' }, ['#/auth/token required']],
    ['a token of two words', { kind: 'bearer', token: 'a b' }, ['#/auth/token bad_format']],
    [
      'a secret that ends its line',
      { kind: 'header', name: 'X-Key', value: 'a\r\nb: c' },
      ['#/auth/value bad_format'],
    ],
    [
      'a colon in a user name',
      { kind: 'basic', username: 'a:b', password: 'c' },
      ['#/auth/username bad_format'],
    ],
    ['a header of ours', { kind: 'header', name: 'creel-hops', value: 'x' }, ['#/auth/name not_allowed']],
    ['a header of the connection', { kind: 'header', name: 'Host', value: 'x' }, ['#/auth/name not_allowed']],
    ['no name of a header', { kind: 'header', name: 'X Key', value: 'x' }, ['#/auth/name bad_format']],
    [
      'a member of another kind',
      { kind: 'bearer', token: 'x', password: 'y' },
      ['#/auth/password not_allowed'],
    ],
    [
      'half a client',
      { kind: 'oauth2ClientCredentials', tokenUrl: 'https://id.example.com/token' },
      ['#/auth/clientId required', '#/auth/clientSecret required'],
    ],
  ])('%s is refused', async (_, auth, wrong) => {
    const endpoint = await service.alice.endpoint()
    const members = { kind: 'forward', url: 'http://127.0.0.1:9/', auth }
    expect(wrongParts(await service.alice.post(endpoint.at('/actions'), members))).toEqual(wrong)
  })
})
