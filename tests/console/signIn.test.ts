import { beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { TestBrowser } from '../support/browser.ts'
import { Client } from '../support/client.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService

beforeAll(async () => {
  service = await startService({ parts: ['gateway'] })
})

/** The token of a new sign-in link of the workspace. */
async function linkOf(workspace: string): Promise<string> {
  const { url } = await service.operator.sessions.link({ workspace })
  const [page, token] = url.split('#')
  expect(page).toBe(`${service.baseUrl}/console/sign-in`)
  return token ?? ''
}

/** A browser of a new workspace's owner. */
async function ownerBrowser() {
  const client = await service.newClient()
  const browser = new TestBrowser(service)
  expect((await browser.signIn({ link: await linkOf(client.workspaceId) })).status).toBe(204)
  return { client, browser }
}

const Current = z.looseObject({ session: z.object({ id: z.string(), role: z.string() }).nullable() })

describe('signing in', () => {
  test('with a key gives a session that may what the key may', async () => {
    const client = await service.newClient()
    const browser = new TestBrowser(service)
    const response = await browser.signIn({ key: client.key })
    expect(response.status).toBe(204)
    const port = new URL(service.baseUrl).port
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        new RegExp(`^creel_session_${port}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000$`),
      ),
    ])
    expect(await browser.query('sessions.current')).toMatchObject({
      status: 200,
      data: { session: { role: 'key' }, key: { name: 'test' }, workspace: { id: client.workspaceId } },
    })
    const endpoint = await client.endpoint({ name: 'seen' })
    expect(await browser.query('endpoints.list')).toMatchObject({ data: { items: [{ id: endpoint.id }] } })
    expect(await browser.query('keys.list')).toMatchObject({ data: { items: [{ name: 'test' }] } })
    expect(await browser.query('sessions.list')).toMatchObject({ status: 403, code: 'forbidden' })
    for (const [name, input] of [
      ['contacts.add', { email: 'a@example.test' }],
      ['sessions.invite', {}],
    ] as const) {
      expect(await browser.mutate(name, input)).toMatchObject({ status: 403, code: 'forbidden' })
    }
  })

  test('with a link gives a session of the owner, once', async () => {
    const client = await service.newClient()
    const link = await linkOf(client.workspaceId)
    const browsers = Array.from({ length: 4 }, () => new TestBrowser(service))
    const answers = await Promise.all(browsers.map((browser) => browser.signIn({ link })))
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 401, 401, 401])
    const owner = browsers.find(({ cookie }) => cookie !== '')
    expect(await owner?.query('sessions.current')).toMatchObject({
      data: { session: { role: 'owner' }, key: null },
    })
    expect((await new TestBrowser(service).signIn({ link })).status).toBe(401)
  })

  test('with a link of a key gives a session that may what the key may, and ends with it', async () => {
    const client = await service.newClient()
    const Link = z.object({ url: z.string(), expiresAt: z.string() })
    const tokens: string[] = []
    for (let made = 0; made < 2; made += 1) {
      const answer = await client.post('/api/v1/sign-in-links', {})
      expect(answer.status).toBe(201)
      tokens.push(Link.parse(answer.body).url.split('#')[1] ?? '')
    }
    const browser = new TestBrowser(service)
    expect((await browser.signIn({ link: tokens[0] ?? '' })).status).toBe(204)
    expect(await browser.query('sessions.current')).toMatchObject({ data: { session: { role: 'key' } } })
    expect(await browser.query('sessions.list')).toMatchObject({ status: 403, code: 'forbidden' })
    const prefix = client.key.slice(0, 17)
    await service.operator.keys.revoke({ workspace: client.workspaceId, key: prefix })
    expect(await browser.query('sessions.current')).toMatchObject({ status: 401 })
    expect((await new TestBrowser(service).signIn({ link: tokens[1] ?? '' })).status).toBe(401)
  })

  test('with a link of a key that has expired, or whose endpoint is deleted, signs nobody in', async () => {
    const client = await service.newClient()
    const endpoint = await client.endpoint()
    const Made = z.looseObject({ key: z.string() })
    const expiresAt = new Date(service.clock.now().getTime() + 600_000).toISOString()
    for (const bound of [{ expiresAt }, { endpointId: endpoint.id }]) {
      const made = client.post('/api/v1/keys', { name: 'bound', scope: 'read', ...bound })
      const { key } = await client.expect(made, Made)
      const answer = new Client(service.baseUrl, service.captureUrl, key, client.workspaceId).post(
        '/api/v1/sign-in-links',
        {},
      )
      const { url } = await client.expect(answer, z.looseObject({ url: z.string() }))
      const link = url.split('#')[1] ?? ''
      if ('endpointId' in bound) await client.delete(endpoint.at(''))
      await service.clock.at(new Date(service.clock.now().getTime() + 601_000), async () => {
        expect((await new TestBrowser(service).signIn({ link })).status).toBe(401)
      })
    }
  })

  test('with what is none, or is too old, signs nobody in', async () => {
    const old = await linkOf(service.alice.workspaceId)
    await service.clock.at(new Date(service.clock.now().getTime() + 16 * 60_000), async () => {
      expect((await new TestBrowser(service).signIn({ link: old })).status).toBe(401)
    })
    for (const [credential, status] of [
      [{ key: 'creel_live_unknown' }, 401],
      [{ key: service.bob.key }, 401],
      [{ link: 'unknown' }, 401],
      [{ link: '' }, 400],
      [{ key: 1 }, 400],
      [{}, 400],
      [{ link: 'x'.repeat(5_000) }, 400],
    ] as const) {
      const browser = new TestBrowser(service)
      const response = await browser.signIn(credential)
      expect([credential, response.status]).toEqual([credential, status])
      expect(response.headers.getSetCookie()).toEqual([])
      expect(response.headers.get('content-type')).toBe('application/problem+json')
    }
  })

  test('anew ends the session that the browser had', async () => {
    const { client, browser } = await ownerBrowser()
    const former = new TestBrowser(service)
    former.cookie = browser.cookie
    await browser.signIn({ key: client.key })
    expect((await former.query('sessions.current')).status).toBe(401)
    expect((await browser.query('sessions.current')).status).toBe(200)
  })

  test('out ends the session, and forgets the cookie and what was kept', async () => {
    const { browser } = await ownerBrowser()
    const response = await browser.call('DELETE', '/console/session')
    expect(response.status).toBe(204)
    expect(response.headers.getSetCookie()[0]).toContain('Max-Age=0')
    expect(response.headers.get('clear-site-data')).toBe('"cache", "storage"')
    expect((await browser.query('sessions.current')).status).toBe(401)
  })

  test('lasts 30 days, or 7 without use', async () => {
    const { browser } = await ownerBrowser()
    const after = (days: number) => new Date(service.clock.now().getTime() + days * 86_400_000)
    await service.clock.at(after(8), async () => {
      expect((await browser.query('sessions.current')).status).toBe(401)
    })
    for (const days of [6, 12, 18, 24, 29]) {
      await service.clock.at(after(days), async () => {
        expect((await browser.query('sessions.current')).status).toBe(200)
      })
    }
    await service.clock.at(after(31), async () => {
      expect((await browser.query('sessions.current')).status).toBe(401)
    })
  })
})

