import { beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import { startEcho } from '../support/echo.ts'
import { startService, type TestService } from '../support/service.ts'
import { emptyHome, environmentOf, fails, succeeds } from './support.ts'

/** `creel subscriptions`: lists, shows and ends. */

let service: TestService

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000 } })
})

test('shows what is sent where, and ends it', async () => {
  const { alice } = service
  const env = environmentOf(alice, await emptyHome())
  await alice.endpoint({ name: 'shop' })
  await alice.get('/api/v1/events/types')
  await using callback = await startEcho()
  const delivery = { mode: 'webhook', url: callback.url, secret: `whsec_${'c2VjcmV0'.repeat(4)}` }
  const Made = z.looseObject({ id: z.string() })
  const { id } = await alice.expect(alice.post('/api/v1/subscriptions', { name: 'shop.any', delivery }), Made)
  const listed = await succeeds(['subscriptions', 'list'], env)
  expect(listed).toContain('shop.any')
  expect(listed).toContain(new URL(callback.url).host)
  expect(await succeeds(['subscriptions', 'show', id.slice(0, 8)], env)).toContain('state: active, 0 waiting')
  expect(JSON.parse(await succeeds(['subscriptions', 'list', '--json'], env))).toMatchObject({ id })
  expect((await fails(['subscriptions', 'show', 'zz'], env)).stderr).toContain('No subscription begins with')
  await fails(['subscriptions', 'end', id], env)
  expect(await succeeds(['subscriptions', 'end', id, '--yes'], env)).toContain('Ended')
  expect((await alice.get(`/api/v1/subscriptions/${id}`)).status).toBe(404)
})
