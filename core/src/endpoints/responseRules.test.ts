import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { checkResponse, RESPONSE_LIMITS, relayedResponse, safeResponse } from './responseRules.ts'

const DEFAULTS = {
  responseStatusCode: 200,
  responseContentType: 'application/json',
  responseHeaders: {},
  responseBody: '{"ok":true}',
} as const

/** The refused headers, written again in full, with one name for each pattern. */
const REFUSED = [
  ...['Content-Type', 'Content-Length', 'Content-Encoding', 'Set-Cookie', 'Set-Cookie2', 'Clear-Site-Data'],
  ...['Location', 'Refresh', 'Link', 'Content-Security-Policy', 'Content-Security-Policy-Report-Only'],
  ...['X-Content-Type-Options', 'X-Frame-Options', 'Strict-Transport-Security', 'Permissions-Policy'],
  ...['Cross-Origin-Opener-Policy', 'Cross-Origin-Embedder-Policy', 'Report-To', 'NEL', 'Referrer-Policy'],
  ...['Transfer-Encoding', 'Connection', 'Keep-Alive', 'Upgrade', 'Trailer', 'TE', 'Proxy-Authenticate'],
  ...['Date', 'Server', 'Alt-Svc', 'Service-Worker-Allowed', 'SourceMap', 'creel-signature'],
  ...['X-Accel-Redirect', 'X-Sendfile', 'X-LiteSpeed-Location', 'Surrogate-Control', 'Reporting-Endpoints'],
  ...['Feature-Policy', 'Expect-CT', 'Public-Key-Pins', 'Public-Key-Pins-Report-Only', 'Document-Policy'],
  ...['Origin-Agent-Cluster', 'X-XSS-Protection', 'X-Permitted-Cross-Domain-Policies', 'Content-Location'],
  ...['Via', 'HTTP2-Settings', 'Cookie', 'Host', 'WWW-Authenticate', 'Proxy-Authenticate', 'Alt-Svc'],
  ...['X-Content-Security-Policy', 'X-Content-Security-Policy-Report-Only', 'X-WebKit-CSP'],
  ...['X-WebKit-CSP-Report-Only', 'X-Reproxy-URL', 'X-Lighttpd-Send-File', 'X-LIGHTTPD-send-tempfile'],
]

describe('checkResponse', () => {
  test('accepts every listed media type, any application/…+json, and utf-8 as charset, without case', () => {
    for (const type of [
      ...[
        'application/json',
        'application/vnd.api+json',
        'application/problem+json',
        'text/plain',
        'text/csv',
      ],
      ...['application/xml', 'text/xml', 'application/soap+xml', 'application/x-www-form-urlencoded'],
      ...['application/octet-stream', 'Text/Plain', 'model/gltf+json', 'text/plain; charset=utf-8'],
      ...['application/json;charset="UTF-8"', 'application/cloudevents+json; Charset=UTF-8'],
    ]) {
      expect({ type, issues: checkResponse({ responseContentType: type }) }).toEqual({ type, issues: [] })
    }
  })

  test.each([
    ['text/html', 'not_allowed'],
    ['image/png', 'not_allowed'],
    ['image/svg+xml', 'not_allowed'],
    ['image/x+json', 'not_allowed'],
    ['application/xhtml+xml', 'not_allowed'],
    ['text/javascript', 'not_allowed'],
    ['application/+json', 'not_allowed'],
    ['application/json; charset=utf-16', 'bad_format'],
    ['application/json; boundary=x', 'bad_format'],
    ['application/json, text/html', 'bad_format'],
    ['application/json\r\nX-A: b', 'bad_format'],
    ['json', 'bad_format'],
    ['', 'too_short'],
    [`application/${'x'.repeat(100)}+json`, 'too_long'],
  ] as const)('refuses the content type %p as %s', (responseContentType, code) => {
    expect(checkResponse({ responseContentType })).toMatchObject([{ path: ['responseContentType'], code }])
  })

  test('refuses exactly the statuses outside 200-299 and 400-599', () => {
    const refused = Array.from({ length: 700 }, (_, status) => status).filter(
      (responseStatusCode) => checkResponse({ responseStatusCode }).length > 0,
    )
    const outside = Array.from({ length: 700 }, (_, status) => status).filter(
      (status) => status < 200 || (status > 299 && status < 400) || status > 599,
    )
    expect(refused).toEqual(outside)
    expect(checkResponse({ responseStatusCode: 200.5 })).toHaveLength(1)
  })

  test('refuses every header of the list in any case, and names it', () => {
    for (const name of REFUSED.flatMap((name) => [name, name.toLowerCase(), name.toUpperCase()])) {
      const issues = checkResponse({ responseHeaders: { 'X-Fine': 'yes', [name]: 'x' } })
      expect(issues).toMatchObject([{ path: ['responseHeaders', name], code: 'not_allowed' }])
      expect(issues[0]?.detail).toContain(name)
    }
  })

  test('accepts CORS, cache and custom headers', () => {
    const responseHeaders = {
      'Access-Control-Allow-Origin': '*',
      'Cache-Control': 'max-age=5',
      'Retry-After': '7',
      'X-Name': 'Zoë\tⓧ',
      'X-Long': '🪣'.repeat(1024),
    }
    expect(checkResponse({ responseHeaders })).toEqual([])
  })

  test('names every wrong header, in order, after the count of headers', () => {
    const responseHeaders = {
      'bad name': 'x',
      'X-Line': 'a\r\nSet-Cookie: b',
      'X-Nul': '\0',
      'X-Long': 'x'.repeat(1025),
      [`X-${'n'.repeat(99)}`]: 'x',
      ...Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`X-${n}`, 'x'])),
    }
    expect(checkResponse({ responseHeaders }).map((issue) => issue.code)).toEqual([
      ...(['too_many', 'bad_format', 'bad_format', 'bad_format', 'too_long', 'too_long'] as const),
    ])
  })

  test('counts the body in bytes', () => {
    expect(checkResponse({ responseBody: 'x'.repeat(65536) })).toEqual([])
    expect(checkResponse({ responseBody: 'é'.repeat(32769) })).toMatchObject([
      { path: ['responseBody'], code: 'too_long' },
    ])
  })

  test('accepts a body beside 204 and 205, and what every endpoint starts with', () => {
    expect(checkResponse({ ...DEFAULTS, responseStatusCode: 204 })).toEqual([])
    expect(checkResponse({ ...DEFAULTS, responseStatusCode: 205 })).toEqual([])
    expect(checkResponse(DEFAULTS)).toEqual([])
    expect(checkResponse({})).toEqual([])
  })
})

