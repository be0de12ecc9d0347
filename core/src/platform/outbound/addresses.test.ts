import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { canonicalAddress, refusalOf } from './ssrfGuard.ts'

describe('refusalOf', () => {
  test.each([
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '100.64.0.1',
    '100.100.100.200',
    '127.0.0.1',
    '127.255.255.254',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.51.100.7',
    '203.0.113.7',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:8.8.8.8',
    '::ffff:127.0.0.1',
    '::ffff:0:127.0.0.1',
    '64:ff9b::127.0.0.1',
    '64:ff9b:1::127.0.0.1',
    '100::1',
    '2001::1',
    '2001:2::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '2a00:1450::5efe:10.0.0.1',
    '2a00:1450::200:5efe:10.0.0.1',
    '3fff::1',
    '4000::1',
    '5f00::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    '2a00:1450::1%eth0',
    'fec0::1',
    'ff02::1',
    'localhost',
    '',
  ])('refuses %s', (address) => {
    expect(refusalOf(address)).toBeString()
  })

  test.each([
    '8.8.8.8',
    '1.1.1.1',
    '172.32.0.1',
    '100.128.0.1',
    '2a00:1450:4001:81b::200e',
    '2606:4700::1111',
  ])('lets %s pass', (address) => {
    expect(refusalOf(address)).toBeNull()
  })

  test('refuses every IPv4 address in each of its IPv6 forms', () => {
    const octet = fc.integer({ min: 0, max: 255 })
    fc.assert(
      fc.property(fc.tuple(octet, octet, octet, octet), (octets) => {
        const dotted = octets.join('.')
        const [a, b, c, d] = octets
        const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
        const forms = [
          `::${dotted}`,
          `::ffff:${dotted}`,
          `::ffff:0:${dotted}`,
          `64:ff9b::${dotted}`,
          `2002:${hex}::1`,
          `2001:0:${hex}::1`,
          `2600::5efe:${dotted}`,
        ]
        for (const form of forms) expect(refusalOf(form)).toBeString()
      }),
    )
  })
})

test('canonicalAddress gives equal addresses one spelling', () => {
  expect(canonicalAddress('::ffff:7f00:1')).toBe('127.0.0.1')
  expect(canonicalAddress('2001:DB8:0:0::1')).toBe(canonicalAddress('2001:db8::1'))
})
