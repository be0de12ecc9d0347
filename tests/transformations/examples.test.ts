import { beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { type Received, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { type Worked, workedExamples } from './worked.ts'

const { secret, examples } = await workedExamples()

let service: TestService
beforeAll(async () => {
  service = await startService()
})

/** Captures the request of the example; returns the one at its destination. */
async function deliver({ arrives, rule }: Worked, signingSecret?: string): Promise<Received> {
  await using receiver = await startReceiver()
  const endpoint = await service.alice.endpoint()
  const action = await service.alice.post(endpoint.at('/actions'), {
    kind: 'forward',
    url: receiver.url,
    ...(signingSecret === undefined ? {} : { signingSecret }),
  })
  expect(action.status).toBe(201)
  const added = await service.alice.post(endpoint.at('/transformations'), undefined, {
    rawBody: rule,
    headers: { 'Content-Type': 'application/json' },
  })
  expect(added.status).toBe(201)
  const response = await endpoint.send({ headers: arrives.headers, body: arrives.body })
  expect(response.status).toBe(200)
  const [received] = await receiver.take(1)
  if (received === undefined) throw new Error('Nothing was delivered.')
  return received
}

describe('docs/rules-examples.md', () => {
  test('has ten examples', () => {
    expect(examples.map(({ title }) => title.split('.')[0])).toEqual(
      Array.from({ length: 10 }, (_, index) => String(index + 1)),
    )
  })

  test.each(examples.map((example) => [example.title, example] as const))('%s', async (_, example) => {
    const received = await deliver(example, secret)
    expect(received.body.toString()).toBe(example.isSent.body)
    for (const [name, value] of Object.entries(example.isSent.headers)) {
      const pattern = value.split('*').map(RegExp.escape).join('.+')
      expect(`${name}: ${received.header(name)}`).toMatch(new RegExp(`^${RegExp.escape(name)}: ${pattern}$`))
    }
  })

  test('the Standard Webhooks signature verifies the way their libraries do it', async () => {
    const example = examples.find(({ title }) => title.includes('Standard Webhooks'))
    if (example === undefined) throw new Error('The page has no such example.')
    const received = await deliver(example, secret)
    const signed = `${received.header('webhook-id')}.${received.header('webhook-timestamp')}.${received.body}`
    const expected = createHmac('sha256', Buffer.from(secret, 'base64')).update(signed).digest('base64')
    expect(received.header('webhook-signature')).toBe(`v1,${expected}`)
  })
})
