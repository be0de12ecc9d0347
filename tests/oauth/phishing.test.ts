import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { TestBrowser } from '../support/browser.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { Agent, browserOf, type Changes, hiddenFields, redirectOf, returnOf, submit } from './agent.ts'

/** Attacks on the user who consents, by redirects, forged forms, hostile names, and documents of clients. */

let service: TestService
let agent: Agent
let browser: TestBrowser

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000, apiKeysMax: 1_000 } })
  browser = await browserOf(service.alice)
})

beforeEach(async () => {
  agent = await Agent.start(service)
})

afterEach(() => agent[Symbol.asyncDispose]())

afterAll(() => service.stop())

/** The number of keys that agents have been given, in every workspace. */
const grants = async () => (await service.db.selectFrom('oauthGrants').select('keyId').execute()).length

describe('a redirect', () => {
  test.each([
    ['a longer path', 'https://agent.example.test/callback/evil'],
    ['a longer host', 'https://agent.example.test.evil.example/callback'],
    ['a host behind userinfo', 'https://agent.example.test@evil.example/callback'],
    ['userinfo before the host', 'https://user:pw@agent.example.test/callback'],
    ['a fragment', 'https://agent.example.test/callback#'],
    ['a query', 'https://agent.example.test/callback?next=https://evil.example'],
    ['dot segments', 'https://agent.example.test/x/../callback'],
    ['another case', 'https://agent.example.test/CALLBACK'],
    ['another port', 'https://agent.example.test:8443/callback'],
    ['another scheme', 'http://agent.example.test/callback'],
    ['a script', 'javascript:alert(1)//https://agent.example.test/callback'],
    ['data', 'data:text/html,<script>alert(1)</script>'],
    ['a backslash', 'https://evil.example\\@agent.example.test/callback'],
    ['no scheme', '//agent.example.test/callback'],
    ['a line break', 'https://agent.example.test/callback\r\nSet-Cookie: a=b'],
    ['another path on the loopback address', 'http://127.0.0.1:5000/other'],
    ['a longer name of the loopback address', 'http://127.0.0.1.evil.example/done'],
    ['userinfo on the loopback address', 'http://127.0.0.1:80@evil.example/done'],
    ['another loopback name', 'http://localhost:5000/done'],
    ['nothing', ''],
  ])('to a URI with %s goes nowhere', async (_, redirect_uri) => {
    for (const changes of [{ redirect_uri }, { redirect_uri, response_type: 'token' }]) {
      const response = await agent.open(browser, changes)
      expect([response.status, response.headers.get('location')]).toEqual([400, null])
      expect(hiddenFields(await response.text()).token).toBe('')
    }
  })

  test.each(['http://127.0.0.1:61234/done', 'http://127.0.0.1/done', 'http://[::1]:61234/done'])(
    'to a program on any port of the loopback address goes there: %s',
    async (redirect_uri) => {
      const code = await agent.code(browser, {}, { redirect_uri })
      expect((await agent.exchange(code, { redirect_uri })).status).toBe(200)
    },
  )

  test.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'http://agent.example.test/callback',
    'https://agent.example.test/callback#part',
    'https://user@agent.example.test/callback',
    "https://a;script-src'unsafe-inline'.example.test/callback",
    'cursor://agent/callback',
  ])('that no client may register is not used: %s', async (redirect_uri) => {
    agent.document = { ...agent.document, redirect_uris: [redirect_uri] }
    const response = await agent.open(browser, { redirect_uri })
    expect([response.status, response.headers.get('location')]).toEqual([400, null])
  })

  test('of a self-made client follows a click only', async () => {
    agent.document = { ...agent.document, redirect_uris: ['https://evil.example/'] }
    const redirect_uri = 'https://evil.example/'
    const response = await agent.open(browser, { redirect_uri, response_type: 'token', state: '"><script>' })
    expect(response.headers.get('refresh')).toBeNull()
    const page = await response.clone().text()
    expect([page.includes('http-equiv'), page.includes('<script')]).toEqual([false, false])
    expect(await returnOf(response)).toMatchObject({ to: redirect_uri, parameters: { state: '"><script>' } })
  })

  test('of an unknown client goes nowhere', async () => {
    const response = await agent.open(browser, { client_id: 'unknown' })
    expect([response.status, response.headers.get('location')]).toEqual([400, null])
  })
})

