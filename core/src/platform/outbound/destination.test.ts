import { describe, expect, test } from 'bun:test'
import { checkDestinationUrl, readDestination } from './destination.ts'
import { parseAllowList, type SsrfGuard } from './ssrfGuard.ts'

const NAMES: Record<string, string[]> = {
  'public.test': ['8.8.8.8'],
  'private.test': ['10.0.0.1'],
  'mixed.test': ['10.0.0.1', '8.8.4.4'],
  localhost: ['127.0.0.1', '::1'],

  'us.test': ['127.0.0.1'],
}

const guard = (allow: string[] = []): SsrfGuard => ({
  allow: parseAllowList(allow),
  ownHosts: () => [
    { host: 'in.creel.test', port: 443 },
    { host: '127.0.0.1', port: 4400 },
  ],
  resolve: async (host) => NAMES[host] ?? Promise.reject(new Error('ENOTFOUND')),
})

const codesOf = async (url: string, allow: string[] = []) =>
  (await checkDestinationUrl(guard(allow), url, ['url'])).map((issue) => issue.code)

describe('checkDestinationUrl', () => {
  test.each([
    'https://public.test/hooks?a=1',
    'http://8.8.8.8:8080/',
    'https://mixed.test/',
    'https://does-not-resolve.test/',
    'http://[2a00:1450:4001:81b::200e]/',
    'https://in.creel.test:8443/',
  ])('accepts %s', async (url) => {
    expect(await codesOf(url)).toEqual([])
  })

  test.each([
    '',
    'hooks',
    '/hooks',
    'ftp://public.test/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/plain,x',
    'gopher://public.test/',
    'http://',
    'http://[fe80::1%25eth0]/',
    'http://[::1',
    'http://public.test:70000/',
    'https://user@public.test/',
    'https://user:secret@public.test/',
    'https://@public.test/',
    'https://public.test/#part',
    'https://public.test/#',
    'http://public.test:0/',
    'http:///public.test/',
    'http:public.test',
    'http:\\\\public.test/',
    ' http://public.test/',
    'http://public.test/ ',
    'http://public.test/a\r\nb',
    'ht\ttp://public.test/',
  ])('calls %p a bad URL', async (url) => {
    expect(await codesOf(url)).toContain('bad_url')
  })

  test.each([
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://127.1/',
    'http://127.0.0.1./',
    'http://１２７.0.0.1/',
    'http://0/',
    'http://10.1.2.3/',
    'http://169.254.169.254/latest/meta-data/',
    'http://0xA9FEA9FE/',
    'http://[::1]/',
    'http://[::]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[fd00:ec2::254]/',
    'http://[fe80::1]/',
    'http://localhost/',
    'http://LOCALHOST/',
    'http://localhost./',
    'https://private.test/',
  ])('does not allow %s', async (url) => {
    expect(await codesOf(url)).toEqual(['not_allowed'])
  })

  test.each([
    'https://in.creel.test/hook/x',
    'https://IN.creel.test.:443/',
    'http://us.test:4400/',
    'http://0x7f.1:4400/',
  ])('does not allow %s, which is this service itself, whatever the operator allows', async (url) => {
    expect(await codesOf(url, ['127.0.0.0/8', 'in.creel.test', 'us.test'])).toEqual(['not_allowed'])
  })

  test('the operator allows networks, addresses and hosts', async () => {
    expect(await codesOf('http://10.0.0.1/', ['10.0.0.0/8'])).toEqual([])
    expect(await codesOf('http://[::ffff:10.0.0.1]/', ['10.0.0.0/8'])).toEqual([])
    expect(await codesOf('http://127.0.0.1/', ['127.0.0.1'])).toEqual([])
    expect(await codesOf('http://private.test/', ['private.test'])).toEqual([])
    expect(await codesOf('http://private.test./', ['Private.Test'])).toEqual([])
    expect(await codesOf('http://10.0.0.1/', ['private.test', '11.0.0.0/8'])).toEqual(['not_allowed'])
  })

  test('reports every reason, at the member that holds the URL', async () => {
    const issues = await checkDestinationUrl(guard(), 'http://u:p@127.0.0.1/#x', ['forwardUrl'])
    expect(issues.map(({ code, path }) => [code, ...path])).toEqual([
      ['bad_url', 'forwardUrl'],
      ['bad_url', 'forwardUrl'],
      ['not_allowed', 'forwardUrl'],
    ])
    expect(issues.map((issue) => issue.detail).join()).not.toContain('u:p')
  })

  test('refuses a URL over 2048 characters', async () => {
    expect(await codesOf(`https://public.test/${'a'.repeat(2048)}`)).toEqual(['too_long'])
  })
})

test('a name that does not resolve within two seconds is accepted', async () => {
  const slow: SsrfGuard = { ...guard(), resolve: () => new Promise(() => {}) }
  expect(await checkDestinationUrl(slow, 'https://slow.test/', ['url'])).toEqual([])
})

test('an entry that is no destination is refused with its text', () => {
  expect(() => parseAllowList(['10.0.0.0/33'])).toThrow('10.0.0.0/33')
  expect(() => parseAllowList(['http://x/'])).toThrow('http://x/')
})

describe('readDestination', () => {
  test('keeps the spelling of path and query', () => {
    expect(readDestination('https://public.test/a/../b//c?x=%7e&y=[1]')).toMatchObject({
      target: '/a/../b//c?x=%7e&y=[1]',
      hostHeader: 'public.test',
      port: 443,
    })
  })

  test('encodes what a request line cannot hold', () => {
    expect(readDestination('http://public.test:8080/a b?ü')).toMatchObject({
      target: '/a%20b?%C3%BC',
      hostHeader: 'public.test:8080',
    })
    expect(readDestination('http://public.test')?.target).toBe('/')
    expect(readDestination('http://public.test?x')?.target).toBe('/?x')
  })
})
