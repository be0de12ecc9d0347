import { beforeAll, expect, test } from 'bun:test'
import { expectCountersEqualRows } from '../retention/support.ts'
import { eventually } from '../support/eventually.ts'
import { wrongParts } from '../support/problems.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { startCommand } from './listenerProcess.ts'
import { emptyHome, environmentOf, fails, succeeds } from './support.ts'

let service: TestService
let env: Record<string, string>

beforeAll(async () => {
  service = await startService()
  env = environmentOf(service.alice, await emptyHome())
})

test('a replay to listeners reaches the local server, and what it answered is a delivery attempt', async () => {
  const { alice } = service
  await using local = await startReceiver({ status: 503, headers: { 'X-Local': 'yes' }, body: 'not now' })
  const endpoint = await alice.endpoint({ name: 'replayed' })
  const listener = startCommand(['listen', 'replayed', '--to', `http://127.0.0.1:${local.port}`], env)
  await listener.says(/connected/)
  const { id } = await endpoint.capture({ body: '{"n":1}' })
  await local.take(1)

  const replay = () => alice.post(endpoint.at(`/requests/${id}/replay?to=listeners`))
  expect(await replay()).toMatchObject({
    status: 200,
    body: { state: 'Pending', listenerCount: 1, outcomes: [] },
  })
  const [first, second] = await local.take(2)
  expect(second?.body.toString()).toBe('{"n":1}')
  expect(second?.header('creel-delivery-id')).toBe(first?.header('creel-delivery-id') ?? '')
  const attempt = await eventually('the attempt of the listener', async () => {
    const { body } = await alice.get(endpoint.at('/deliveries'))
    return Object(body).items[0]
  })
  expect(attempt).toMatchObject({
    kind: 'listen',
    state: 'Failed',
    statusCode: 503,
    error: 'http_503',
    actionId: null,
  })
  const { body: detail } = await alice.get(endpoint.at(`/deliveries/${attempt.id}`))
  expect(detail).toMatchObject({
    sent: { method: 'POST', body: '{"n":1}' },
    received: { statusCode: 503, body: 'not now', headers: { 'X-Local': 'yes' } },
  })
  expect(await succeeds(['replay', String(id), '-e', 'replayed', '--to', 'listeners'], env)).toContain(
    '1 listener',
  )
  await local.take(3)

  listener.signal('SIGTERM')
  await listener.exited
  await eventually('the listener to be gone', async () => Object((await replay()).body).listenerCount === 0)
  const nobody = await fails(['replay', String(id), '-e', 'replayed', '--to', 'listeners'], env)
  expect(nobody.stderr).toContain('creel listen')
})

test('a replay reaches the local server although the service is away when its request is read', async () => {
  const { alice } = service
  await using local = await startReceiver()
  const endpoint = await alice.endpoint({ name: 'away' })
  const { id } = await endpoint.capture({ body: 'again' })
  let refusals = 0
  using proxy = Bun.serve({
    port: 0,
    idleTimeout: 0,
    fetch(request) {
      const { pathname, search } = new URL(request.url)
      if (pathname.endsWith(`/requests/${id}`) && refusals < 2) {
        refusals += 1
        const problem = { code: 'unavailable', status: 503, detail: 'Away.', traceId: '0' }
        return Response.json(problem, { status: 503, headers: { 'Retry-After': '2' } })
      }
      return fetch(service.baseUrl + pathname + search, request)
    },
  })
  const through = { ...env, CREEL_URL: proxy.url.origin }
  const listener = startCommand(['listen', 'away', '--to', `http://127.0.0.1:${local.port}`], through)
  await listener.says(/connected/)
  await alice.post(endpoint.at(`/requests/${id}/replay?to=listeners`))
  const [request] = await local.take(1)
  expect(request?.body.toString()).toBe('again')
  expect(refusals).toBe(2)
  listener.signal('SIGTERM')
  await listener.exited
  expect(listener.stderr()).not.toContain('cannot be sent')
})

test('with --report the answer to a capture is a delivery attempt; who only looks is no listener', async () => {
  const { alice } = service
  await using local = await startReceiver({ status: 201 })
  const endpoint = await alice.endpoint({ name: 'reported' })
  const to = ['listen', 'reported', '--to', `http://127.0.0.1:${local.port}`]
  const looker = startCommand([...to, '--no-write'], env)
  await looker.says(/connected/)
  const { id } = await endpoint.capture()
  const replay = await alice.post(endpoint.at(`/requests/${id}/replay?to=listeners`))
  expect(replay.body).toMatchObject({ listenerCount: 0 })
  looker.signal('SIGTERM')

  const listener = startCommand([...to, '--report', '--since', 'start'], env)
  await local.take(1)
  const attempts = await eventually('the attempt', async () => {
    const { body } = await alice.get(endpoint.at('/deliveries'))
    return Object(body).items.length > 0 && Object(body).items
  })
  expect(attempts).toMatchObject([{ kind: 'listen', requestId: id, state: 'Succeeded', statusCode: 201 }])
  await expectCountersEqualRows(service, endpoint.id)
  listener.signal('SIGTERM')
  expect(await listener.exited).toBe(0)
})

test('a report is refused where it is wrong, and for the requests of others', async () => {
  const { alice, charlie } = service
  const endpoint = await alice.endpoint()
  const { id } = await endpoint.capture()
  const path = endpoint.at(`/requests/${id}/listen-attempts`)
  const report = {
    listener: 'laptop',
    url: 'http://localhost:3000/',
    at: '2026-11-22T10:00:00Z',
    durationMs: 3,
    error: 'timeout: no response',
    sent: { method: 'POST', headers: [{ name: 'X-A', value: 'zoë' }] },
  }
  expect(await alice.post(path, report)).toMatchObject({
    status: 201,
    body: { kind: 'listen', state: 'Errored' },
  })
  expect(await charlie.post(path, report)).toMatchObject({ status: 404 })
  const wrong = await alice.post(path, { ...report, listener: '', durationMs: -1 })
  expect(wrong.body).toMatchObject({ errors: [{ pointer: '#/listener' }, { pointer: '#/durationMs' }] })
  const received = { statusCode: 200, headers: [], body: 'hello!', bodyIsBinary: true, bodyTruncated: false }
  const garbled = await alice.post(path, { ...report, received })
  expect(wrongParts(garbled)).toEqual(['#/received/body bad_format'])
})

test('a report of the far future or without a URL is refused, and the list of attempts stays readable', async () => {
  const { alice } = service
  const endpoint = await alice.endpoint({ encryptBodies: true })
  const { id } = await endpoint.capture()
  const report = {
    listener: 'laptop',
    url: 'http://localhost:3000/',
    at: '9999-12-31T23:59:59.999Z',
    durationMs: 3,
    sent: { method: 'POST', headers: [] },
  }
  const send = async (more: object) =>
    wrongParts(await alice.post(endpoint.at(`/requests/${id}/listen-attempts`), { ...report, ...more }))
  expect(await send({})).toEqual(['#/at out_of_range'])
  expect(await send({ at: '2026-11-22T10:00:00Z', url: '/hooks' })).toEqual(['#/url bad_url'])
  const received = { statusCode: 200, headers: [], body: 'hello!', bodyIsBinary: true, bodyTruncated: false }
  expect(await send({ at: '2026-11-22T10:00:00Z', received })).toEqual(['#/received/body bad_format'])
  expect(await alice.get(endpoint.at('/deliveries'))).toMatchObject({ status: 200, body: { totalCount: 0 } })
})
