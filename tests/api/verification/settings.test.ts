import { describe, expect, test } from 'bun:test'
import type { Trx } from '@creel/core'
import { z } from 'zod'
import { eventually } from '../../support/eventually.ts'
import { holdOpen } from '../../support/heldWrites.ts'
import { isWaitingForLock } from '../../support/lockWaits.ts'
import { wrongParts } from '../../support/problems.ts'
import { startService } from '../../support/service.ts'

const service = await startService()
const { newClient } = service

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

const Endpoint = z.looseObject({ id: z.string(), provider: z.string().nullable(), verification: z.unknown() })

describe("the endpoint's verification object", () => {
  test('describes nothing, a preset and a manual scheme, and goes back to the preset', async () => {
    const alice = await newClient()
    const { id, verification } = await alice.expect(alice.post('/api/v1/endpoints', {}), Endpoint)
    expect(verification).toEqual({
      source: 'none',
      scheme: null,
      family: null,
      secretLabel: null,
      secretSet: false,
      secretSetAt: null,
      handshakeTokenSet: false,
      handshakeTokenNeeded: false,
      manual: null,
    })
    const change = async (members: object) =>
      (await alice.expect(alice.patch(`/api/v1/endpoints/${id}`, members), Endpoint)).verification

    const preset = {
      source: 'preset',
      scheme: 'hmac-sha256-hex',
      family: 'hmac-body',
      secretLabel: 'App Secret',
      handshakeTokenNeeded: true,
    }
    expect(await change({ provider: 'facebook', signingSecret: 'app secret' })).toEqual({
      ...preset,
      secretSet: true,
      secretSetAt: expect.stringMatching(/^\d{4}-.*Z$/),
      handshakeTokenSet: false,
      manual: null,
    })
    expect(await change({ handshakeToken: 'token' })).toMatchObject({ ...preset, handshakeTokenSet: true })
    expect(await change({ signatureHeader: 'X-Sig', signaturePrefix: 'v1=' })).toMatchObject({
      source: 'manual',
      scheme: 'manual',
      family: 'hmac',
      manual: { header: 'X-Sig', algorithm: 'sha256', encoding: 'hex', prefix: 'v1=' },
    })
    expect(await change({ signatureAlgorithm: 'sha512', signatureEncoding: 'base64' })).toMatchObject({
      manual: { header: 'X-Sig', algorithm: 'sha512', encoding: 'base64', prefix: 'v1=' },
    })
    expect(
      await change({ signatureAlgorithm: '', signatureEncoding: '', signaturePrefix: '' }),
    ).toMatchObject({
      manual: { header: 'X-Sig', algorithm: 'sha256', encoding: 'hex', prefix: '' },
    })
    expect(await change({ signatureHeader: '' })).toMatchObject({ ...preset, manual: null })
    expect(await change({ signingSecret: '', handshakeToken: '' })).toMatchObject({
      secretSet: false,
      secretSetAt: null,
      handshakeTokenSet: false,
    })
    expect(await change({ provider: '' })).toMatchObject({ source: 'none', handshakeTokenNeeded: false })
  })

  test('null changes nothing, and what GET shows can be sent back', async () => {
    const alice = await newClient()
    const made = await alice.expect(
      alice.post('/api/v1/endpoints', { provider: 'svix', signingSecret: SECRET, handshakeToken: 't' }),
      Endpoint,
    )
    const path = `/api/v1/endpoints/${made.id}`
    const nulls = { provider: null, signingSecret: null, handshakeToken: null, signatureHeader: null }
    const kept = await alice.expect(alice.patch(path, nulls), Endpoint)
    expect(kept.verification).toEqual(made.verification)
    const seen = await alice.expect(alice.get(path), Endpoint)
    expect((await alice.expect(alice.patch(path, seen), Endpoint)).verification).toEqual(made.verification)
  })

  test('a provider that does not sign leaves nothing to check', async () => {
    const alice = await newClient()
    const made = await alice.expect(alice.post('/api/v1/endpoints', { provider: 'mailchimp' }), Endpoint)
    expect(made).toMatchObject({ provider: 'mailchimp', verification: { source: 'none', scheme: null } })
  })
})

