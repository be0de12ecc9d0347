import { describe, expect, test } from 'bun:test'
import { processorTime } from '../../tests/support/processorTime.ts'
import { withoutSecrets } from './log.ts'

describe('withoutSecrets', () => {
  test.each<[string, string]>([
    ['key creel_live_abcdefGHIJKLMNOP refused', 'key creel_live_abcdef[secret] refused'],
    ['token creel_refresh_abcdefGHIJKLMNOP refused', 'token creel_refresh_abcdef[secret] refused'],
    ['{"keyPrefix":"creel_live_abcdef"}', '{"keyPrefix":"creel_live_abcdef"}'],
    ['{"h":"Authorization: Bearer abc.def-ghi"}', '{"h":"Authorization: Bearer [secret]"}'],
    ['basic dXNlcjpwYXNz, next', 'basic [secret], next'],
    ['postgres://creel:hunter2@db:5432/creel', 'postgres://creel:[secret]@db:5432/creel'],
    ['smtps://mail%40a.dev:p%40ss@smtp.a.dev', 'smtps://mail%40a.dev:[secret]@smtp.a.dev'],
    ['https://example.com:8443/a@b', 'https://example.com:8443/a@b'],
  ])('%s', (line, redacted) => {
    expect(withoutSecrets(line)).toBe(redacted)
  })

  test.each<[string, string]>([
    ['schemes', `GET /api/v1/${'a.'.repeat(200_000)}`],
    ['colons', '://a:'.repeat(50_000)],
    ['users', `x://${'a'.repeat(300_000)}:`],
    ['bearers', 'Bearer '.repeat(50_000)],
    ['blanks', `Bearer${' '.repeat(300_000)}"`],
    ['keys', 'creel_live_'.repeat(30_000)],
  ])('a line of many %s takes no longer than any other', (_, line) => {
    const used = processorTime()
    withoutSecrets(line)
    expect(used()).toBeLessThan(500)
  })
})
