import { beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { attemptsEnded } from '../../support/attempts.ts'
import type { TestEndpoint } from '../../support/client.ts'
import { sendRaw } from '../../support/rawSender.ts'
import { startReceiver } from '../../support/receiver.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})

const Attempt = z.looseObject({ id: z.int(), state: z.string(), error: z.string().nullable() })
const Attempts = z.object({ items: z.array(Attempt), totalCount: z.int() })

/** The endpoint's attempts once `count` of them have ended; newest first. */
async function ended(endpoint: TestEndpoint, count = 1, of: TestService = service) {
  await attemptsEnded(of, endpoint, count)
  return (await endpoint.client.expect(endpoint.client.get(endpoint.at('/deliveries')), Attempts)).items
}

const detail = async (endpoint: TestEndpoint, id: number) =>
  Object((await endpoint.client.get(endpoint.at(`/deliveries/${id}`))).body)

/** A POST of `{}` with these header fields and those that HTTP requires. */
function rawPost({ url }: TestEndpoint, ...fields: readonly string[]): string {
  const { host, pathname } = new URL(url)
  const head = [
    `POST ${pathname} HTTP/1.1`,
    `Host: ${host}`,
    'Connection: close',
    'Content-Length: 2',
    ...fields,
  ]
  return [...head, '', '{}'].join('\r\n')
}

describe('a forward', () => {
  test('carries the captured method, bytes and headers, and says who sends it', async () => {
    await using receiver = await startReceiver()
    const endpoint = await service.alice.endpoint({ forwardUrl: `${receiver.url}?token=1` })
    const body = new Uint8Array([0, 255, 10, 13, 65])
    const request = await endpoint.capture({
      method: 'PUT',
      suffix: '/ignored/suffix?ignored=1',
      headers: {
        'X-Custom': 'caf\u00e9',
        Authorization: 'Bearer x',
        'Content-Type': 'application/x-odd',
        'User-Agent': 'Sender/7.1',
      },
      body,
    })
    const [got] = await receiver.take(1)
    expect(got).toMatchObject({ method: 'PUT', url: '/hooks?token=1' })
    expect(got?.body).toEqual(Buffer.from(body))
    expect(got?.header('x-custom')).toBe('caf\u00e9')
    expect(got?.header('authorization')).toBe('Bearer x')
    expect(got?.header('content-type')).toBe('application/x-odd')
    expect(got?.header('user-agent')).toBe('Sender/7.1')
    expect(got?.header('creel-request-id')).toBe(String(request.id))
    expect(got?.header('creel-attempt')).toBe('1')
    expect(got?.header('creel-hops')).toBe('1')
    expect(got?.header('creel-signature')).toBeUndefined()
    expect(got?.header('accept-encoding')).toBeUndefined()

    const [attempt] = await ended(endpoint)
    expect(got?.header('creel-attempt-id')).toBe(String(attempt?.id))
  })

  test('introduces itself where the sender did not', async () => {
    await using receiver = await startReceiver()
    const endpoint = await service.alice.endpoint({ forwardUrl: receiver.url })
    await sendRaw(endpoint.url, rawPost(endpoint))
    const [got] = await receiver.take(1)
    expect(got?.header('user-agent')).toBe('creel/0.0.0-test')
  })

  test('goes to the captured path and query where its action says so, raw', async () => {
    await using receiver = await startReceiver()
    const endpoint = await service.alice.endpoint()
    const answer = await service.alice.post(endpoint.at('/actions'), {
      kind: 'forward',
      url: `${receiver.url}/?token=1`,
      appendPath: true,
      appendQuery: true,
    })
    const action = Object(answer.body)
    expect([action.appendPath, action.appendQuery]).toEqual([true, true])
    const suffix = '/eu/%7Ea%2f?challenge=a+b&challenge=%zz'
    const request = await endpoint.capture({ method: 'GET', suffix })
    expect((await receiver.take(1))[0]).toMatchObject({
      method: 'GET',
      url: '/hooks/eu/%7Ea%2f?token=1&challenge=a+b&challenge=%zz',
    })
    const target = `${receiver.url}/eu/%7Ea%2f?token=1&challenge=a+b&challenge=%zz`
    const [attempt] = await ended(endpoint)
    expect((await detail(endpoint, attempt?.id ?? 0)).sent.url).toBe(target)

    const path = endpoint.at(`/actions/${action.id}`)
    const changed = await service.alice.put(path, { appendPath: false, url: `${receiver.url}?token=2` })
    expect(changed.body).toMatchObject({ appendPath: false, appendQuery: true })
    const replayed = await service.alice.post(endpoint.at(`/requests/${request.id}/replay`))
    expect((await receiver.take(2))[1]?.url).toBe('/hooks?token=2&challenge=a+b&challenge=%zz')
    const { attemptId } = Object(replayed.body)
    expect((await detail(endpoint, attemptId)).sent.url).toBe(
      `${receiver.url}?token=2&challenge=a+b&challenge=%zz`,
    )
    // Null changes nothing, and the single-URL members make actions that append nothing.
    const legacy = await service.alice.endpoint({ forwardUrl: receiver.url })
    const { actions } = Object((await service.alice.get(legacy.at('/actions'))).body)
    expect(actions).toMatchObject([{ appendPath: false, appendQuery: false }])
  })

  test('never leaves the base path of its action, in any spelling, and others of the action arrive', async () => {
    await using receiver = await startReceiver()
    const endpoint = await service.alice.endpoint()
    await service.alice.post(endpoint.at('/actions'), {
      kind: 'forward',
      url: `${receiver.url}?token=1`,
      appendPath: true,
      auth: { kind: 'bearer', token: 'owners-token' },
    })
    const paths = [
      '/../../admin/delete',
      '/%2e%2e/admin',
      '/..%2fadmin',
      '/..;/admin',
      '/%252e%252e/admin',
      '/%25252e%25252e%25252fadmin',
    ]
    const { host, pathname } = new URL(endpoint.url)
    for (const path of paths) {
      const line = `POST ${pathname}${path} HTTP/1.1`
      const answer = await sendRaw(
        endpoint.url,
        `${line}\r\nHost: ${host}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
      )
      expect(answer.status).toBe(200)
    }
    await endpoint.capture({ suffix: '/eu' })
    expect((await receiver.take(1))[0]?.url).toBe('/hooks/eu?token=1')
    const attempts = await ended(endpoint, paths.length + 1)
    const refused = attempts.filter(({ state }) => state !== 'Succeeded')
    expect(refused).toHaveLength(paths.length)
    const error = 'unsafe_path: the captured path would leave the base path of the destination'
    for (const attempt of refused)
      expect(attempt).toMatchObject({ state: 'Errored', error, statusCode: null, nextAttemptAt: null })
    // Nor does a replay.
    const [{ requestId } = { requestId: 0 }] = refused
    await service.alice.post(endpoint.at(`/requests/${requestId}/replay`))
    const all = await ended(endpoint, paths.length + 2)
    expect(all.filter((attempt) => attempt.error === error)).toHaveLength(paths.length + 1)
    expect(receiver.received).toHaveLength(1)
  })

  test('of a CONNECT ends unsent, and tells nothing of the receiver', async () => {
    await using receiver = await startReceiver()
    const endpoint = await service.alice.endpoint()
    const breaker = { failures: 1, windowSeconds: 60, probeEverySeconds: 60 }
    const action = { kind: 'forward', url: receiver.url, delivery: { breaker } }
    expect((await service.alice.post(endpoint.at('/actions'), action)).status).toBe(201)
    const sent = await sendRaw(endpoint.url, rawPost(endpoint).replace('POST', 'CONNECT'))
    expect(sent.status).toBe(200)
    const [attempt] = await ended(endpoint)
    const error = 'unsendable: a CONNECT request cannot be forwarded'
    expect(attempt).toMatchObject({ state: 'Errored', error, nextAttemptAt: null, hasDetail: false })
    expect(await detail(endpoint, attempt?.id ?? 0)).toMatchObject({ sent: null, received: null })
    await endpoint.capture()
    await receiver.take(1)
    expect((await ended(endpoint, 2)).map(({ state }) => state)).toEqual(['Succeeded', 'Errored'])
  })

  test('lists repeated header fields of both sides as they were', async () => {
    await using receiver = await startReceiver({ status: 200, headers: { 'X-Two': ['a', 'b'] } })
    const endpoint = await service.alice.endpoint({ forwardUrl: receiver.url })
    await sendRaw(endpoint.url, rawPost(endpoint, 'X-One: 1', 'x-ONE: 2'))
    const [attempt] = await ended(endpoint)
    const { sent, received } = await detail(endpoint, attempt?.id ?? 0)
    expect(sent.headers).toMatchObject({ 'X-One': '1, 2' })
    expect(sent.rawHeaders).toContainEqual({ name: 'X-One', value: '1' })
    expect(sent.rawHeaders).toContainEqual({ name: 'x-ONE', value: '2' })
    expect(received.headers).toMatchObject({ 'X-Two': 'a, b' })
    expect(received.rawHeaders.filter(({ name }: { name: string }) => name === 'X-Two')).toEqual([
      { name: 'X-Two', value: 'a' },
      { name: 'X-Two', value: 'b' },
    ])
  })

  test('is recorded exactly: what was sent as on the wire, what came back', async () => {
    await using receiver = await startReceiver({
      status: 201,
      headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-Answer': 'yes' },
      body: 'created',
    })
    const endpoint = await service.alice.endpoint({
      forwardUrl: receiver.url,
      forwardSigningSecret: 's'.repeat(16),
    })
    const request = await endpoint.capture({ body: '{"id":1}' })
    const [attempt] = await ended(endpoint)
    const [got] = await receiver.take(1)
    expect(attempt).toEqual({
      id: expect.any(Number),
      requestId: request.id,
      actionId: expect.any(String),
      actionName: `127.0.0.1:${receiver.port}`,
      kind: 'forward',
      label: null,
      state: 'Succeeded',
      statusCode: 201,
      error: null,
      url: receiver.url,
      at: expect.any(String),
      finishedAt: expect.any(String),
      durationMs: expect.any(Number),
      attemptNumber: 1,
      trigger: 'capture',
      nextAttemptAt: null,
      hasDetail: true,
      transformed: false,
      transformationVersion: null,
    })
    const record = await detail(endpoint, attempt?.id ?? 0)
    expect(record).toMatchObject({ ...attempt, endpointId: endpoint.id, transformNote: null })
    expect(record.sent).toEqual({
      method: 'POST',
      url: receiver.url,
      headers: Object.fromEntries(got?.rawHeaders ?? []),
      rawHeaders: (got?.rawHeaders ?? []).map(([name, value]) => ({ name, value })),
      body: '{"id":1}',
      bodyIsBinary: false,
      decodedBody: null,
      bodyTruncated: false,
    })
    expect(record.received).toMatchObject({
      statusCode: 201,
      contentType: 'text/plain; charset=utf-8',
      headers: { 'X-Answer': 'yes' },
      body: 'created',
      bodyIsBinary: false,
      decodedBody: null,
      bodyTruncated: false,
    })
  })

  test('is signed so that the receiver can verify it; for 24 h after a rotation by both secrets', async () => {
    await using receiver = await startReceiver()
    const [old, young] = ['old-secret-old-secret', 'new-secret-new-secret']
    const endpoint = await service.alice.endpoint({ forwardUrl: receiver.url, forwardSigningSecret: old })
    await service.alice.patch(`/api/v1/endpoints/${endpoint.id}`, { forwardSigningSecret: young })
    await endpoint.capture({ body: 'exact bytes' })
    await receiver.take(1)
    await service.clock.advance(24 * 3600 * 1000)
    await endpoint.capture({ body: 'exact bytes' })
    const received = await receiver.take(2)
    const secretsOf = (signature = '') => {
      const [, t] = /^t=(\d+),/.exec(signature) ?? []
      const macs = [...signature.matchAll(/v1=([0-9a-f]{64})/g)].map(([, mac]) => mac)
      return macs.map((mac) =>
        [old, young].find(
          (key) => createHmac('sha256', key).update(`${t}.exact bytes`).digest('hex') === mac,
        ),
      )
    }
    expect(received.map((one) => secretsOf(one.header('creel-signature')))).toEqual([[young, old], [young]])
  })

  test('a binary answer is base64, a long one is cut at 256 KB', async () => {
    const long = Buffer.alloc(300_000, 'x')
    await using receiver = await startReceiver({ status: 200, body: long })
    const endpoint = await service.alice.endpoint({ forwardUrl: receiver.url })
    await endpoint.capture({ body: `"${'y'.repeat(299_998)}"` })
    const [first] = await ended(endpoint)
    const cut = await detail(endpoint, first?.id ?? 0)
    expect([cut.sent.body.length, cut.sent.bodyTruncated]).toEqual([262_144, true])
    expect([cut.received.body.length, cut.received.bodyTruncated]).toEqual([262_144, true])

    receiver.answer = { status: 200, body: new Uint8Array([0, 159, 146, 150]) }
    await endpoint.capture({ body: new Uint8Array([0, 1]) })
    const [second] = await ended(endpoint, 2)
    const binary = await detail(endpoint, second?.id ?? 0)
    expect(binary.received).toMatchObject({ body: 'AJ+Slg==', bodyIsBinary: true, bodyTruncated: false })
    expect(binary.sent).toMatchObject({ body: 'AAE=', bodyIsBinary: true, bodyTruncated: false })
  })

  test.each([
    [404, 'Failed', 'http_404'],
    [500, 'Failed', 'http_500'],
    [302, 'Failed', 'redirect'],
    [410, 'DeadLetter', 'gone'],
  ])('an answer %d ends %s', async (status, state, error) => {
    await using receiver = await startReceiver({ status, headers: { Location: 'http://169.254.169.254/' } })
    const endpoint = await service.alice.endpoint({ forwardUrl: receiver.url })
    const request = await endpoint.capture()
    const [attempt] = await ended(endpoint)
    expect(attempt).toMatchObject({ state, statusCode: status })
    expect(attempt?.error).toStartWith(error)
    expect(attempt?.nextAttemptAt === null).toBe(state === 'DeadLetter')
    const [row] = await endpoint.requests(`afterId=${request.id - 1}`)
    expect(row).toMatchObject({ state, attemptCount: 1 })
    expect(receiver.received).toHaveLength(1)
  })

  test('a receiver that hangs up is Errored, and has a record of what was sent', async () => {
    await using receiver = await startReceiver((_, response) => response.destroy())
    const endpoint = await service.alice.endpoint({ forwardUrl: receiver.url })
    await endpoint.capture()
    const [attempt] = await ended(endpoint)
    expect(attempt).toMatchObject({ state: 'Errored', statusCode: null, hasDetail: true })
    expect(attempt?.error).toStartWith('reset')
    expect(await detail(endpoint, attempt?.id ?? 0)).toMatchObject({
      sent: { method: 'POST' },
      received: null,
    })
  })

  test('an address that became forbidden is refused when it is dialled', async () => {
    await using receiver = await startReceiver()
    const endpoint = await service.alice.endpoint({ forwardUrl: receiver.url })
    await service.db
      .updateTable('actions')
      .set({ url: 'http://10.0.0.1/' })
      .where('endpointId', '=', endpoint.id)
      .execute()
    await endpoint.capture()
    const [attempt] = await ended(endpoint)
    expect(attempt?.state).toBe('Errored')
    expect(attempt?.error).toStartWith('blocked_address')
  })

  test('an oversize trace is not forwarded, and not tried again', async () => {
    await using receiver = await startReceiver()
    const small = await startService({ limits: { payloadBytesMax: 10 } })
    const endpoint = await small.alice.endpoint({ forwardUrl: receiver.url })
    await endpoint.capture({ body: '"more than ten bytes"' })
    const [attempt] = await ended(endpoint, 1, small)
    expect(attempt).toMatchObject({
      state: 'Errored',
      error: 'oversize',
      nextAttemptAt: null,
      hasDetail: false,
    })
    expect(receiver.received).toHaveLength(0)
  })

  test('a capture that went round three times is stored and not forwarded', async () => {
    await using receiver = await startReceiver()
    const endpoint = await service.alice.endpoint({ forwardUrl: receiver.url })
    await endpoint.capture({ headers: { 'creel-hops': '2' } })
    await endpoint.capture({ headers: { 'Creel-Hops': '3' } })
    const [second, first] = await ended(endpoint, 2)
    expect([first?.state, second?.state, second?.error]).toEqual(['Succeeded', 'Errored', 'loop'])
    expect(receiver.received.map((one) => one.header('creel-hops'))).toEqual(['3'])
  })
})

describe('a forward that comes back', () => {
  test('under a name that nobody can know is stored, and goes out no second time', async () => {
    const endpoint = await service.alice.endpoint()
    // The receiver acts as a proxy under another name: it passes everything on to the capture URL.
    await using alias = await startReceiver(async (got, response) => {
      const headers = { 'creel-origin': got.header('creel-origin') ?? '' }
      await fetch(endpoint.url, { method: 'POST', body: 'back', headers })
      response.end()
    })
    await service.alice.post(`/api/v1/endpoints/${endpoint.id}/actions`, { kind: 'forward', url: alias.url })
    await endpoint.capture({ body: 'once' })
    const [second, first] = await ended(endpoint, 2)
    expect([first?.state, second?.state, second?.error]).toEqual(['Succeeded', 'Errored', 'loop'])
    expect(alias.received).toHaveLength(1)
  })
})

describe('GET /api/v1/endpoints/{endpointId}/deliveries', () => {
  test('filters by state and request, pages, and hides attempts of binned requests until restored', async () => {
    await using receiver = await startReceiver()
    const endpoint = await service.alice.endpoint({ forwardUrl: receiver.url })
    const first = await endpoint.capture()
    await ended(endpoint)
    const second = await endpoint.capture()
    await ended(endpoint, 2)
    receiver.answer = { status: 500 }
    await endpoint.capture()
    await ended(endpoint, 3)
    const list = async (query: string) =>
      await service.alice.expect(service.alice.get(endpoint.at(`/deliveries?${query}`)), Attempts)

    expect((await list('state=Failed')).items).toHaveLength(1)
    expect((await list(`requestId=${first.id}`)).items.map((item) => item.requestId)).toEqual([first.id])
    const page = await list('page=2&pageSize=1')
    expect([page.items[0]?.requestId, page.totalCount]).toEqual([second?.id, 3])
    expect((await list('page=9')).items).toEqual([])
    expect((await service.alice.get(endpoint.at('/deliveries?state=Skipped'))).status).toBe(400)
    expect((await service.alice.get(endpoint.at('/deliveries?requestId=x'))).status).toBe(400)

    const [attempt] = (await list(`requestId=${first.id}`)).items
    await service.alice.delete(endpoint.at(`/requests/${first.id}`))
    expect((await list('')).totalCount).toBe(2)
    expect((await service.alice.get(endpoint.at(`/deliveries/${attempt?.id}`))).status).toBe(404)
    await service.alice.post('/api/v1/recycle-bin/restore', { requestIds: [first.id] })
    expect((await list('')).totalCount).toBe(3)
    expect((await service.alice.get(endpoint.at(`/deliveries/${attempt?.id}`))).status).toBe(200)
    expect((await service.charlie.get(endpoint.at(`/deliveries/${attempt?.id}`))).status).toBe(404)
  })
})
