import { beforeAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { z } from 'zod'
import { attemptsEnded } from '../support/attempts.ts'
import type { TestEndpoint } from '../support/client.ts'
import { wrongParts } from '../support/problems.ts'
import { type Received, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'

/** Forwards that are signed as Standard Webhooks says, verified by the library of its authors. */

let service: TestService
beforeAll(async () => {
  service = await startService()
})

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`
const standard = { scheme: 'standard-webhooks' }
const Action = z.looseObject({ id: z.string() })

const forward = (endpoint: TestEndpoint, members: object) =>
  endpoint.client.expect(
    endpoint.client.post(endpoint.at('/actions'), { kind: 'forward', ...members }),
    Action,
  )

const change = (endpoint: TestEndpoint, { id }: { id: string }, members: object) =>
  endpoint.client.put(endpoint.at(`/actions/${id}`), members)

const verify = (secret: string, { body, rawHeaders }: Received) =>
  new Webhook(secret).verify(body, Object.fromEntries(rawHeaders))

test('each attempt is verified; the id stays the same, the timestamp does not', async () => {
  await using receiver = await startReceiver({ status: 500 })
  const endpoint = await service.alice.endpoint()
  const signingSecret = newSecret()
  await forward(endpoint, { url: receiver.url, signingSecret, signing: standard })
  // The sender signs by the same scheme: its fields are not of what we send.
  const foreign = { 'webhook-id': 'theirs', 'Webhook-Timestamp': '1', 'webhook-signature': 'v1,x' }
  await endpoint.capture({ body: '{"id":"é1"}', headers: foreign })
  await attemptsEnded(service, endpoint, 1)
  await service.clock.advance(7000)
  const [first, second] = await receiver.take(2)
  if (first === undefined || second === undefined) throw new Error('Two attempts were expected.')
  for (const one of [first, second]) {
    expect(verify(signingSecret, one)).toEqual({ id: 'é1' })
    expect(() => verify(newSecret(), one)).toThrow('No matching signature')
    expect(one.header('webhook-id')).toBe(first.header('creel-delivery-id') ?? '')
    expect(one.rawHeaders.filter(([name]) => name.toLowerCase().startsWith('webhook-'))).toHaveLength(3)
    expect(one.header('creel-signature')).toBeUndefined()
  }
  expect(second.header('webhook-timestamp')).not.toBe(first.header('webhook-timestamp'))
})

test('for 24 hours after a rotation both secrets verify', async () => {
  await using receiver = await startReceiver()
  const endpoint = await service.alice.endpoint()
  const [old, present] = [newSecret(), newSecret()]
  const action = await forward(endpoint, { url: receiver.url, signingSecret: old, signing: standard })
  await change(endpoint, action, { signingSecret: present })
  await endpoint.capture({ body: '{}' })
  const [one] = await receiver.take(1)
  if (one === undefined) throw new Error('A delivery was expected.')
  expect(verify(old, one)).toEqual({})
  expect(verify(present, one)).toEqual({})
})

test('the scheme can change; a secret of the former one that is no key signs nothing', async () => {
  await using receiver = await startReceiver()
  const endpoint = await service.alice.endpoint()
  const action = await forward(endpoint, { url: receiver.url, signingSecret: 'plain text, no Base64 at all' })
  await endpoint.capture()
  const [plain] = await receiver.take(1)
  expect(plain?.header('creel-signature')).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/)
  expect(plain?.header('webhook-signature')).toBeUndefined()

  const refused = await change(endpoint, action, { signing: standard })
  expect(wrongParts(refused)).toEqual(['#/signing/scheme not_allowed'])
  const signingSecret = newSecret()
  const changed = await change(endpoint, action, { signing: standard, signingSecret })
  expect(changed.body).toMatchObject({
    signing: { scheme: 'standard-webhooks', signed: true, setAt: expect.any(String) },
  })
  await endpoint.capture()
  const two = await receiver.take(2)
  expect(two[1]?.header('webhook-signature')).toMatch(/^v1,[\w+/]{43}=$/)
})

test('a scheme without a secret signs nothing, and the endpoint says so', async () => {
  const endpoint = await service.alice.endpoint()
  const action = await forward(endpoint, { url: 'http://127.0.0.1:9/' })
  expect((await change(endpoint, action, { signing: standard })).body).toMatchObject({
    signing: { scheme: 'standard-webhooks', signed: false, setAt: null },
  })
  expect((await service.alice.get(endpoint.at(''))).body).toMatchObject({
    forwardSigning: { signed: false, setAt: null },
  })
})

test('a secret must fit the scheme, whichever way it is given', async () => {
  const endpoint = await service.alice.endpoint()
  const url = 'http://127.0.0.1:9/'
  const post = (members: object) =>
    service.alice.post(endpoint.at('/actions'), { kind: 'forward', url, ...members })
  for (const signingSecret of ['no Base64, but long', `whsec_${randomBytes(16).toString('base64')}`]) {
    expect(wrongParts(await post({ signing: standard, signingSecret }))).toEqual([
      '#/signingSecret bad_format',
    ])
  }
  expect(wrongParts(await post({ signing: { scheme: 'rot13' } }))).toEqual(['#/signing/scheme unknown_value'])
  await forward(endpoint, { url, signing: standard, signingSecret: newSecret() })
  const legacy = await service.alice.patch(`/api/v1/endpoints/${endpoint.id}`, {
    forwardSigningSecret: 'no Base64, but long',
  })
  expect(wrongParts(legacy)).toEqual(['#/forwardSigningSecret bad_format'])
})

test('what an interrupted attempt sent is told with its signature, unless the scheme has changed since', async () => {
  await using receiver = await startReceiver(() => {})
  const endpoint = await service.alice.endpoint()
  const members = {
    url: receiver.url,
    signing: standard,
    signingSecret: newSecret(),
    delivery: { gone: 'end' },
  }
  const action = await forward(endpoint, members)
  const sentBy = async (count: number) => {
    await attemptsEnded(service, endpoint, count)
    return await service.db
      .selectFrom('attemptDetails')
      .where('endpointId', '=', endpoint.id)
      .select('sentHeaders')
      .execute()
  }
  await endpoint.capture()
  await receiver.take(1)
  await service.clock.advance(91_000)
  const [one] = await receiver.take(2)
  const [told, ...others] = await sentBy(1)
  expect(others).toEqual([])
  expect(told?.sentHeaders).toContain(one?.header('webhook-signature') ?? 'none')
  await change(endpoint, action, { signing: { scheme: 'creel' } })
  await service.clock.advance(91_000)
  await receiver.take(3)
  expect(await sentBy(2)).toHaveLength(1)
})
