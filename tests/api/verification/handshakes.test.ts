import { describe, expect, test } from 'bun:test'
import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { z } from 'zod'
import { startVerificationService, subject } from './support.ts'

const service = await startVerificationService()
const client = await service.newClient()

const JSON_HEADER = ['Content-Type', 'application/json'] as const
const json = (value: unknown) => ({ headers: [JSON_HEADER], body: JSON.stringify(value) })

const Settings = z.looseObject({ verification: z.looseObject({ secretSet: z.boolean() }) })
const secretSet = async (id: string) =>
  (await client.expect(client.get(`/api/v1/endpoints/${id}`), Settings)).verification.secretSet

describe('a challenge of the endpoint’s own provider', () => {
  test('is answered in place of the configured response, inert, and stored like any capture', async () => {
    const endpoint = await subject(service, client, {
      ...{ provider: 'slack', responseStatusCode: 418, responseContentType: 'application/xml' },
      ...{ responseHeaders: { 'X-Mine': 'yes' }, responseBody: '<a/>' },
    })
    const challenge = '<script>alert(1)</script>'
    const { answer, label } = await endpoint.send(json({ type: 'url_verification', challenge }))
    expect(answer).toMatchObject({
      status: 200,
      body: challenge,
      headers: {
        'content-type': 'text/plain',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "sandbox; default-src 'none'",
        'cache-control': 'no-store',
      },
    })
    expect(answer.headers).not.toHaveProperty('x-mine')
    expect(label).toBe('url_verification')
    expect((await endpoint.send(json({ type: 'event_callback' }))).answer.status).toBe(418)
  })

  test('of another provider, or without one, gets the configured response', async () => {
    for (const settings of [{}, { provider: 'stripe' }]) {
      const endpoint = await subject(service, client, settings)
      const { answer } = await endpoint.send(json({ type: 'url_verification', challenge: 'abc' }))
      expect(answer.body).toBe('{"ok":true}')
    }
  })

  test('a verify token must match', async () => {
    const endpoint = await subject(service, client, { provider: 'facebook', handshakeToken: 'token' })
    const pose = async (token: string) =>
      (
        await endpoint.send({
          method: 'GET',
          suffix: `?hub.mode=subscribe&hub.verify_token=${token}&hub.challenge=1158201444`,
        })
      ).answer
    expect(await pose('token')).toMatchObject({ status: 200, body: '1158201444' })
    expect(await pose('other')).toMatchObject({ status: 403, body: '' })
  })

  test('may be answered with the signing secret, and with the public URL', async () => {
    const zoom = await subject(service, client, { provider: 'zoom', signingSecret: 'zoom secret' })
    const posed = await zoom.send(json({ event: 'endpoint.url_validation', payload: { plainToken: 'abc' } }))
    expect(JSON.parse(posed.answer.body)).toEqual({
      plainToken: 'abc',
      encryptedToken: createHmac('sha256', 'zoom secret').update('abc').digest('hex'),
    })
    const ebay = await subject(service, client, { provider: 'ebay', handshakeToken: 'x'.repeat(32) })
    const { answer } = await ebay.send({ method: 'GET', suffix: '/a?challenge_code=code' })
    const expected = new Bun.CryptoHasher('sha256')
      .update(`code${'x'.repeat(32)}${ebay.publicUrl}/a`)
      .digest('hex')
    expect(JSON.parse(answer.body)).toEqual({ challengeResponse: expected })
  })

  test('Xero: 200 to a right signature, 401 to a wrong one', async () => {
    const endpoint = await subject(service, client, { provider: 'xero', signingSecret: 'xero key' })
    const pose = async (secret: string) => {
      const body = '{"events":[]}'
      const signature = createHmac('sha256', secret).update(body).digest('base64')
      return (await endpoint.send({ headers: [JSON_HEADER, ['x-xero-signature', signature]], body })).answer
    }
    expect(await pose('xero key')).toMatchObject({ status: 200, body: '' })
    expect(await pose('wrong')).toMatchObject({ status: 401, body: '' })
  })

  test('Discord: pong to a right signature, 401 to a wrong one', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const signingSecret = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex')
    const endpoint = await subject(service, client, { provider: 'discord', signingSecret })
    const pose = async (body: string, signed = body, ageSeconds = 0) => {
      const timestamp = String(Math.floor(Date.now() / 1000) - ageSeconds)
      const signature = sign(null, Buffer.from(`${timestamp}${signed}`), privateKey).toString('hex')
      const headers = [
        JSON_HEADER,
        ['X-Signature-Ed25519', signature],
        ['X-Signature-Timestamp', timestamp],
      ] as const
      return (await endpoint.send({ headers, body })).answer
    }
    expect(await pose('{"type":1}')).toMatchObject({ status: 200, body: '{"type":1}' })
    expect(await pose('{"type":0}')).toMatchObject({ status: 204, body: '' })
    expect(await pose('{"type":1}', 'else')).toMatchObject({ status: 401, body: '' })
    expect(await pose('{"type":1}', '{"type":1}', 400)).toMatchObject({ status: 401, body: '' })
    expect(await pose('{"type":1,"event":{}}')).toMatchObject({ status: 200, body: '{"ok":true}' })
  })

  test('Trello asks with HEAD, Azure Event Grid with OPTIONS', async () => {
    const trello = await subject(service, client, { provider: 'trello', responseStatusCode: 500 })
    expect((await trello.send({ method: 'HEAD' })).answer.status).toBe(200)
    const grid = await subject(service, client, { provider: 'azure-event-grid' })
    const headers = [['WebHook-Request-Origin', 'eventgrid.azure.net']] as const
    const { answer } = await grid.send({ method: 'OPTIONS', headers })
    expect(answer).toMatchObject({
      status: 200,
      headers: { 'webhook-allowed-origin': 'eventgrid.azure.net' },
    })
  })
})

