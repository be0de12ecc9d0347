import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { PLANS } from '@creel/core'
import { z } from 'zod'
import { startVerificationService, subject } from './support.ts'

const service = await startVerificationService()
const client = await service.newClient()

const SECRET = "It's a Secret to Everybody"
const sign = (body: string, secret = SECRET) => createHmac('sha256', secret).update(body).digest('hex')
const signed = (body: string, secret = SECRET) => ({
  headers: [['X-Hub-Signature-256', `sha256=${sign(body, secret)}`] as const],
  body,
})

describe('the verdict on a capture', () => {
  test('is null without a scheme, and without its secret', async () => {
    const none = await subject(service, client, {})
    expect((await none.send(signed('{}'))).verdict).toBeNull()
    const noSecret = await subject(service, client, { provider: 'github' })
    expect((await noSecret.send(signed('{}'))).verdict).toBeNull()
    const secretOnly = await subject(service, client, { signingSecret: SECRET })
    expect((await secretOnly.send(signed('{}'))).verdict).toBeNull()
  })

  test('follows a change of the settings at once', async () => {
    const endpoint = await subject(service, client, { provider: 'github', signingSecret: SECRET })
    const change = (members: object) => client.patch(`/api/v1/endpoints/${endpoint.id}`, members)
    expect((await endpoint.send(signed('{}'))).verdict).toBe('verified')
    await change({ signingSecret: 'another' })
    expect((await endpoint.send(signed('{}'))).verdict).toBe('failed')
    await change({ signatureHeader: 'X-My-Sig' })
    expect((await endpoint.send({ headers: [['X-My-Sig', sign('a', 'another')]], body: 'a' })).verdict).toBe(
      'verified',
    )
    await change({ signatureHeader: '', signingSecret: SECRET })
    expect((await endpoint.send(signed('{}'))).verdict).toBe('verified')
    await change({ provider: '' })
    expect((await endpoint.send(signed('{}'))).verdict).toBeNull()
  })

  test('looks at the bytes as they arrived, in any header case, with old and new signatures side by side', async () => {
    const endpoint = await subject(service, client, { provider: 'stripe', signingSecret: SECRET })
    const body = Buffer.from([0xff, 0x00, 0x7b, 0x0d, 0x0a])
    const t = Math.floor(service.clock.now().getTime() / 1000)
    const mac = (secret: string) => createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')
    const value = `t=${t},v1=${mac('old')},v1=${mac(SECRET)},v0=x`
    const { verdict, note } = await endpoint.send({ headers: [['STRIPE-signature', value]], body })
    expect(verdict).toBe('verified')
    expect(note).toMatch(/^Stripe-Signature matches; timestamp \d+ s old\.$/)
  })

  test('is unverifiable on an oversize trace where there is something to check, else null', async () => {
    const free = await service.newClient('pro')
    const checked = await subject(service, free, { provider: 'github', signingSecret: SECRET })
    const unchecked = await subject(service, free, {})
    const body = 'x'.repeat(PLANS.pro.limits.payloadBytesMax + 1)
    expect(await checked.send(signed(body))).toMatchObject({
      verdict: 'unverifiable',
      note: 'body over the size cap',
    })
    expect((await unchecked.send(signed(body))).verdict).toBeNull()
  })

  test('says what is wrong, and never the secret, the digest or the signature', async () => {
    const endpoint = await subject(service, client, { provider: 'github', signingSecret: SECRET })
    const body = '{"a": 1}'
    const right = sign(body)
    for (const [value, words] of [
      [right, 'lacks the "sha256=" prefix'],
      [
        `sha256=${createHmac('sha256', SECRET).update(body).digest('base64')}`,
        'written in base64, not in hex',
      ],
      [`sha256=${sign('{"a":1}')}`, 're-serialised'],
      [`sha256=${sign(`${body}\n`)}`, 'newline'],
      [`sha256=${sign('else')}`, 'other credentials'],
    ] as const) {
      const { verdict, note } = await endpoint.send({ headers: [['X-Hub-Signature-256', value]], body })
      expect({ verdict, note }).toEqual({ verdict: 'failed', note: expect.stringContaining(words) })
      for (const hidden of [SECRET, right, value]) expect(note).not.toContain(hidden)
    }
  })

  test('never keeps a capture from being stored and answered', async () => {
    const endpoint = await subject(service, client, {
      ...{ provider: 'github', signingSecret: SECRET },
      ...{ responseStatusCode: 202, responseBody: 'thanks', responseContentType: 'text/plain' },
    })
    const { answer, verdict } = await endpoint.send({ body: 'unsigned' })
    expect({ verdict, status: answer.status, body: answer.body }).toEqual({
      verdict: 'unsigned',
      status: 202,
      body: 'thanks',
    })
  })
})

describe('the verification filter', () => {
  test('selects by verdict, `none` selects what was not checked, all else is refused', async () => {
    const endpoint = await subject(service, client, { provider: 'github' })
    const change = (members: object) => client.patch(`/api/v1/endpoints/${endpoint.id}`, members)
    await endpoint.send(signed('0'))
    await change({ signingSecret: SECRET })
    await endpoint.send(signed('1'))
    await endpoint.send(signed('2', 'another'))
    await endpoint.send({ body: '3' })
    await change({ provider: 'aws-sns' })
    await endpoint.send({ body: '{"Signature":"x"}' })

    const previews = async (verification: string) => {
      const page = z.looseObject({ items: z.array(z.looseObject({ bodyPreview: z.string() })) })
      const path = `/api/v1/endpoints/${endpoint.id}/requests?verification=${verification}`
      return (await client.expect(client.get(path), page)).items.map(({ bodyPreview }) => bodyPreview)
    }
    expect(await previews('none')).toEqual(['0'])
    expect(await previews('verified')).toEqual(['1'])
    expect(await previews('failed')).toEqual(['2'])
    expect(await previews('unsigned')).toEqual(['3'])
    expect(await previews('unverifiable')).toEqual(['{"Signature":"x"}'])
    const refused = await client.get(`/api/v1/endpoints/${endpoint.id}/requests?verification=ok`)
    expect(refused).toMatchObject({ status: 400, body: { code: 'validation_failed' } })
  })
})

describe('the label', () => {
  test("comes from the provider's place, else from the usual ones, and can be filtered by", async () => {
    const json = [['Content-Type', 'application/json']] as const
    const stripe = await subject(service, client, { provider: 'stripe' })
    expect((await stripe.send({ headers: json, body: '{"type":"invoice.paid","event":"x"}' })).label).toBe(
      'invoice.paid',
    )
    const generic = await subject(service, client, {})
    const both = [...json, ['x-shopify-topic', 'orders/create']] as const
    expect((await generic.send({ headers: both, body: '{"type":"t"}' })).label).toBe('orders/create')
    expect((await generic.send({ headers: json, body: '{"type":"t"}' })).label).toBe('t')
    expect((await generic.send({ headers: json, body: '{"type":"a\\u0000b"}' })).label).toBeNull()
    const found = await client.get(`/api/v1/endpoints/${generic.id}/requests?label=t`)
    expect(found.body).toMatchObject({ totalCount: 1 })
  })
})
