import { beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { eventually } from '../support/eventually.ts'
import { startService, type TestService } from '../support/service.ts'
import { type GovernedAction, governedAction, sendAll } from './governed.ts'

let service: TestService
let action: GovernedAction

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 1_000_000 } })
  action = await governedAction(service.alice, 'http://127.0.0.1:9/')
})

const Refusal = z.looseObject({ errors: z.array(z.looseObject({ pointer: z.string(), code: z.string() })) })
const refusalOf = async (delivery: unknown) => {
  const { status, body } = await service.alice.put(action.at(), { delivery })
  return status === 400
    ? Refusal.parse(body).errors.map(({ pointer, code }) => `${pointer} ${code}`)
    : [`${status}`]
}

describe('how a destination is treated', () => {
  test.each([
    [{ concurrency: 0 }, '#/delivery/concurrency out_of_range'],
    [{ concurrency: 513 }, '#/delivery/concurrency out_of_range'],
    [{ rate: { count: 0, perSeconds: 1 } }, '#/delivery/rate/count out_of_range'],
    [{ rate: { count: 1, perSeconds: 3601 } }, '#/delivery/rate/perSeconds out_of_range'],
    [{ rate: { count: 1 } }, '#/delivery/rate/perSeconds required'],
    [{ order: { by: 'customer' } }, '#/delivery/order/by bad_path'],
    [{ order: { by: 'body.items[*].id' } }, '#/delivery/order/by bad_path'],
    [{ order: { by: 'query.a\0' } }, '#/delivery/order/by not_allowed'],
    [{ order: { by: 'body["\ud800"]' } }, '#/delivery/order/by not_allowed'],
    [{ order: { by: 'endpoint', onDeadLetter: 'stop' } }, '#/delivery/order/onDeadLetter unknown_value'],
    [
      { breaker: { failures: 1001, windowSeconds: 1, probeEverySeconds: 1 } },
      '#/delivery/breaker/failures out_of_range',
    ],
    [{ backlogAlertSeconds: 9 }, '#/delivery/backlogAlertSeconds out_of_range'],
  ])('%j is refused by name', async (delivery, expected) => {
    expect(await refusalOf(delivery)).toEqual([expected])
  })

  test('everything wrong is named at once, and nothing is saved', async () => {
    await action.put({ delivery: { concurrency: 2 } })
    expect(await refusalOf({ concurrency: 0, order: { by: '' } })).toHaveLength(2)
    expect(await action.put({})).toMatchObject({ delivery: { concurrency: 2 } })
    expect(await action.put({ delivery: null })).toMatchObject({ delivery: null })
  })
})

describe('a pause', () => {
  test('is for forwards only', async () => {
    const { alice } = service
    const settings = { url: 'http://127.0.0.1:9/alerts' }
    const WithId = z.looseObject({ id: z.string() })
    const made = alice.post('/api/v1/alert-channels', { kind: 'webhook', name: 'hook', settings, events: [] })
    const channel = await alice.expect(made, WithId)
    const members = { kind: 'notify', alertChannelId: channel.id }
    const notify = await alice.expect(alice.post(action.endpoint.at('/actions'), members), WithId)
    for (const verb of ['pause', 'resume'])
      expect((await alice.post(action.endpoint.at(`/actions/${notify.id}/${verb}`), {})).status).toBe(400)
  })

  test('ends at a pace within its bounds', async () => {
    for (const perSecond of [0, 10_001, 1.5, 'fast'])
      expect((await service.alice.post(action.at('/resume'), { perSecond })).status).toBe(400)
    expect((await service.alice.post(action.at('/resume'), { perSecond: 10_000 })).status).toBe(200)
  })

  test('twice keeps its time, and is seen by nobody else', async () => {
    const { pausedAt } = await action.pause()
    expect((await action.pause()).pausedAt).toBe(pausedAt)
    for (const path of ['/pause', '/resume'])
      expect((await service.charlie.post(action.at(path), {})).status).toBe(404)
    expect((await service.charlie.get(action.at('/backlog'))).status).toBe(404)
    await action.resume()
  })
})

test('only a dead letter that holds a key is skipped', async () => {
  await sendAll(action.endpoint, [{ n: 1 }])
  const Page = z.looseObject({ items: z.array(z.looseObject({ id: z.int() })) })
  const attempt = await eventually('an attempt', async () => {
    const page = service.alice.get(action.endpoint.at('/deliveries'))
    return (await service.alice.expect(page, Page)).items[0]
  })
  const refused = await service.alice.post(action.endpoint.at(`/deliveries/${attempt.id}/skip`))
  expect(refused).toMatchObject({ status: 400, body: { code: 'validation_failed' } })
})