describe('secrets', () => {
  test('are returned by no route, and are not readable at rest', async () => {
    const { db } = service
    const alice = await newClient()
    const body = { provider: 'svix', signingSecret: SECRET, handshakeToken: 'a-handshake-token' }
    const made = await alice.post('/api/v1/endpoints', body)
    const { id } = Endpoint.parse(made.body)
    const answers = [
      made,
      await alice.get(`/api/v1/endpoints/${id}`),
      await alice.get('/api/v1/endpoints'),
      await alice.patch(`/api/v1/endpoints/${id}`, { name: 'renamed' }),
      await alice.patch(`/api/v1/endpoints/${id}`, { signingSecret: 'not base64!' }),
    ]
    for (const { text } of answers) {
      expect(text).not.toContain(SECRET)
      expect(text).not.toContain('a-handshake-token')
      expect(text).not.toContain('not base64!')
    }
    const row = await db.selectFrom('endpoints').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    for (const sealed of [row.signingSecret, row.handshakeToken]) {
      expect(sealed?.length).toBeGreaterThan(20)
      expect(Buffer.from(sealed ?? '').toString('latin1')).not.toContain('token')
      expect(Buffer.from(sealed ?? '').includes(SECRET)).toBe(false)
    }
  })

  test('are sealed anew when they are set again', async () => {
    const { db } = service
    const alice = await newClient()
    const { id } = await alice.endpoint({ provider: 'github', signingSecret: 'same secret' })
    const sealed = () =>
      db.selectFrom('endpoints').select('signingSecret').where('id', '=', id).executeTakeFirstOrThrow()
    const before = await sealed()
    await alice.patch(`/api/v1/endpoints/${id}`, { signingSecret: 'same secret' })
    expect(Buffer.from((await sealed()).signingSecret ?? '')).not.toEqual(
      Buffer.from(before.signingSecret ?? ''),
    )
  })
})

describe('a refused save names every wrong member', () => {
  test.each<[object, string[]]>([
    [{ provider: 'nobody' }, ['#/provider unknown_value']],
    [{ signatureHeader: 'no header' }, ['#/signatureHeader bad_format']],
    [{ signatureHeader: 'x'.repeat(101) }, ['#/signatureHeader too_long']],
    [{ signatureAlgorithm: 'md5' }, ['#/signatureAlgorithm unknown_value']],
    [{ signatureHeader: 'X-Sig', signatureEncoding: 'hexx' }, ['#/signatureEncoding unknown_value']],
    [{ signaturePrefix: 'sha256=' }, ['#/signatureHeader required']],
    [{ signatureHeader: 'X-Sig', signaturePrefix: 'x'.repeat(33) }, ['#/signaturePrefix too_long']],
    [{ signatureHeader: '', signatureAlgorithm: 'sha1' }, ['#/signatureAlgorithm not_allowed']],
    [{ provider: 'svix', signingSecret: 'not base64!' }, ['#/signingSecret bad_format']],
    [{ signingSecret: 'x'.repeat(8193) }, ['#/signingSecret too_long']],
    [{ handshakeToken: 'x'.repeat(513) }, ['#/handshakeToken too_long']],
    [
      { signatureHeader: 'X-Sig', signatureAlgorithm: 'ed25519', signingSecret: 'garbage' },
      ['#/signingSecret bad_format'],
    ],
    [
      { signaturePrefix: 'a\nb', provider: 'nobody', signatureHeader: 'bad header' },
      ['#/signaturePrefix bad_format', '#/provider unknown_value', '#/signatureHeader bad_format'],
    ],
  ])('%p', async (members, expected) => {
    const alice = await newClient()
    const refused = await alice.post('/api/v1/endpoints', members)
    expect(refused).toMatchObject({ status: 400, body: { code: 'validation_failed' } })
    expect(wrongParts(refused)).toEqual(expected)
  })

  test('also on a change, where the stored secret has to fit', async () => {
    const alice = await newClient()
    const { id } = await alice.endpoint({ provider: 'github', signingSecret: 'It is a secret!' })
    const refused = await alice.patch(`/api/v1/endpoints/${id}`, { provider: 'svix' })
    expect(wrongParts(refused)).toEqual(['#/provider not_allowed'])
    expect(
      (await alice.patch(`/api/v1/endpoints/${id}`, { provider: 'svix', signingSecret: SECRET })).status,
    ).toBe(200)
  })

  test('also where the new scheme would show a secret that the caller cannot read', async () => {
    const alice = await newClient()
    const endpoint = await alice.endpoint({
      provider: 'github',
      signingSecret: SECRET,
      handshakeToken: 'token',
    })
    for (const provider of ['auth0', 'braintree'])
      expect(wrongParts(await alice.patch(endpoint.at(''), { provider }))).toEqual(['#/provider not_allowed'])
    expect((await alice.patch(endpoint.at(''), { provider: 'stripe' })).status).toBe(200)
    expect((await alice.patch(endpoint.at(''), { provider: 'auth0', signingSecret: 'mine' })).status).toBe(
      200,
    )
  })

  test('also where another call has stored the secret meanwhile', async () => {
    const alice = await newClient()
    const [endpoint, other] = [
      await alice.endpoint({ provider: 'github' }),
      await alice.endpoint({ signingSecret: SECRET }),
    ]
    const { db } = service
    const { signingSecret } = await db
      .selectFrom('endpoints')
      .where('id', '=', other.id)
      .select('signingSecret')
      .executeTakeFirstOrThrow()
    await using storing = holdOpen(db, (trx: Trx) =>
      trx.updateTable('endpoints').set({ signingSecret }).where('id', '=', endpoint.id).execute(),
    )
    await storing.isOpen
    const call = alice.patch(endpoint.at(''), { provider: 'auth0' })
    await eventually('the call, waiting for the endpoint', () => isWaitingForLock(db))
    await storing.release()
    expect(await call).toMatchObject({ status: 409, body: { code: 'concurrent_change' } })
  })
})
