import { describe, expect, test } from 'bun:test'
import { credentialIssue, maskSecret } from './check.ts'
import { CHANNEL_KINDS } from './kinds/index.ts'

describe('credentialIssue', () => {
  test('a signing secret needs 16 characters', () => {
    expect(credentialIssue(CHANNEL_KINDS.webhook, 'x'.repeat(15))?.code).toBe('too_short')
    expect(credentialIssue(CHANNEL_KINDS.webhook, 'x'.repeat(16))).toBeNull()
  })

  test('a token cannot leave its place in a path or a header, and is not quoted', () => {
    for (const token of ['12:ab/../x y', 'a\r\nb', 'ä', 'a?b']) {
      const issue = credentialIssue(CHANNEL_KINDS.telegram, token)
      expect(issue?.code).toBe('bad_format')
      expect(issue?.detail).not.toContain(token)
    }
    expect(credentialIssue(CHANNEL_KINDS.telegram, '123456:ABC-def_1')).toBeNull()
  })
})

describe('maskSecret', () => {
  test('hides a token wherever a provider quotes it', () => {
    expect(maskSecret('bad token 123456:ABC, said 123456:ABC', '123456:ABC')).toBe('bad token ***, said ***')
  })

  test('hides an address, and its telling parts on their own', () => {
    const secret = 'https://chat.googleapis.com/v1/spaces/AAAA/messages?key=AIza-secret&token=tok%3Dsecret'
    for (const quote of [secret, 'AIza-secret', 'tok=secret', 'tok%3Dsecret', '?key=AIza-secret']) {
      const masked = maskSecret(`cannot post to ${quote} today`, secret)
      expect(masked).not.toContain('AIza-secret')
      expect(masked).not.toContain('secret')
    }
  })

  test('hides a short token, or a plain word, where it stands alone', () => {
    expect(maskSecret('Bearer hunter', 'hunter')).toBe('Bearer ***')
    expect(maskSecret('{"key":"a.b","text":"a.bc -a.b xa.b a-b"}', 'a.b')).toBe(
      '{"key":"***","text":"a.bc -a.b xa.b a-b"}',
    )
  })

  test('leaves other text alone', () => {
    const words = 'invalid_payload: two services are down'
    expect(maskSecret(words, 'https://hooks.slack.com/services/T0/B0/XXXXXXXX')).toBe(words)
  })
})
