import { describe, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import {
  changedSettings,
  checkSettings,
  NO_VERIFICATION,
  shownSecretIssues,
  type VerificationInput,
} from './checkSettings.ts'
import type { VerificationSettings } from './settings.ts'

const pem = (type: 'spki' | 'pkcs1', bits = 2048) =>
  generateKeyPairSync('rsa', { modulusLength: bits }).publicKey.export({ format: 'pem', type }).toString()
const ed25519 = generateKeyPairSync('ed25519')
const raw = ed25519.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
const rsa = pem('spki')

const issues = (input: VerificationInput, stored: VerificationSettings = NO_VERIFICATION) =>
  checkSettings(stored, input).map(({ path, code }) => `${path.join('/')} ${code}`)

const manual = (signatureAlgorithm: VerificationInput['signatureAlgorithm'], signingSecret: string) => ({
  signatureHeader: 'X-Sig',
  signatureAlgorithm,
  signingSecret,
})

describe('checkSettings', () => {
  test.each<[string, VerificationInput]>([
    ['nothing at all', {}],
    ['a provider alone', { provider: 'stripe' }],
    ['any text for an HMAC', { provider: 'github', signingSecret: 'It is a secret' }],
    [
      'a Standard Webhooks secret',
      { provider: 'svix', signingSecret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
    ],
    [
      'one with the blanks of pasting',
      { provider: 'svix', signingSecret: ' whsec_MfKQ9r8GKYqrTwjUPD8ILA==\n' },
    ],
    ['one without prefix and padding', { provider: 'svix', signingSecret: 'c2VjcmV0cw' }],
    ['a PEM', manual('rsa-sha256', rsa)],
    ['a PKCS #1 PEM', manual('rsa-sha512', pem('pkcs1'))],
    ['SPKI in base64', manual('rsa-sha256', rsa.replace(/-----[A-Z ]+-----/g, ''))],
    ['a raw Ed25519 key', manual('ed25519', raw.toString('base64'))],
    ['an Ed25519 key in hex', { provider: 'discord', signingSecret: raw.toString('hex') }],
    [
      'an Ed25519 PEM',
      manual('ed25519', ed25519.publicKey.export({ format: 'pem', type: 'spki' }).toString()),
    ],
    ['a header alone', { signatureHeader: 'X-Sig' }],
    [
      'clearing',
      { provider: '', signingSecret: '', handshakeToken: '', signatureHeader: '', signaturePrefix: '' },
    ],
    ['a secret without a scheme', { signingSecret: 'x' }],
    ['PayPal, which is never checked', { provider: 'paypal', signingSecret: 'webhook id' }],
  ])('accepts %s', (_, input) => {
    expect(issues(input)).toEqual([])
  })

  test.each<[VerificationInput, string[]]>([
    [{ provider: 'nobody' }, ['provider unknown_value']],
    [{ signatureHeader: 'not a header' }, ['signatureHeader bad_format']],
    [{ signaturePrefix: 'sha256=' }, ['signatureHeader required']],
    [{ signatureAlgorithm: 'sha1', signatureEncoding: 'hex' }, ['signatureHeader required']],
    [{ signatureHeader: '', signatureAlgorithm: 'sha1' }, ['signatureAlgorithm not_allowed']],
    [{ signatureHeader: 'X-Sig', signaturePrefix: 'a\nb' }, ['signaturePrefix bad_format']],
    [{ provider: 'svix', signingSecret: 'not base64!' }, ['signingSecret bad_format']],
    [{ provider: 'adyen', signingSecret: 'xyz' }, ['signingSecret bad_format']],
    [{ provider: 'discord', signingSecret: 'aa' }, ['signingSecret bad_format']],
    [{ provider: 'sendgrid', signingSecret: raw.toString('base64') }, ['signingSecret bad_format']],
    [manual('rsa-sha256', 'garbage'), ['signingSecret bad_format']],
    [manual('rsa-sha256', raw.toString('base64')), ['signingSecret bad_format']],
    [manual('rsa-sha256', pem('spki', 512)), ['signingSecret bad_format']],
    [manual('ed25519', rsa), ['signingSecret bad_format']],
    [
      manual('ed25519', ed25519.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()),
      ['signingSecret bad_format'],
    ],
    [{ provider: 'nobody', signaturePrefix: 'x' }, ['provider unknown_value', 'signatureHeader required']],
  ])('refuses %p', (input, expected) => {
    expect(issues(input)).toEqual(expected)
  })

  test('refuses a new scheme that the stored secret does not fit, unless the secret changes too', () => {
    const stored = { ...NO_VERIFICATION, provider: 'github', signingSecret: 'a secret!' }
    expect(issues({ provider: 'svix' }, stored)).toEqual(['provider not_allowed'])
    expect(issues({ provider: 'svix', signingSecret: 'c2VjcmV0' }, stored)).toEqual([])
    expect(issues({ provider: 'svix', signingSecret: '' }, stored)).toEqual([])
    const manual = { header: 'X-Sig', algorithm: 'sha256', encoding: 'hex', prefix: '' } as const
    expect(issues({ signatureAlgorithm: 'ed25519' }, { ...stored, manual })).toEqual([
      'signatureAlgorithm not_allowed',
    ])
  })

  test('does not evaluate anew what is already stored', () => {
    const stored = { ...NO_VERIFICATION, provider: 'retired-slug', signingSecret: 'x' }
    expect(issues({ provider: 'retired-slug' }, stored)).toEqual([])
  })

  test('never repeats the secret', () => {
    const [issue] = checkSettings(NO_VERIFICATION, { provider: 'svix', signingSecret: 'not base64!' })
    expect(issue?.detail).not.toContain('not base64!')
  })
})

describe('shownSecretIssues', () => {
  const manual = { header: 'X-Sig', algorithm: 'sha256', encoding: 'hex', prefix: '' } as const
  const stored = { ...NO_VERIFICATION, provider: 'github', signingSecret: 's', handshakeToken: 't' }
  const shown = (input: VerificationInput, before: VerificationSettings = stored) =>
    shownSecretIssues(before, input).map(({ path, code }) => `${path.join('/')} ${code}`)
  const refused = ['provider not_allowed']

  test('refuses every scheme that shows the secret, and handshakes that show the token', () => {
    for (const provider of ['auth0', 'okta', 'telegram', 'gitlab', 'figma', 'postmark'])
      expect(shown({ provider })).toEqual(refused)
    expect(shown({ provider: 'braintree' })).toEqual(refused)
    expect(shown({ provider: 'auth0' }, { ...stored, provider: null })).toEqual(refused)
    expect(shown({ provider: 'auth0' }, { ...stored, provider: 'gitlab' })).toEqual(refused)
    expect(shown({ signatureHeader: '' }, { ...stored, provider: 'auth0', manual })).toEqual([
      'signatureHeader not_allowed',
    ])
  })

  test.each<[string, VerificationInput, VerificationSettings]>([
    ['another HMAC', { provider: 'stripe' }, stored],
    ['a handshake that hashes the token', { provider: 'ebay' }, stored],
    ['what is given with it', { provider: 'auth0', signingSecret: 'x' }, stored],
    ['a secret that is cleared', { provider: 'auth0', signingSecret: '' }, stored],
    ['a token that is given with it', { provider: 'braintree', handshakeToken: 'x' }, stored],
    ['nothing that is stored', { provider: 'auth0' }, NO_VERIFICATION],
    ['the same provider', { provider: 'auth0' }, { ...stored, provider: 'auth0' }],
    ['a manual scheme over it', { provider: 'auth0' }, { ...stored, manual }],
  ])('accepts %s', (_, input, before) => {
    expect(shown(input, before)).toEqual([])
  })
})

describe('changedSettings', () => {
  const stored: VerificationSettings = {
    provider: 'github',
    signingSecret: 's',
    handshakeToken: 't',
    manual: { header: 'X-Sig', algorithm: 'sha512', encoding: 'base64', prefix: 'v1=' },
  }

  test('leaves what is omitted, clears what is empty', () => {
    expect(changedSettings(stored, {})).toEqual(stored)
    expect(changedSettings(stored, { signatureHeader: '' }).manual).toBeNull()
    expect(
      changedSettings(stored, { signatureAlgorithm: '', signatureEncoding: '', signaturePrefix: '' }).manual,
    ).toEqual({ header: 'X-Sig', algorithm: 'sha256', encoding: 'hex', prefix: '' })
    expect(changedSettings(stored, { provider: '', signingSecret: '', handshakeToken: '' })).toEqual({
      ...NO_VERIFICATION,
      manual: stored.manual,
    })
  })
})
