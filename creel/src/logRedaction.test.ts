import { describe, expect, test } from 'bun:test'
import { withoutSecrets } from './logRedaction.ts'

describe('withoutSecrets', () => {
  test.each<[string, string]>([
    ['key creel_live_abcdefGHIJKLMNOP refused', 'key creel_live_abcdef[secret] refused'],
    ['{"keyPrefix":"creel_live_abcdef"}', '{"keyPrefix":"creel_live_abcdef"}'],
    ['{"h":"Authorization: Bearer abc.def-ghi"}', '{"h":"Authorization: Bearer [secret]"}'],
    ['basic dXNlcjpwYXNz, next', 'basic [secret], next'],
    ['postgres://creel:hunter2@db:5432/creel', 'postgres://creel:[secret]@db:5432/creel'],
    ['smtps://mail%40a.dev:p%40ss@smtp.a.dev', 'smtps://mail%40a.dev:[secret]@smtp.a.dev'],
    ['https://example.com:8443/a@b', 'https://example.com:8443/a@b'],
  ])('%s', (line, redacted) => {
    expect(withoutSecrets(line)).toBe(redacted)
  })
})