describe('a forged consent', () => {
  const OURS = { 'Sec-Fetch-Site': 'same-origin' }

  test.each<[string, (own: Changes) => Promise<[TestBrowser, Changes, Readonly<Record<string, string>>]>]>([
    ['without its proof', async (own) => [browser, { ...own, token: undefined }, OURS]],
    ['with a proof that was made up', async (own) => [browser, { ...own, token: 'x'.repeat(43) }, OURS]],
    [
      'with the proof of another session',
      async (own) => {
        const page = await (await agent.open(await browserOf(service.charlie))).text()
        return [browser, { ...own, ...hiddenFields(page) }, OURS]
      },
    ],
    [
      'with the proof of another request',
      async (own) => {
        const request = own.request?.replace('the+state', 'another') ?? ''
        return [browser, { ...own, request }, OURS]
      },
    ],
    ['from another site', async (own) => [browser, own, { 'Sec-Fetch-Site': 'cross-site' }]],
    ['from another port of this host', async (own) => [browser, own, { 'Sec-Fetch-Site': 'same-site' }]],
    ['from another origin', async (own) => [browser, own, { Origin: 'https://evil.example' }]],
    ['from a sandboxed page', async (own) => [browser, own, { Origin: 'null' }]],
    ['without an origin', async (own) => [browser, own, {}]],
    ['without a session', async (own) => [new TestBrowser(service), own, OURS]],
  ])('%s gives nothing', async (_, forge) => {
    const page = await (await agent.open(browser)).text()
    const own = { ...hiddenFields(page), decision: 'allow', scope: 'write', endpoint: '' }
    const before = await grants()
    const response = await submit(...(await forge(own)))
    expect(response.status).toBeOneOf([401, 403])
    expect([response.headers.get('location'), await grants()]).toEqual([null, before])
    // The same form is good where nothing is forged.
    expect((await submit(browser, own, OURS)).status).toBe(303)
  })

  test('by a key that cannot manage keys gives nothing', async () => {
    const { body } = await service.alice.post('/api/v1/keys', { name: 'w', scope: 'write' })
    const writer = new TestBrowser(service)
    await writer.signIn({ key: Object(body).key })
    // A user knows the cookie, and so can make the proof.
    const request = agent.request().split('?')[1] ?? ''
    const cookie = writer.cookie.split('=')[1] ?? ''
    const token = createHmac('sha256', cookie).update(`oauth consent\n${request}`).digest('base64url')
    const before = await grants()
    const answer = await submit(writer, { request, token, decision: 'allow', scope: 'write', endpoint: '' })
    expect([answer.status, await grants()]).toEqual([403, before])
  })
})

describe('every page', () => {
  test.each<[string, () => Promise<Response>]>([
    ['of the consent', () => agent.open(browser)],
    ['for a browser without a session', () => agent.open(new TestBrowser(service))],
    [
      'for a visitor from another site',
      () => browser.call('GET', agent.request(), undefined, { 'Sec-Fetch-Site': 'cross-site' }),
    ],
    ['of a problem', () => agent.open(browser, { client_id: 'unknown' })],
  ])('%s cannot be framed, runs no script, and is not kept', async (_, open) => {
    const response = await open()
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).toContain("base-uri 'none'")
    expect(policy).not.toContain('unsafe')
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
    })
    expect(await response.text()).not.toMatch(/<script|\son\w+=/i)
  })

  test('of the consent sends its form to us and to the registered redirect only', async () => {
    const policy = (await agent.open(browser)).headers.get('content-security-policy')
    expect(policy).toContain("form-action 'self' https://agent.example.test;")
  })
})

describe('a hostile name', () => {
  test.each([
    ['with markup', '<img src=x onerror=alert(1)>', '&lt;img src=x onerror=alert(1)&gt;'],
    ['with quotes', `"'><b>`, '&quot;&#39;&gt;&lt;b&gt;'],
    ['with line breaks and marks of direction', 'Creel\u202e\n\u200bofficial', 'Creel official'],
    ['that is long', 'x'.repeat(500), `“${'x'.repeat(80)}”`],
  ])('%s is shown as text', async (_, client_name, shown) => {
    agent.document = { ...agent.document, client_name }
    const page = await (await agent.open(browser)).text()
    expect(page).toContain(shown)
    expect(page).not.toContain(client_name)
    // The title is the host, and the document is named, whatever the name is.
    expect(page).toContain(`<code>${agent.clientId}</code>`)
    expect(page).toContain(`<h1>Let ${new URL(agent.clientId).host} use Creel?</h1>`)
  })

  test('in a parameter is shown as text, and comes back unchanged', async () => {
    const state = `"><script>alert('x')</script>&iss=evil`
    const page = await (await agent.open(browser, { state })).text()
    expect(page).not.toContain('<script>')
    const { parameters } = redirectOf(await agent.consent(browser, {}, { state }))
    expect(parameters).toMatchObject({ state, iss: service.baseUrl })
  })
})

