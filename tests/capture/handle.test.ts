import { expect, test } from 'bun:test'
import { startService } from '../support/service.ts'

/** The gateway is one Elysia app, which answers every route in the process, too, without a port. */

const service = await startService()
const handle = (path: string, init?: RequestInit) =>
  service.running.handle(new Request(`http://localhost${path}`, init))

test('a capture needs no connection', async () => {
  const endpoint = await service.alice.endpoint()
  const path = `/hook/${endpoint.id}/orders?shop=eu`
  const answer = await handle(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Shop': 'eu' },
    body: '{"id":1}',
  })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  expect(answer.headers.get('creel-trace-id')).toMatch(/^[0-9a-f]{32}$/)

  const [stored] = await endpoint.requests()
  expect(stored).toMatchObject({ method: 'POST', path: '/orders', bodyPreview: '{"id":1}' })
})

test('a capture without a body, and one in pieces', async () => {
  const endpoint = await service.alice.endpoint()
  const path = `/hook/${endpoint.id}`
  expect((await handle(path)).status).toBe(200)
  const pieces = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of ['one ', 'two ', 'three']) controller.enqueue(Buffer.from(piece))
      controller.close()
    },
  })
  expect((await handle(path, { method: 'PUT', body: pieces })).status).toBe(200)
  const bodies = (await endpoint.requests()).map(({ bodyPreview }) => bodyPreview)
  expect(bodies).toEqual(['one two three', null])
})

test('captures for no endpoint are answered 404', async () => {
  expect(
    (await handle('/hook/11111111-1111-4111-8111-111111111111', { method: 'POST', body: 'x' })).status,
  ).toBe(404)
  expect((await handle('/hook/nothing')).status).toBe(404)
})

test('calls of the API are answered, too', async () => {
  const answer = await handle('/api/v1/me', { headers: { Authorization: `Bearer ${service.alice.key}` } })
  expect(answer.status).toBe(200)
})
