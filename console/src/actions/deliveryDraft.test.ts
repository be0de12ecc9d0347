import { expect, test } from 'bun:test'
import { deliveryOf, draftOfDelivery } from './deliveryDraft.ts'

test('what the installation decides stays with it', () => {
  expect(deliveryOf(draftOfDelivery(null))).toBeNull()
})

test('a policy comes back as it was', () => {
  const policies = [
    { timeoutSeconds: 30, concurrency: 4, rate: { count: 20, perSeconds: 1 } },
    { order: { by: 'body.customer.id', onDeadLetter: 'hold' } },
    { retry: { delays: ['5s', '1m'], on: [429, '5xx'] }, gone: 'pause' },
    { retry: { delays: [], on: [] } },
    { breaker: { failures: 20, windowSeconds: 60, probeEverySeconds: 30 } },
  ] as const
  for (const policy of policies) {
    const mutable = JSON.parse(JSON.stringify(policy))
    expect(deliveryOf(draftOfDelivery(mutable))).toEqual(mutable)
  }
})

test('a word that is no status is sent as none, for the API to refuse', () => {
  expect(deliveryOf({ ...draftOfDelivery(null), on: '5xx, often' })?.retry?.on).toEqual(['5xx', Number.NaN])
})