describe('safeResponse', () => {
  test('serves a stored 3xx as 200, an unlisted type as text/plain, and drops blocked headers', () => {
    const served = safeResponse({
      responseStatusCode: 302,
      responseContentType: 'text/html; charset=utf-8',
      responseHeaders: {
        Location: 'https://evil.test',
        'Set-Cookie': 'a=b',
        'X-Fine': 'yes',
        'X-Split': 'a\r\nb',
      },
      responseBody: '<script>',
    })
    expect(served).toEqual({
      status: 200,
      contentType: 'text/plain',
      headers: [
        ['X-Fine', 'yes'],
        ['X-Content-Type-Options', 'nosniff'],
        ['Content-Security-Policy', "sandbox; default-src 'none'"],
        ['Cache-Control', 'no-store'],
      ],
      body: '<script>',
    })
  })

  test('lets a configured Cache-Control win over no-store', () => {
    const { headers } = safeResponse({ ...DEFAULTS, responseHeaders: { 'cache-control': 'max-age=60' } })
    expect(headers.filter(([name]) => name.toLowerCase() === 'cache-control')).toEqual([
      ['cache-control', 'max-age=60'],
    ])
  })

  test('sends no body and no type with 204 and 205', () => {
    for (const responseStatusCode of [204, 205]) {
      expect(safeResponse({ ...DEFAULTS, responseStatusCode })).toMatchObject({ contentType: null, body: '' })
    }
  })

  test('writes header text as the bytes of its UTF-8', () => {
    const { headers } = safeResponse({ ...DEFAULTS, responseHeaders: { 'X-Name': 'Zoë ✓' } })
    expect(headers[0]).toEqual(['X-Name', Buffer.from('Zoë ✓').toString('latin1')])
  })

  const header = fc.oneof(fc.string({ unit: 'binary', maxLength: 20 }), fc.constantFrom(...REFUSED))
  const stored = fc.record({
    responseStatusCode: fc.oneof(fc.integer({ min: -1, max: 1000 }), fc.double()),
    responseContentType: fc.oneof(
      fc.string(),
      fc.constantFrom('text/html', 'text/plain', 'application/a+json'),
    ),
    responseHeaders: fc.dictionary(header, fc.string({ unit: 'binary' }), { maxKeys: 30 }),
    responseBody: fc.string({ unit: 'binary' }),
  })

  test('never serves anything that the rules refuse, whatever was stored', () => {
    fc.assert(
      fc.property(stored, (response) => {
        const { status, contentType, headers, body } = safeResponse(response)
        const names = headers.map(([name]) => name.toLowerCase())
        for (const [, value] of headers) expect(value).toMatch(/^[\t\x20-\x7e\x80-\xff]*$/)
        expect(names.filter((name) => name === 'x-content-type-options')).toHaveLength(1)
        expect(names.filter((name) => name === 'content-security-policy')).toHaveLength(1)
        expect(names).toContain('cache-control')
        const configured = headers.filter(
          ([name]) => !['x-content-type-options', 'content-security-policy'].includes(name.toLowerCase()),
        )
        const refused = checkResponse({
          responseStatusCode: status,
          ...(contentType === null ? {} : { responseContentType: contentType }),
          responseHeaders: Object.fromEntries(configured),
        })
        // A stored response may exceed the present bounds, which is no danger.
        expect(refused.filter((issue) => !['too_long', 'too_many'].includes(issue.code))).toEqual([])
        expect(body === '' || body === response.responseBody).toBe(true)
      }),
    )
  })

  test('serves unchanged whatever may be saved', () => {
    const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,20}$/)
    const saved = fc
      .record({
        responseStatusCode: fc.integer({ min: 200, max: 599 }),
        responseContentType: fc.constantFrom('text/plain', 'application/x+json; charset=utf-8', 'TEXT/CSV'),
        responseHeaders: fc.dictionary(name, fc.stringMatching(/^[ -~]*$/), { maxKeys: 20 }),
        responseBody: fc.string({ maxLength: RESPONSE_LIMITS.bodyBytes / 4 }),
      })
      .filter((response) => checkResponse(response).length === 0)
    fc.assert(
      fc.property(saved, (response) => {
        const { status, headers, contentType, body } = safeResponse(response)
        expect(status).toBe(response.responseStatusCode)
        expect(headers.slice(0, Object.keys(response.responseHeaders).length)).toEqual(
          Object.entries(response.responseHeaders),
        )
        if (status === 204 || status === 205) return
        expect({ contentType, body }).toEqual({
          contentType: response.responseContentType,
          body: response.responseBody,
        })
      }),
    )
  })
})

