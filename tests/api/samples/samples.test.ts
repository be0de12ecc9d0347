import { beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import type { TestEndpoint } from '../../support/client.ts'
import { startService, type TestService } from '../../support/service.ts'

const Sent = z.looseObject({ requestId: z.int(), event: z.string(), signed: z.boolean() })
const Catalog = z.looseObject({
  items: z.array(
    z.looseObject({ provider: z.string(), events: z.array(z.looseObject({ event: z.string() })) }),
  ),
})
const Detail = z.looseObject({
  label: z.string().nullable(),
  body: z.string(),
  verification: z.looseObject({ verdict: z.string() }).nullable(),
})

let service: TestService

beforeAll(async () => {
  service = await startService({ limits: { endpointsMax: 1000 } })
})

const SECRET = 'a secret of the suite, 32 bytes!'
const BASE64_SECRET = `whsec_${Buffer.from(SECRET).toString('base64')}`
/** Secrets in the format of each provider. */
const SECRETS: Readonly<Record<string, string>> = {
  adyen: Buffer.from(SECRET).toString('hex'),
  clerk: BASE64_SECRET,
  resend: BASE64_SECRET,
  'standard-webhooks': BASE64_SECRET,
  svix: BASE64_SECRET,
}
/** Providers that sign with private keys, which are not public. */
const UNSIGNED = ['plaid', 'sendgrid']

async function sent(members: Record<string, unknown>, order: Record<string, unknown>) {
  return await sentTo(await service.alice.endpoint(members), order)
}

async function sentTo(endpoint: TestEndpoint, order: Record<string, unknown>) {
  const { alice } = service
  const answer = await alice.expect(alice.post(endpoint.at('/samples'), order), Sent)
  const detail = await alice.expect(alice.get(endpoint.at(`/requests/${answer.requestId}`)), Detail)
  return { answer, detail }
}

test('every sample is verified with the secret of its endpoint, is known by its event, and fails when it should', async () => {
  const { alice } = service
  const { items } = await alice.expect(alice.get('/api/v1/samples'), Catalog)
  expect(items).toHaveLength(30)
  expect(items.find(({ provider }) => provider === 'stripe')?.events).toHaveLength(10)
  const astray: unknown[] = []
  for (const { provider, events } of items) {
    const isSigned = !UNSIGNED.includes(provider)
    const secret = isSigned ? { signingSecret: SECRETS[provider] ?? SECRET } : {}
    const endpoint = await alice.endpoint({ provider, ...secret })
    for (const { event } of events) {
      const { answer, detail } = await sentTo(endpoint, { provider, event })
      const label = detail.label ?? event
      const isVerified = detail.verification?.verdict === 'verified'
      if (answer.signed !== isSigned || isVerified !== isSigned || label !== event) {
        astray.push({ provider, event, verification: detail.verification, label: detail.label })
      }
    }
    if (!isSigned) continue
    const bad = await sentTo(endpoint, { provider, badSignature: true })
    if (bad.detail.verification?.verdict !== 'failed') astray.push({ provider, bad: bad.detail.verification })
  }
  expect(astray).toEqual([])
})

describe('a sample', () => {
  test('is signed by a scheme of the user, and with the signing token of GitLab', async () => {
    const manual = {
      signingSecret: 'secret of a manual scheme',
      signatureHeader: 'X-Own',
      signaturePrefix: 'v1=',
    }
    const own = await sent(manual, { provider: 'stripe' })
    expect(own.detail.verification?.verdict).toBe('verified')
    const gitlab = await sent({ provider: 'gitlab', signingSecret: BASE64_SECRET }, { provider: 'gitlab' })
    expect(gitlab.detail.verification?.verdict).toBe('verified')
  })

  test('of another provider does not show the secret in place of a signature', async () => {
    const members = { provider: 'github', signingSecret: SECRET }
    const { answer, detail } = await sent(members, { provider: 'gitlab' })
    expect(answer.signed).toBe(false)
    expect(JSON.stringify(detail)).not.toContain(SECRET)
  })

  test('goes unsigned where the endpoint has no secret', async () => {
    const { answer, detail } = await sent({ provider: 'stripe' }, { provider: 'stripe' })
    expect(answer).toMatchObject({ signed: false, event: 'checkout.session.completed' })
    expect(detail.verification).toBeNull()
  })

  test('takes values by path, signs them, and has other ids each time', async () => {
    const members = { provider: 'stripe', signingSecret: 'secret' }
    const set = {
      'body.data.object.amount_total': 5,
      'body.data.object.lines[0].sku': 'MUG',
      'body.livemode': null,
    }
    const one = await sent(members, { provider: 'stripe', set })
    expect(JSON.parse(one.detail.body)).toMatchObject({
      livemode: null,
      data: { object: { amount_total: 5, lines: [{ sku: 'MUG' }] } },
    })
    expect(one.detail.verification?.verdict).toBe('verified')
    const two = await sent(members, { provider: 'stripe', set })
    expect(JSON.parse(two.detail.body).id).not.toBe(JSON.parse(one.detail.body).id)
  })

  test('that cannot be made is refused, everything wrong named', async () => {
    const endpoint = await service.alice.endpoint()
    const refused = async (order: unknown) => await service.alice.post(endpoint.at('/samples'), order)
    expect((await refused({ provider: 'nobody' })).body).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '#/provider', code: 'unknown_value' }],
    })
    const wrong = { provider: 'stripe', event: 'nothing', set: { 'headers.X': 1, 'body..': 2 } }
    expect((await refused(wrong)).body).toMatchObject({
      errors: [{ pointer: '#/event' }, { pointer: '#/set/headers.X' }, { pointer: '#/set/body..' }],
    })
    const through = await refused({ provider: 'stripe', set: { 'body.id.deeper': 1 } })
    expect(through.body).toMatchObject({ errors: [{ pointer: '#/set/body.id.deeper', code: 'bad_path' }] })
    expect(await endpoint.requests()).toEqual([])
  })

  test('is refused where only verified captures are taken, and told what keeps it from being one', async () => {
    const endpoint = await service.alice.endpoint({
      provider: 'github',
      signingSecret: SECRET,
      rejectUnverified: true,
    })
    await sentTo(endpoint, { provider: 'github' })
    for (const [order, pointer] of [
      [{ provider: 'github', badSignature: true }, '#/badSignature'],
      [{ provider: 'gitlab' }, '#/provider'],
    ]) {
      const { status, body } = await service.alice.post(endpoint.at('/samples'), order)
      expect([status, body]).toMatchObject([400, { errors: [{ pointer, code: 'not_allowed' }] }])
    }
    expect(await endpoint.requests()).toHaveLength(1)
  })

  test('is captured like any request: not where captures are off, and within the capture rate', async () => {
    const { alice, charlie } = service
    const off = await alice.endpoint({ isActive: false })
    expect(await alice.post(off.at('/samples'), { provider: 'stripe' })).toMatchObject({ status: 404 })
    const others = await alice.endpoint()
    expect(await charlie.post(others.at('/samples'), { provider: 'stripe' })).toMatchObject({ status: 404 })
    expect(await others.requests()).toEqual([])
  })
})