describe('who makes a call with the cookie', () => {
  const json = { 'Content-Type': 'application/json' }
  const origin = () => ({ Origin: new URL(service.baseUrl).origin })

  test.each([
    ['our page', () => ({ 'Sec-Fetch-Site': 'same-origin' }), 200, 200],
    ['a page on another port of this host', () => ({ 'Sec-Fetch-Site': 'same-site' }), 401, 401],
    ['a page of another site', () => ({ 'Sec-Fetch-Site': 'cross-site' }), 401, 401],
    ['an address that was typed', () => ({ 'Sec-Fetch-Site': 'none' }), 401, 401],
    ['a browser that does not say, with our origin', () => origin(), 200, 200],
    [
      'a browser that does not say, with another origin',
      () => ({ Origin: 'http://127.0.0.1:5601' }),
      401,
      401,
    ],
    ['a browser that does not say, with no origin', () => ({}), 200, 401],
    ['a sandboxed page', () => ({ Origin: 'null' }), 401, 401],
  ])('%s', async (_, headers, read, changed) => {
    const { browser } = await ownerBrowser()
    const sent = { ...json, ...headers() }
    expect((await browser.query('endpoints.list', {}, sent)).status).toBe(read)
    expect((await browser.mutate('endpoints.create', { name: 'made' }, sent)).status).toBe(changed)
    const { data } = await browser.query('endpoints.list')
    expect(data).toMatchObject({ totalCount: changed === 200 ? 1 : 0 })
    // Signing out is refused in the same cases as signing in.
    const out = await browser.call('DELETE', '/console/session', undefined, sent)
    expect(out.status).toBe(changed === 200 ? 204 : 401)
  })

  test('a form changes nothing, wherever it stands', async () => {
    const { browser } = await ownerBrowser()
    for (const type of [
      'application/x-www-form-urlencoded',
      'text/plain',
      'multipart/form-data; boundary=x',
    ]) {
      const headers = { 'Sec-Fetch-Site': 'same-origin', 'Content-Type': type }
      expect((await browser.mutate('endpoints.create', {}, headers)).status).toBeOneOf([400, 401, 415])
      expect((await browser.signIn({ key: service.alice.key }, headers)).status).toBe(400)
    }
    expect((await browser.query('endpoints.list')).data).toMatchObject({ totalCount: 0 })
  })

  test('signing in is for our page only', async () => {
    for (const headers of [{ 'Sec-Fetch-Site': 'same-site' }, { 'Sec-Fetch-Site': 'cross-site' }, {}]) {
      const browser = new TestBrowser(service)
      expect((await browser.signIn({ key: service.alice.key }, { ...json, ...headers })).status).toBe(401)
      expect(browser.cookie).toBe('')
    }
  })

  test('REST takes keys only', async () => {
    const { browser } = await ownerBrowser()
    expect((await browser.call('GET', '/api/v1/me')).status).toBe(401)
    expect((await browser.call('POST', '/api/v1/keys', { name: 'x' })).status).toBe(401)
  })
})