describe('a client metadata document', () => {
  const open = (changes: Changes) => agent.open(browser, changes)

  test('is fetched for a signed-in browser only, and once', async () => {
    await agent.open(new TestBrowser(service))
    await browser.call('GET', agent.request(), undefined, { 'Sec-Fetch-Site': 'cross-site' })
    expect(agent.site.received).toHaveLength(0)
    await Promise.all([open({}), open({}), open({})])
    expect((await open({})).status).toBe(200)
    expect(agent.site.received).toHaveLength(1)
    const [{ method, url } = { method: '', url: '' }] = agent.site.received
    expect([method, url]).toEqual(['GET', agent.path])
  })

  test('is used for five minutes, and no longer when the clock is set back', async () => {
    const moment = service.clock.now()
    const fetched = async (seconds: number) => {
      const at = new Date(moment.getTime() + seconds * 1000)
      expect((await service.clock.at(at, () => open({}))).status).toBe(200)
      return agent.site.received.length
    }
    expect([await fetched(0), await fetched(299), await fetched(300)]).toEqual([1, 1, 2])
    expect([await fetched(299), await fetched(299)]).toEqual([3, 3])
  })

  test.each([
    ['metadata of a cloud', 'https://169.254.169.254/latest/meta-data'],
    ['a private network', 'https://10.0.0.1/client.json'],
    ['the service itself', ''],
  ])('at %s is not fetched', async (name, url) => {
    const client_id = name === 'the service itself' ? `${service.baseUrl}/openapi/v1.json` : url
    const response = await open({ client_id })
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('could not be fetched')
  })

  test.each([
    ['a file', () => 'file:///etc/passwd'],
    ['a private network, written as a number', () => 'https://0x0a000001/client.json'],
    ['userinfo', () => agent.clientId.replace('://', '://user@')],
    ['a fragment', () => `${agent.clientId}#x`],
    ['dot segments', () => agent.clientId.replace(agent.path, `/x/..${agent.path}`)],
    ['no path', () => agent.clientId.replace(agent.path, '/')],
    ['no TLS', () => 'http://example.test/client.json'],
  ])('whose URL is or has %s is not fetched', async (_, url) => {
    const response = await open({ client_id: url() })
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('is not the https URL of a client metadata document')
    expect(agent.site.received).toHaveLength(0)
  })

  test('on this machine is not fetched unless the operator lists it', async () => {
    const { database, clock, secretKey } = service
    const strict = await startService({ database, clock, secretKey, allowDestinations: [] })
    const owner = new TestBrowser(strict)
    await owner.signIn({ key: service.alice.key })
    const { port } = agent.site
    for (const scheme of ['http', 'https']) {
      const response = await agent.open(owner, { client_id: `${scheme}://127.0.0.1:${port}/client.json` })
      expect(response.status).toBe(400)
    }
    expect(agent.site.received).toHaveLength(0)
    await strict.stop()
  })

  test('is not followed elsewhere', async () => {
    await using other = await startReceiver()
    agent.site.answer = { status: 302, headers: { Location: other.url } }
    expect((await open({})).status).toBe(400)
    expect(other.received).toHaveLength(0)
  })

  test('has at most 5 KB', async () => {
    const sized = (bytes: number) => {
      const body = JSON.stringify({ ...agent.document, client_id: agent.clientId, pad: '' })
      agent.site.answer = {
        status: 200,
        body: body.replace('"pad":""', `"pad":"${'x'.repeat(bytes - body.length)}"`),
      }
    }
    sized(5_121)
    expect((await open({})).status).toBe(400)
    sized(5_120)
    expect((await open({})).status).toBe(200)
  })

  test.each<[string, Readonly<Record<string, unknown>>]>([
    ['of another client', { client_id: 'https://chatgpt.com/oauth/client.json' }],
    ['without redirect URIs', { redirect_uris: [] }],
    ['with redirect URIs that are no list', { redirect_uris: 'https://agent.example.test/callback' }],
    ['with a secret', { client_secret: 'hunter2' }],
  ])('%s is not accepted, and is fetched again when it was corrected', async (_, changes) => {
    const good = agent.document
    agent.document = { ...good, ...changes }
    expect((await open({})).status).toBe(400)
    agent.document = good
    expect((await open({})).status).toBe(200)
  })

  test.each([
    ['no JSON', 'client_id: x'],
    ['an error', ''],
    ['JSON that is no object', '[]'],
  ])('that is %s is not accepted', async (name, body) => {
    agent.site.answer = { status: name === 'an error' ? 404 : 200, body }
    expect((await open({})).status).toBe(400)
  })
})
