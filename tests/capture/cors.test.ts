import { beforeAll, expect, test } from 'bun:test'
import { newPage } from '../support/chromium.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'

/** Endpoints that let pages of other origins send and read the answers. */

let service: TestService

beforeAll(async () => {
  service = await startService({ parts: ['gateway'] })
})

const asks = { Origin: 'https://shop.example', 'Access-Control-Request-Method': 'PUT' }
const corsOf = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')))

test('a page sends and reads its answer only where its endpoint allows it, and its preflight is not captured', async () => {
  await using site = await startReceiver({ status: 200, body: '<title>Shop</title>' })
  const open = await service.alice.endpoint({ allowCors: true, responseStatusCode: 202 })
  const closed = await service.alice.endpoint()
  const page = await newPage({ width: 400, height: 300 })
  await page.goto(site.url)
  const send = (url: string) =>
    page.evaluate(
      (to) =>
        fetch(to, {
          method: 'PUT',
          headers: { 'Content-Type': 'application/json', Authorization: 'Bearer a', 'X-Own': 'b' },
          body: '{"from":"a page"}',
        }).then(
          async (answer) =>
            `${answer.status} ${await answer.text()} ${answer.headers.get('creel-trace-id')?.length}`,
          () => 'refused',
        ),
      url,
    )
  expect(await send(open.url)).toBe('202 {"ok":true} 32')
  expect(await send(closed.url)).toBe('refused')
  expect((await open.requests()).map(({ method }) => method)).toEqual(['PUT'])
  // The browser did not send after the preflight, which is captured like any request.
  expect((await closed.requests()).map(({ method }) => method)).toEqual(['OPTIONS'])
})

test('refusals and scripted answers can be read, a header of the endpoint is kept, and other OPTIONS are captured', async () => {
  const { alice } = service
  const all = { 'access-control-allow-origin': '*', 'access-control-expose-headers': '*' }
  const endpoint = await alice.endpoint({
    allowCors: true,
    responses: [{ when: { path: 'method', op: 'eq', value: 'PATCH' }, status: 503 }],
  })
  const scripted = await endpoint.send({ method: 'PATCH' })
  expect([scripted.status, corsOf(scripted)]).toEqual([503, all])
  const plain = await endpoint.send({ method: 'OPTIONS' })
  expect([plain.status, corsOf(plain)]).toEqual([200, all])
  const preflight = await endpoint.send({ method: 'OPTIONS', headers: asks })
  expect([preflight.status, await preflight.text()]).toEqual([204, ''])
  expect(preflight.headers.get('x-content-type-options')).toBe('nosniff')
  expect(await endpoint.requests()).toHaveLength(2)

  const only = { 'Access-Control-Allow-Origin': 'https://shop.example' }
  await alice.patch(endpoint.at(''), { responseHeaders: only, allowedSenders: ['203.0.113.7'] })
  const foreign = await endpoint.send({ method: 'OPTIONS', headers: asks })
  expect([foreign.status, corsOf(foreign)]).toEqual([403, all])
  await alice.patch(endpoint.at(''), { allowedSenders: [] })
  expect(corsOf(await endpoint.send())).toEqual({ 'access-control-allow-origin': 'https://shop.example' })

  await alice.patch(endpoint.at(''), { allowCors: false, responseHeaders: {} })
  expect(corsOf(await endpoint.send())).toEqual({})
  const captured = await endpoint.send({ method: 'OPTIONS', headers: asks })
  expect([captured.status, corsOf(captured)]).toEqual([200, {}])
  await alice.patch(endpoint.at(''), { allowCors: true })
  const allowed = await endpoint.send({ method: 'OPTIONS', headers: asks })
  expect([allowed.status, await allowed.text()]).toEqual([204, ''])
})

test('a preflight gets 404 as soon as its endpoint takes no captures', async () => {
  const { alice, clock } = service
  const [off, deleted, expired] = [
    await alice.endpoint({ allowCors: true }),
    await alice.endpoint({ allowCors: true }),
    await alice.endpoint({ allowCors: true, ttlSeconds: 60 }),
  ]
  const preflights = () =>
    Promise.all(
      [off, deleted, expired].map(async (endpoint) => {
        const answer = await endpoint.send({ method: 'OPTIONS', headers: asks })
        return `${answer.status} ${await answer.text()}`
      }),
    )
  expect(await preflights()).toEqual(['204 ', '204 ', '204 '])
  await alice.patch(off.at(''), { isActive: false })
  await alice.delete(deleted.at(''))
  await clock.advance(61_000)
  expect(await preflights()).toEqual(Array(3).fill('404 {"error":"not_found"}'))
  await alice.patch(off.at(''), { isActive: true })
  expect((await preflights())[0]).toBe('204 ')
  expect(await off.requests()).toEqual([])
})
