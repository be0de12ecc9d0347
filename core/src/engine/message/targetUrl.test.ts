import { describe, expect, test } from 'bun:test'
import { processorTime } from '../../../../tests/support/processorTime.ts'
import { leavesBasePath, targetUrl } from './targetUrl.ts'

const both = (url: string, path: string, queryString: string | null) =>
  targetUrl({ url, appendPath: true, appendQuery: true }, { path, queryString })

describe('targetUrl', () => {
  test.each([
    ['https://a.test', '/eu', 'b=2', 'https://a.test/eu?b=2'],
    ['https://a.test/', '/eu', null, 'https://a.test/eu'],
    ['https://a.test/in/', '/eu/', '', 'https://a.test/in/eu/'],
    ['https://a.test/in?k=1', '/eu', 'b=2&b=3', 'https://a.test/in/eu?k=1&b=2&b=3'],
    ['https://a.test/in?', '', 'b=2', 'https://a.test/in?b=2'],
    ['https://a.test?k=1', '/eu', null, 'https://a.test/eu?k=1'],
    ['https://a.test/in', '', null, 'https://a.test/in'],
    ['https://a.test/in?', '', null, 'https://a.test/in?'],
    ['https://a.test/in', '//b.test/', null, 'https://a.test/in//b.test/'],
    ['https://a.test', '/@b.test:1/', null, 'https://a.test/@b.test:1/'],
    ['https://a.test/in', '/%2E/ %zz', 'q=%+"', 'https://a.test/in/%2E/%20%zz?q=%+"'],
    ['https://a.test/in//', '/a?b', null, 'https://a.test/in/a%3Fb'],
    ['https://a.test/in', '/a#b\\c', 'd=#\u{1F600}é', 'https://a.test/in/a%23b%5Cc?d=%23%F0%9F%98%80%C3%A9'],
  ])('%s with %s and ?%s is %s', (url, path, query, target) => {
    expect(both(url, path, query)).toBe(target)
  })

  test('appends only what the action says', () => {
    const captured = { path: '/eu', queryString: 'b=2' }
    const url = 'https://a.test/in?k=1'
    expect(targetUrl({ url, appendPath: false, appendQuery: false }, captured)).toBe(url)
    expect(targetUrl({ url, appendPath: true, appendQuery: false }, captured)).toBe(
      'https://a.test/in/eu?k=1',
    )
    expect(targetUrl({ url, appendPath: false, appendQuery: true }, captured)).toBe(
      'https://a.test/in?k=1&b=2',
    )
  })
})

describe('leavesBasePath', () => {
  const leaves = (path: string, url = 'https://a.test/in?k=1') =>
    leavesBasePath({ url, appendPath: true }, path)

  test.each([
    '/..',
    '/../../admin/delete',
    '/a/../../b',
    '/..;/admin',
    '/..%2fadmin',
    '/%2e%2e/admin',
    '/.%2E/admin',
    '/%252e%252e/admin',
    '/%25252e%25252e%25252fadmin',
    '/..\\admin',
    '/%5c..%5cadmin',
    '/%u002e%u002e/admin',
    '/%c0%ae%c0%ae/admin',
    '/.\t./admin',
    '/%00../admin',
    // Deeper than is checked.
    '/%25252525252e',
    '@b.test',
    'admin',
  ])('refuses %j', (path) => {
    expect(leaves(path)).toBe(true)
  })

  test.each(['', '/', '/eu', '/a..b', '/...', '/.', '/./a', '/a%2fb', '/100%', '/%25', '/a?/..x', '/..a'])(
    'takes %j',
    (path) => {
      expect(leaves(path)).toBe(false)
    },
  )

  test('takes every path where there is none to leave, or none is appended', () => {
    expect(leaves('/../admin', 'https://a.test')).toBe(false)
    expect(leaves('/../admin', 'https://a.test/?k=1')).toBe(false)
    expect(leavesBasePath({ url: 'https://a.test/in', appendPath: false }, '/../admin')).toBe(false)
  })

  test('takes linear time', () => {
    const used = processorTime()
    for (const piece of ['/', '.', '..', '%', '%2e', '/. ', '/.\u0000', ';', '%25'])
      leaves(`/${piece.repeat(200_000)}`)
    expect(used()).toBeLessThan(2_000)
  })
})