describe('the owner', () => {
  test('makes, lists and revokes keys; the sessions of a key end with it', async () => {
    const { browser } = await ownerBrowser()
    const Made = z.looseObject({ id: z.string(), key: z.string().startsWith('creel_live_') })
    const made = Made.parse((await browser.mutate('keys.create', { name: 'ci' })).data)
    const withKey = new TestBrowser(service)
    await withKey.signIn({ key: made.key })
    expect((await withKey.query('sessions.current')).status).toBe(200)
    const { data } = await browser.query('keys.list')
    expect(data).toMatchObject({
      items: [
        { name: 'ci', lastUsedAt: expect.any(String), revokedAt: null },
        { name: 'test', lastUsedAt: null },
      ],
    })
    expect(JSON.stringify(data)).not.toContain(made.key)
    expect((await browser.mutate('keys.revoke', { keyId: made.id })).status).toBe(200)
    expect((await withKey.query('sessions.current')).status).toBe(401)
    expect((await browser.mutate('keys.revoke', { keyId: crypto.randomUUID() })).code).toBe('not_found')
  })

  test('lists and ends sessions, invites others, and never reaches another workspace', async () => {
    const { browser } = await ownerBrowser()
    const { url } = z.object({ url: z.string() }).parse((await browser.mutate('sessions.invite')).data)
    const guest = new TestBrowser(service)
    await guest.signIn({ link: url.split('#')[1] ?? '' })
    const { session } = Current.parse((await guest.query('sessions.current')).data)
    const stranger = await ownerBrowser()
    expect((await stranger.browser.mutate('sessions.end', { sessionId: session?.id })).code).toBe('not_found')
    expect(await browser.query('sessions.list')).toMatchObject({
      data: {
        items: [
          { id: session?.id, isCurrent: false },
          { role: 'owner', isCurrent: true },
        ],
      },
    })
    expect((await browser.mutate('sessions.end', { sessionId: session?.id })).status).toBe(200)
    expect((await guest.query('sessions.current')).status).toBe(401)
  })

  test('manages contacts, which every session may list', async () => {
    const { browser, client } = await ownerBrowser()
    const { data } = await browser.mutate('contacts.add', { email: 'ada@example.test', name: 'Ada' })
    const { id } = z.looseObject({ id: z.string() }).parse(data)
    const withKey = new TestBrowser(service)
    await withKey.signIn({ key: client.key })
    expect(await withKey.query('contacts.list')).toMatchObject({ data: { items: [{ id, name: 'Ada' }] } })
    expect((await withKey.mutate('contacts.remove', { contactId: id })).code).toBe('forbidden')
    expect((await browser.mutate('contacts.remove', { contactId: id })).status).toBe(200)
    expect(await browser.query('contacts.list')).toMatchObject({ data: { items: [] } })
  })

  test('has a budget of its own: 1,200 calls a minute', async () => {
    const { client, browser } = await ownerBrowser()
    await service.db
      .insertInto('sessionWindows')
      .values({
        sessionId: Current.parse((await browser.query('sessions.current')).data).session?.id ?? '',
        startedAt: service.clock.now(),
        callCount: 1_200,
      })
      .onConflict((conflict) => conflict.column('sessionId').doUpdateSet({ callCount: 1_200 }))
      .execute()
    expect(await browser.query('endpoints.list')).toMatchObject({ status: 429, code: 'rate_limited' })
    expect((await client.get('/api/v1/me')).status).toBe(200)
  })
})
