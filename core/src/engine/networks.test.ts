import { expect, test } from 'bun:test'
import { networkOf } from './networks.ts'

test.each([
  ['10.1.2.3/8', '10.0.0.0/8'],
  ['192.0.2.7', '192.0.2.7/32'],
  ['0.0.0.0/0', '0.0.0.0/0'],
  ['2001:DB8::1/32', '2001:db8::/32'],
  ['2001:db8::1', '2001:db8::1/128'],
  ['::ffff:192.0.2.7', '192.0.2.7/32'],
])('%s is the network %s', (text, network) => {
  expect(networkOf(text)).toBe(network)
})

test.each([
  '',
  'example.com',
  '10.0.0.0/33',
  '10.0.0',
  '0x0a.0.0.1',
  '10',
  'fe80::1%eth0',
  'fe80::%eth0/64',
  '::1/129',
])('"%s" is none', (text) => {
  expect(networkOf(text)).toBeUndefined()
})