describe('a challenge that delivers the signing secret', () => {
  const hmac = (secret: string, body: string) => createHmac('sha256', secret).update(body).digest('hex')

  test('Asana: it is echoed and stored, sealed, and what it signs is verified from then on', async () => {
    const endpoint = await subject(service, client, { provider: 'asana' })
    const posed = await endpoint.send({ headers: [['X-Hook-Secret', 'b537207f20cbfa02']] })
    expect(posed.answer).toMatchObject({ status: 200, headers: { 'x-hook-secret': 'b537207f20cbfa02' } })
    expect(posed.verdict).toBeNull()
    expect(await secretSet(endpoint.id)).toBe(true)
    const row = await service.db
      .selectFrom('endpoints')
      .select('signingSecret')
      .where('id', '=', endpoint.id)
      .executeTakeFirstOrThrow()
    expect(Buffer.from(row.signingSecret ?? '').includes('b537207f20cbfa02')).toBe(false)

    const events = (secret: string) => ({
      headers: [['X-Hook-Signature', hmac(secret, '{"events":[]}')]] as const,
      body: '{"events":[]}',
    })
    expect((await endpoint.send(events('b537207f20cbfa02'))).verdict).toBe('verified')
    const second = await endpoint.send({ headers: [['X-Hook-Secret', 'an-attacker']] })
    expect(second.answer.headers).toMatchObject({ 'x-hook-secret': 'an-attacker' })
    expect((await endpoint.send(events('an-attacker'))).verdict).toBe('failed')
    expect((await endpoint.send(events('b537207f20cbfa02'))).verdict).toBe('verified')
  })

  test('Notion: it is stored only while none is set', async () => {
    const endpoint = await subject(service, client, { provider: 'notion' })
    const posed = await endpoint.send(json({ verification_token: 'secret_tMrlL1qK5vuQAh1b6cZGhFC' }))
    expect(posed).toMatchObject({ answer: { status: 200, body: '' }, verdict: null })
    const body = '{"type":"page.created"}'
    const headers = [
      ['X-Notion-Signature', `sha256=${hmac('secret_tMrlL1qK5vuQAh1b6cZGhFC', body)}`],
    ] as const
    expect((await endpoint.send({ headers, body })).verdict).toBe('verified')
    const again = await endpoint.send(json({ verification_token: 'secret_of_somebody_else' }))
    expect(again.verdict).toBe('unsigned')
    expect((await endpoint.send({ headers, body })).verdict).toBe('verified')
  })

  test('two challenges at once leave the first one’s secret', async () => {
    const endpoint = await subject(service, client, { provider: 'asana' })
    const secrets = ['first-secret', 'second-secret', 'third-secret']
    await Promise.all(secrets.map((secret) => endpoint.send({ headers: [['X-Hook-Secret', secret]] })))
    const verdicts = []
    for (const secret of secrets) {
      const headers = [['X-Hook-Signature', hmac(secret, '{}')]] as const
      verdicts.push((await endpoint.send({ headers, body: '{}' })).verdict)
    }
    expect(verdicts.sort()).toEqual(['failed', 'failed', 'verified'])
  })
})