describe('relayedResponse', () => {
  const relayed = (contentType: string | undefined, body: Uint8Array | string = 'ok') =>
    relayedResponse({
      status: 200,
      fields: contentType === undefined ? [] : [['Content-type', contentType]],
      body: Buffer.from(body),
    })

  test.each([
    [undefined, 'text/plain'],
    ['text/xml', 'text/xml'],
    ['text/xml; charset=ISO-8859-1', 'text/xml; charset=utf-8'],
    ['text/xml;charset="us-ascii"', 'text/xml; charset=utf-8'],
    ['application/rss+xml', 'application/rss+xml'],
    ['application/voicexml+xml; charset=UTF-8', 'application/voicexml+xml; charset=utf-8'],
    ['application/json; profile="x"', 'application/json'],
    ['application/xhtml+xml', 'text/plain'],
    ['application/xslt+xml', 'text/plain'],
    ['image/svg+xml', 'text/plain'],
    ['text/html; charset=utf-8', 'text/plain'],
    ['text/javascript', 'text/plain'],
    [`application/${'x'.repeat(100)}+json`, 'text/plain'],
    ['text/xml, text/html', 'text/plain'],
    ['', 'text/plain'],
  ])('the type %j is served as %j', (contentType, served) => {
    expect(relayed(contentType)?.contentType).toBe(served)
  })

  test('a body in another encoding than it is labelled with is refused, unless it is ASCII', () => {
    expect(relayed('text/plain; charset=ISO-8859-1', 'Zoë')).toBeUndefined()
    expect(relayed('text/plain', Buffer.from('Zoë', 'latin1'))).toBeUndefined()
    expect(relayed('text/plain', 'Zoë')?.body).toBe('Zoë')
  })

  test('headers stay as they were on the wire, repeats included, within the bounds', () => {
    const fields: [string, string][] = [
      ['X-Name', Buffer.from('Zoë').toString('latin1')],
      ['X-Part', 'one'],
      ['X-Part', 'two'],
      ['X-Long', 'x'.repeat(RESPONSE_LIMITS.headerValueChars + 1)],
      [`X-${'n'.repeat(RESPONSE_LIMITS.headerNameChars)}`, 'x'],
      ['Set-Cookie', 'a=b'],
      ...Array.from({ length: 30 }, (_, n): [string, string] => [`X-${n}`, 'x']),
    ]
    const { headers = [] } = relayedResponse({ status: 200, fields, body: Buffer.alloc(0) }) ?? {}
    expect(headers.slice(0, 4)).toEqual([
      ['X-Name', Buffer.from('Zoë').toString('latin1')],
      ['X-Part', 'one'],
      ['X-Part', 'two'],
      ['X-0', 'x'],
    ])
    expect(
      headers.filter(([name]) => name.startsWith('X-') && name !== 'X-Content-Type-Options'),
    ).toHaveLength(RESPONSE_LIMITS.headersMax)
  })
})
