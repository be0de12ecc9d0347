import { beforeAll, describe, expect, test } from 'bun:test'
import { createServer, type TLSSocket } from 'node:tls'
import { z } from 'zod'
import { attemptsEnded } from '../support/attempts.ts'
import { type Authority, type Issued, newAuthority } from '../support/certificates.ts'
import type { TestEndpoint } from '../support/client.ts'
import { wrongParts } from '../support/problems.ts'
import { servicePerTest, startService, type TestService } from '../support/service.ts'

/** Forwards over TLS: to receivers of a private authority, and to those that ask for a client certificate. */

const DAY = 86_400_000

let service: TestService
let authority: Authority
let ours: Issued
let theirs: Issued
const startOne = servicePerTest()

beforeAll(async () => {
  authority = await newAuthority()
  ours = await authority.issue('creel', 30)
  theirs = await authority.issue('receiver', 30)
  service = await startService()
})

interface SecureReceiver extends AsyncDisposable {
  readonly url: string
  /** The client's certificate of each connection, in order. */
  readonly clients: readonly string[]
  /** Every request: the index of its connection. */
  readonly requests: readonly number[]
}

/** Takes no request without a client certificate of the authority. */
async function startSecureReceiver(): Promise<SecureReceiver> {
  const clients: string[] = []
  const requests: number[] = []
  const sockets = new Set<TLSSocket>()
  const secure = { cert: theirs.certificate, key: theirs.key, ca: authority.certificate }
  const server = createServer({ ...secure, requestCert: true, rejectUnauthorized: true }, (socket) => {
    sockets.add(socket)
    const connection = clients.push(String(socket.getPeerCertificate().subject?.CN)) - 1
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      for (const _ of chunk.toString('latin1').matchAll(/^POST .* HTTP/gm)) {
        requests.push(connection)
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
      }
    })
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The receiver has no port.')
  return {
    url: `https://127.0.0.1:${address.port}/hooks`,
    clients,
    requests,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const Action = z.looseObject({ id: z.string(), tls: z.record(z.string(), z.unknown()).nullable() })
const post = (endpoint: TestEndpoint, url: string, tls: object | null, more: object = {}) =>
  endpoint.client.post(endpoint.at('/actions'), { kind: 'forward', url, tls, ...more })
const forward = (endpoint: TestEndpoint, url: string, tls: object | null, more: object = {}) =>
  endpoint.client.expect(post(endpoint, url, tls, more), Action)
const change = (endpoint: TestEndpoint, { id }: { id: string }, members: object) =>
  endpoint.client.put(endpoint.at(`/actions/${id}`), members)

const members = (issued: Issued, more: object = {}) => ({
  clientCertificate: issued.certificate,
  clientKey: issued.key,
  certificateAuthority: authority.certificate,
  ...more,
})

async function errorOf(endpoint: TestEndpoint, count = 1, of = service) {
  await attemptsEnded(of, endpoint, count)
  const { state, error } = await of.db
    .selectFrom('deliveryAttempts')
    .where('endpointId', '=', endpoint.id)
    .orderBy('id', 'desc')
    .select(['state', 'error'])
    .executeTakeFirstOrThrow()
  return error ?? state
}

test('a receiver that asks for a certificate gets it, and connections are used again', async () => {
  await using receiver = await startSecureReceiver()
  const endpoint = await service.alice.endpoint()
  await forward(endpoint, receiver.url, members(ours))
  await endpoint.capture()
  expect(await errorOf(endpoint)).toBe('Succeeded')
  const { id } = await endpoint.capture()
  expect(await errorOf(endpoint, 2)).toBe('Succeeded')
  await service.alice.post(endpoint.at(`/requests/${id}/replay`))
  expect(await errorOf(endpoint, 3)).toBe('Succeeded')
  expect(receiver.requests).toHaveLength(3)
  expect(receiver.requests[2]).toBe(receiver.requests[1] ?? -2)
})

test('without it, or without its authority, nothing arrives', async () => {
  await using receiver = await startSecureReceiver()
  const endpoint = await service.alice.endpoint()
  await forward(endpoint, receiver.url, { certificateAuthority: authority.certificate })
  await endpoint.capture()
  expect(await errorOf(endpoint)).toMatch(/^(tls|reset)/)
  const other = await service.alice.endpoint()
  await forward(other, receiver.url, null)
  await other.capture()
  expect(await errorOf(other)).toStartWith('tls: ')
  expect(receiver.requests).toEqual([])
})

test('two actions to one receiver share no connection', async () => {
  await using receiver = await startSecureReceiver()
  const second = await authority.issue('second', 30)
  const endpoint = await service.alice.endpoint()
  await forward(endpoint, receiver.url, members(ours), { auth: { kind: 'bearer', token: 'tok-123456' } })
  await forward(endpoint, receiver.url, members(second))
  await endpoint.capture()
  await attemptsEnded(service, endpoint, 2)
  expect(receiver.clients.toSorted()).toEqual(['creel', 'second'])
  await endpoint.capture()
  await attemptsEnded(service, endpoint, 4)
  const seen = receiver.requests.map((connection) => receiver.clients[connection])
  expect(seen.toSorted()).toEqual(['creel', 'creel', 'second', 'second'])
})

test('the key is written, never read; what a change leaves out stays', async () => {
  const endpoint = await service.alice.endpoint()
  const url = 'https://127.0.0.1:9/'
  const action = await forward(endpoint, url, members(ours))
  expect(action.tls).toEqual({
    clientCertificate: ours.certificate,
    certificateAuthority: authority.certificate,
    isSet: true,
    setAt: expect.any(String),
    subject: 'CN=creel',
    expiresAt: expect.any(String),
  })
  const daysLeft = (Date.parse(String(action.tls?.expiresAt)) - Date.now()) / DAY
  expect(daysLeft).toBeWithin(29, 30)
  const again = await change(endpoint, action, { tls: action.tls })
  expect(Object(again.body).tls).toEqual(action.tls)
  const bare = await change(endpoint, action, { tls: { certificateAuthority: '' } })
  expect(Object(bare.body).tls).toMatchObject({ certificateAuthority: null, isSet: true })
  const audit = await service.alice.get('/api/v1/audit')
  const [line = ''] = ours.key.split('\n').slice(1)
  expect(
    [action, again.text, bare.text, audit.text].map((one) => JSON.stringify(one).includes(line)),
  ).toEqual(Array(4).fill(false))
  expect(Object((await change(endpoint, action, { tls: { clientCertificate: '' } })).body).tls).toBeNull()
})

describe('refused', () => {
  const https = 'https://127.0.0.1:9/'

  test('what contradicts itself, with a pointer each', async () => {
    const endpoint = await service.alice.endpoint()
    const wrong = async (tls: object, url = https) => wrongParts(await post(endpoint, url, tls))
    const { certificate, key } = ours
    expect(await wrong(members({ certificate, key: theirs.key }))).toEqual(['#/tls/clientKey not_allowed'])
    expect(await wrong({ clientCertificate: certificate })).toEqual(['#/tls/clientKey required'])
    expect(await wrong({ clientKey: key })).toEqual(['#/tls/clientCertificate required'])
    expect(await wrong({ clientCertificate: 'none', clientKey: key })).toEqual([
      '#/tls/clientCertificate bad_format',
    ])
    expect(await wrong({ clientCertificate: `${certificate}\n${key}`, clientKey: key })).toEqual([
      '#/tls/clientCertificate bad_format',
    ])
    expect(await wrong({ clientCertificate: certificate, clientKey: 'none' })).toEqual([
      '#/tls/clientKey bad_format',
    ])
    expect(await wrong({ certificateAuthority: key })).toEqual(['#/tls/certificateAuthority bad_format'])
    expect(await wrong(members(ours), 'http://127.0.0.1:9/')).toEqual(['#/tls not_allowed'])
    const action = await forward(endpoint, https, members(ours))
    expect(
      wrongParts(await change(endpoint, action, { tls: { clientCertificate: theirs.certificate } })),
    ).toEqual(['#/tls/clientKey required'])
    const plain = await change(endpoint, action, { url: 'http://127.0.0.1:9/' })
    expect(wrongParts(plain)).toEqual(['#/url not_allowed'])
  })

  test('what has ended', async () => {
    const own = await startOne()
    const endpoint = await own.alice.endpoint()
    await own.clock.advance(31 * DAY)
    expect(wrongParts(await post(endpoint, https, members(ours)))).toEqual([
      '#/tls/clientCertificate not_allowed',
    ])
    const ended = await newAuthority(30)
    expect(wrongParts(await post(endpoint, https, { certificateAuthority: ended.certificate }))).toEqual([
      '#/tls/certificateAuthority not_allowed',
    ])
  })
})

test('an action whose certificates have ended still takes what GET shows, and can be switched off', async () => {
  const own = await startOne()
  const endpoint = await own.alice.endpoint()
  const shortLived = await newAuthority(30)
  const identity = { clientCertificate: ours.certificate, clientKey: ours.key }
  const action = await forward(endpoint, 'https://127.0.0.1:9/', {
    ...identity,
    certificateAuthority: shortLived.certificate,
  })
  await own.clock.advance(31 * DAY)
  const off = await change(endpoint, action, { ...action, isActive: false })
  expect(off).toMatchObject({ status: 200, body: { isActive: false, tls: action.tls } })
  expect((await change(endpoint, action, { tls: identity })).status).toBe(200)
  const { certificateAuthority } = members(ours)
  expect((await change(endpoint, action, { tls: { certificateAuthority } })).status).toBe(200)
  const ended = await authority.issue('creel', 20)
  expect(wrongParts(await change(endpoint, action, { tls: members(ended) }))).toEqual([
    '#/tls/clientCertificate not_allowed',
  ])
})

test('14 days before the end one alert comes, and one when the certificate was replaced', async () => {
  const own = await startOne()
  const endpoint = await own.alice.endpoint()
  const action = await forward(endpoint, 'https://127.0.0.1:9/', members(ours))
  // PostgreSQL cannot read the remark as JSON.
  const certificateAuthority = `\ud800\n${authority.certificate}`
  await forward(endpoint, 'https://127.0.0.1:9/', { certificateAuthority })
  const alerts = () =>
    own.db
      .selectFrom('alerts')
      .where('subjectId', '=', action.id)
      .select(['eventKind', 'status', 'reason'])
      .orderBy('occurredAt')
      .execute()
  await own.clock.advance(15 * DAY)
  await own.runJob('certificates.check', {})
  expect(await alerts()).toEqual([])
  await own.clock.advance(2 * DAY)
  await own.runJob('certificates.check', {})
  await own.runJob('certificates.check', {})
  const [expiring, ...others] = await alerts()
  expect(others).toEqual([])
  expect(expiring).toMatchObject({ eventKind: 'certificate.expiring', status: 'open' })
  expect(expiring?.reason).toContain(String(action.tls?.expiresAt))
  const longer = await authority.issue('creel', 60)
  expect((await change(endpoint, action, { tls: members(longer) })).status).toBe(200)
  expect((await alerts()).map(({ eventKind }) => eventKind)).toEqual([
    'certificate.expiring',
    'certificate.renewed',
  ])
})
