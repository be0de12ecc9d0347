import { describe, expect, test } from 'bun:test'
import { clientAddressOf } from './clientAddress.ts'

describe('clientAddressOf', () => {
  const behindProxies = clientAddressOf(['10.0.0.0/8', '2001:db8:1::/48', '192.0.2.7'])

  test.each([
    ['nothing forwarded', '198.51.100.1', [], '198.51.100.1'],
    ['an untrusted peer may say what it likes', '198.51.100.1', ['203.0.113.9'], '198.51.100.1'],
    ['one proxy', '10.1.2.3', ['203.0.113.9'], '203.0.113.9'],
    ['a proxy that is given as an address', '192.0.2.7', ['203.0.113.9'], '203.0.113.9'],
    ['two proxies', '10.1.2.3', ['203.0.113.9, 10.9.9.9'], '203.0.113.9'],
    ['a forged first entry', '10.1.2.3', ['1.1.1.1, 203.0.113.9, 10.9.9.9'], '203.0.113.9'],
    ['repeated headers, in wire order', '10.1.2.3', ['1.1.1.1', '203.0.113.9'], '203.0.113.9'],
    ['trusted all the way', '10.1.2.3', ['10.4.4.4'], '10.4.4.4'],
    ['garbage ends the walk', '10.1.2.3', ['203.0.113.9, unknown'], '10.1.2.3'],
    ['an empty header', '10.1.2.3', [''], '10.1.2.3'],
    ['ports', '10.1.2.3', ['[2001:db8:9::1]:99, 10.0.0.1:80'], '2001:db8:9::1'],
    ['IPv6 proxies', '2001:db8:1::5', ['203.0.113.9'], '203.0.113.9'],
    ['IPv4 on an IPv6 socket', '::ffff:10.1.2.3', ['::ffff:203.0.113.9'], '203.0.113.9'],
  ])('%s', (_, peer, forwardedFor, client) => {
    expect(behindProxies(peer, forwardedFor)).toBe(client)
  })

  test('without trusted proxies the header never counts', () => {
    expect(clientAddressOf([])('10.1.2.3', ['203.0.113.9'])).toBe('10.1.2.3')
  })

  test('a socket that is gone has no address', () => {
    expect(behindProxies('', ['203.0.113.9'])).toBeNull()
  })
})
