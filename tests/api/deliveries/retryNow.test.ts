import { beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import { attemptsEnded } from '../../support/attempts.ts'
import { startReceiver } from '../../support/receiver.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService({ retryDelaysSeconds: [3600, 3600] })
})

const Attempts = z.looseObject({ items: z.array(z.looseObject({ id: z.int(), attemptNumber: z.int() })) })

test.each([
  ['of an action without bounds', undefined],
  ['of an ordered action', { order: { by: 'endpoint' } }],
])('the scheduled attempt %s is made now, once; then nothing is left to hurry', async (_, delivery) => {
  await using receiver = await startReceiver({ status: 503 })
  const endpoint = await service.alice.endpoint()
  await service.alice.post(endpoint.at('/actions'), { kind: 'forward', url: receiver.url, delivery })
  await endpoint.capture()
  await attemptsEnded(service, endpoint)
  const attempts = async () =>
    (await service.alice.expect(service.alice.get(endpoint.at('/deliveries')), Attempts)).items
  const [first] = await attempts()
  const retry = (id: number | undefined) => service.alice.post(endpoint.at(`/deliveries/${id}/retry`))
  receiver.answer = { status: 200 }
  const answer = await retry(first?.id)
  expect([answer.status, answer.body]).toMatchObject([202, { attemptNumber: 2 }])
  await attemptsEnded(service, endpoint, 2)
  expect(await attempts()).toMatchObject([
    { attemptNumber: 2, trigger: 'retry', state: 'Succeeded' },
    { attemptNumber: 1, state: 'Failed' },
  ])
  const late = await retry(first?.id)
  expect([late.status, late.body]).toMatchObject([400, { code: 'validation_failed' }])
})

test('an attempt under way is no scheduled one', async () => {
  await using receiver = await startReceiver({ status: 503 })
  const endpoint = await service.alice.endpoint({ forwardUrl: receiver.url })
  await endpoint.capture()
  await attemptsEnded(service, endpoint)
  const { items } = await service.alice.expect(service.alice.get(endpoint.at('/deliveries')), Attempts)
  const retry = () => service.alice.post(endpoint.at(`/deliveries/${items[0]?.id}/retry`))
  const end = Promise.withResolvers<void>()
  receiver.answer = async (_request, response) => {
    await end.promise
    response.writeHead(503)
    response.end()
  }
  expect((await retry()).status).toBe(202)
  await receiver.take(2)
  const refused = await retry()
  end.resolve()
  expect([refused.status, refused.body]).toMatchObject([400, { code: 'validation_failed' }])
  await attemptsEnded(service, endpoint, 2)
  expect((await retry()).body).toMatchObject({ attemptNumber: 3 })
})

test('while its action is off nothing is hurried', async () => {
  await using receiver = await startReceiver({ status: 503 })
  const endpoint = await service.alice.endpoint({ forwardUrl: receiver.url })
  await endpoint.capture()
  await attemptsEnded(service, endpoint)
  await service.alice.patch(endpoint.at(''), { forwardingEnabled: false })
  const { items } = await service.alice.expect(service.alice.get(endpoint.at('/deliveries')), Attempts)
  const answer = await service.alice.post(endpoint.at(`/deliveries/${items[0]?.id}/retry`))
  expect([answer.status, answer.body]).toMatchObject([400, { code: 'action_inactive' }])
})

test('a replay has no schedule to hurry', async () => {
  await using receiver = await startReceiver({ status: 503 })
  const endpoint = await service.alice.endpoint()
  const { id } = await endpoint.capture()
  await service.alice.post(endpoint.at('/actions'), { kind: 'forward', url: receiver.url })
  const { body } = await service.alice.post(endpoint.at(`/requests/${id}/replay`))
  const answer = await service.alice.post(endpoint.at(`/deliveries/${Object(body).attemptId}/retry`))
  expect(answer.body).toMatchObject({ code: 'validation_failed' })
})
