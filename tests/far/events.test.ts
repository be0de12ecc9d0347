import { expect, test } from 'bun:test'
import { z } from 'zod'
import { createTestDatabase } from '../support/database.ts'
import { startEcho } from '../support/echo.ts'
import { startFar } from '../support/far.ts'
import { startService } from '../support/service.ts'

const Body = z.looseObject({ eventId: z.string().optional() })

test('events reach their callback from a database that is far away', async () => {
  const far = await startFar(await createTestDatabase())
  const { alice } = await startService({ database: far })
  const endpoint = await alice.endpoint({ name: 'far' })
  await alice.get('/api/v1/events/types')
  await using callback = await startEcho()
  const delivery = { mode: 'webhook', url: callback.url, secret: `whsec_${'c2VjcmV0'.repeat(4)}` }
  await alice.expect(alice.post('/api/v1/subscriptions', { name: 'far.any', delivery }), z.looseObject({}))
  const captured = await endpoint.captureMany(3)
  const received = await callback.take(4)
  const ids = received.flatMap(({ body }) => Body.parse(JSON.parse(body.toString())).eventId ?? [])
  expect(ids.toSorted()).toEqual(captured.map(({ id }) => `req_${id}`).toSorted())
})
