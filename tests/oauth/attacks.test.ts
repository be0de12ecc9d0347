import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { pino } from 'pino'
import { TestBrowser } from '../support/browser.ts'
import { startService, type TestService } from '../support/service.ts'
import { Agent, browserOf, type Changes, callMcp, post, redirectOf, returnOf } from './agent.ts'

/** Attacks on codes and tokens, and on the limits of what they are good for. */

let service: TestService
let agent: Agent
let browser: TestBrowser
const lines: string[] = []

beforeAll(async () => {
  const log = pino({ level: 'debug' }, { write: (line: string) => lines.push(line) })
  service = await startService({ limits: { apiRatePerMinute: 100_000, apiKeysMax: 1_000 }, log })
  browser = await browserOf(service.alice)
})

beforeEach(async () => {
  agent = await Agent.start(service)
})

afterEach(() => agent[Symbol.asyncDispose]())

afterAll(async () => {
  await service.stop()
  expect(lines.filter((line) => line.includes('"level":50'))).toEqual([])
  // The log has prefixes of tokens only.
  expect(lines.filter((line) => /creel_(code|refresh|oauth)_\w{7}/.test(line))).toEqual([])
})

const later = (seconds: number) => new Date(service.clock.now().getTime() + seconds * 1000)

const isRevoked = async (prefixed: string) => {
  const { body } = await service.alice.get('/api/v1/keys')
  const items: readonly { prefix: string; revokedAt: string | null }[] = Object(body).items
  return items.find(({ prefix }) => prefixed.startsWith(prefix))?.revokedAt !== null
}

describe('a stolen code', () => {
  test.each<[string, Changes]>([
    ['another code_verifier', { code_verifier: 'x'.repeat(43) }],
    ['no code_verifier', { code_verifier: undefined }],
    ['the challenge in place of its verifier', {}],
    ['another client_id', { client_id: 'https://evil.example.test/client.json' }],
    ['no client_id', { client_id: undefined }],
    ['another redirect_uri', { redirect_uri: 'http://127.0.0.1/done' }],
  ])('with %s gives nothing, and ends', async (name, changes) => {
    const wrong = name.startsWith('the challenge') ? { code_verifier: agent.challenge } : changes
    const code = await agent.code(browser)
    expect(await agent.exchange(code, wrong)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(await agent.exchange(code)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  })

  test('that is used after the client used it revokes what the client got', async () => {
    const code = await agent.code(browser)
    const { body } = await agent.exchange(code)
    expect((await callMcp(service, body.access_token)).status).toBe(200)
    expect((await agent.exchange(code)).body.error).toBe('invalid_grant')
    expect((await callMcp(service, body.access_token)).status).toBe(401)
    expect((await agent.refresh(body.refresh_token)).body.error).toBe('invalid_grant')
    expect(await isRevoked(body.access_token)).toBe(true)
  })

  test('that is used by several at once is good for none of them', async () => {
    const code = await agent.code(browser)
    const answers = await Promise.all([1, 2, 3, 4].map(() => agent.exchange(code)))
    const [winner, ...others] = answers.filter(({ status }) => status === 200)
    expect(others).toEqual([])
    expect((await callMcp(service, winner?.body.access_token ?? 'none')).status).toBe(401)
  })

  test('of another browser, injected into the client of the victim, does not match its challenge', async () => {
    const attacker = await Agent.start(service)
    const code = await attacker.code(await browserOf(service.charlie), {}, { client_id: agent.clientId })
    expect((await agent.exchange(code)).body.error).toBe('invalid_grant')
    await attacker[Symbol.asyncDispose]()
  })
})

describe('a downgrade', () => {
  test.each<[string, Changes, string]>([
    ['of PKCE to plain', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['of PKCE by leaving its method out', { code_challenge_method: undefined }, 'invalid_request'],
    ['of PKCE by leaving it out', { code_challenge: undefined }, 'invalid_request'],
    ['of PKCE to a short challenge', { code_challenge: 'x' }, 'invalid_request'],
    ['to tokens in the fragment', { response_type: 'token' }, 'unsupported_response_type'],
    ['to an answer in the fragment', { response_mode: 'fragment' }, 'invalid_request'],
    ['to a scope that agents cannot have', { scope: 'admin' }, 'invalid_scope'],
  ])('%s is refused, with state and issuer', async (_, changes, error) => {
    const { to, parameters } = await returnOf(await agent.open(browser, changes))
    expect(parameters).toMatchObject({ error, state: 'the state', iss: service.baseUrl })
    expect(to).toBe(agent.redirectUri)
  })

  test.each(['password', 'client_credentials', 'toString'])(
    'to the grant %p is refused',
    async (grant_type) => {
      const answer = await post(service, '/oauth/token', { grant_type, username: 'a', password: 'b' })
      expect([answer.status, await answer.json()]).toMatchObject([400, { error: 'unsupported_grant_type' }])
    },
  )

  test.each([
    ['grant_type', { code: 'x' }],
    ['grant_type', { grant_type: '' }],
    ['code', { grant_type: 'authorization_code' }],
    ['refresh_token', { grant_type: 'refresh_token', refresh_token: '' }],
  ])('without %s is refused, and so is another method or media type', async (name, form) => {
    const answer = await post(service, '/oauth/token', form)
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { error: 'invalid_request', error_description: `The parameter ${name} is missing.` },
    ])
    const read = await fetch(`${service.baseUrl}/oauth/token`)
    expect([read.status, await read.json()]).toEqual([
      405,
      { error: 'invalid_request', error_description: 'Send a form with POST.' },
    ])
    const json = await fetch(`${service.baseUrl}/oauth/token`, { method: 'POST', body: '{}' })
    expect([json.status, await json.json()]).toEqual([
      400,
      { error: 'invalid_request', error_description: 'Send application/x-www-form-urlencoded.' },
    ])
  })

  test('by a parameter that is given twice is refused', async () => {
    const path = `${agent.request({ scope: 'read' })}&scope=write`
    const answer = await browser.call('GET', path, undefined, { 'Sec-Fetch-Site': 'same-origin' })
    expect((await returnOf(answer)).parameters.error).toBe('invalid_request')
    const code = await agent.code(browser)
    const form = `grant_type=authorization_code&code=${code}&code=${code}&code_verifier=${agent.verifier}`
    const twice = await fetch(`${service.baseUrl}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams(form),
    })
    expect(await twice.json()).toMatchObject({ error: 'invalid_request' })
  })
})

describe('a mix-up of servers', () => {
  test('is noticed, because a code names its issuer', async () => {
    expect(redirectOf(await agent.consent(browser)).parameters.iss).toBe(service.baseUrl)
  })
})

describe('a stolen refresh token', () => {
  test('that the client has used revokes the grant after 30 seconds', async () => {
    const first = await agent.signIn(browser)
    await service.clock.at(later(60), async () => {
      const { body: second } = await agent.refresh(first.refresh_token)
      expect((await callMcp(service, second.access_token)).status).toBe(200)
      await service.clock.at(later(31), async () => {
        expect((await agent.refresh(first.refresh_token)).body.error).toBe('invalid_grant')
        expect((await callMcp(service, second.access_token)).status).toBe(401)
        expect((await agent.refresh(second.refresh_token)).body.error).toBe('invalid_grant')
        expect(await isRevoked(second.access_token)).toBe(true)
        const { body } = await service.alice.get('/api/v1/audit?action=keys.revoke&pageSize=1')
        expect(body).toMatchObject({ items: [{ actor: { kind: 'service' } }] })
      })
    })
  })

  test('that the client has used lives no longer when the clock is set back', async () => {
    const first = await agent.signIn(browser)
    const moment = later(60)
    const { body: second } = await service.clock.at(moment, () => agent.refresh(first.refresh_token))
    const at = (seconds: number) =>
      service.clock.at(new Date(moment.getTime() + seconds * 1000), () => agent.refresh(first.refresh_token))
    expect((await at(-30)).body).toEqual(second)
    expect((await at(-31)).body.error).toBe('invalid_grant')
    expect(await isRevoked(second.access_token)).toBe(true)
  })

  test('that the client uses later revokes what the thief got', async () => {
    const first = await agent.signIn(browser)
    await service.clock.at(later(60), async () => {
      const { body: stolen } = await agent.refresh(first.refresh_token)
      expect((await callMcp(service, stolen.access_token)).status).toBe(200)
      await service.clock.at(later(31), () => agent.refresh(first.refresh_token))
      expect((await callMcp(service, stolen.access_token)).status).toBe(401)
    })
  })

  test('that is older than the former one revokes the grant at once', async () => {
    const first = await agent.signIn(browser)
    await service.clock.at(later(60), async () => {
      const { body: second } = await agent.refresh(first.refresh_token)
      await service.clock.at(later(60), async () => {
        const { body: third } = await agent.refresh(second.refresh_token)
        expect((await agent.refresh(first.refresh_token)).body.error).toBe('invalid_grant')
        expect((await callMcp(service, third.access_token)).status).toBe(401)
      })
    })
  })

  test('of another client is refused, and goes on for its own', async () => {
    const { refresh_token } = await agent.signIn(browser)
    const other = { client_id: 'https://evil.example.test/client.json' }
    expect((await agent.refresh(refresh_token, other)).body.error).toBe('invalid_grant')
    expect((await agent.refresh(refresh_token)).status).toBe(200)
  })

  test('cannot gain a scope', async () => {
    const { refresh_token } = await agent.signIn(browser, { scope: 'read' })
    expect((await agent.refresh(refresh_token, { scope: 'read write' })).body.error).toBe('invalid_scope')
    expect((await agent.refresh(refresh_token, { scope: 'read' })).body.scope).toBe('read')
  })

  test.each([
    ['with a part that was made up', (token: string) => `${token.slice(0, -32)}${'x'.repeat(32)}`],
    ['that was cut', (token: string) => token.slice(0, -1)],
    [
      'with a family that was made up',
      (token: string) => `creel_refresh_${'x'.repeat(32)}${token.slice(-32)}`,
    ],
  ])('%s gives nothing', async (_, forge) => {
    const { refresh_token } = await agent.signIn(browser)
    expect((await agent.refresh(forge(refresh_token))).body.error).toBe('invalid_grant')
  })
})

describe('a confused deputy', () => {
  test.each([
    ['of another server', () => 'https://other.example.test/mcp'],
    ['that only begins like ours', () => `${service.baseUrl}/mcp.evil.example.test`],
    ['that is the whole service', () => service.baseUrl],
    ['that is absent', () => undefined],
  ])('is not made for a resource %s', async (_, resource) => {
    const { parameters } = await returnOf(await agent.open(browser, { resource: resource() }))
    expect(parameters.error).toBe('invalid_target')
  })

  test('is not made by naming another resource when the code or the token is exchanged', async () => {
    const resource = 'https://other.example.test/mcp'
    const code = await agent.code(browser)
    expect((await agent.exchange(code, { resource })).body.error).toBe('invalid_target')
    const { body } = await agent.exchange(code)
    expect((await agent.refresh(body.refresh_token, { resource })).body.error).toBe('invalid_target')
  })

  test('gets no further than /mcp with its token', async () => {
    const { access_token, refresh_token } = await agent.signIn(browser)
    const headers = { Authorization: `Bearer ${access_token}` }
    for (const path of ['/api/v1/me', '/api/v1/keys', '/trpc/me.get?input={}']) {
      expect((await fetch(service.baseUrl + path, { headers })).status).toBe(403)
    }
    const link = await fetch(`${service.baseUrl}/api/v1/sign-in-links`, { method: 'POST', headers })
    expect(link.status).toBe(403)
    const thief = new TestBrowser(service)
    expect((await thief.signIn({ key: access_token })).status).toBe(403)
    expect(thief.cookie).toBe('')
    expect((await callMcp(service, refresh_token)).status).toBe(401)
  })

  test('sees its own workspace only', async () => {
    const [ours, theirs] = [await service.alice.endpoint(), await service.charlie.endpoint()]
    expect((await agent.consent(browser, { endpoint: theirs.id })).status).toBe(404)
    expect((await agent.consent(browser, { endpoint: ours.id })).status).toBe(303)
    const page = await (await agent.open(browser)).text()
    expect([page.includes(ours.id), page.includes(theirs.id)]).toEqual([true, false])
  })

  test('cannot end the tokens of another client', async () => {
    const { access_token } = await agent.signIn(browser)
    const form = { token: access_token, client_id: 'https://evil.example.test/client.json' }
    expect((await post(service, '/oauth/revoke', form)).status).toBe(200)
    expect((await callMcp(service, access_token)).status).toBe(200)
    expect((await post(service, '/oauth/revoke', { token: service.alice.key })).status).toBe(200)
    expect((await service.alice.get('/api/v1/me')).status).toBe(200)
  })
})

describe('a long request', () => {
  const tokenOf = async (refresh_token: string) =>
    Object(await (await post(service, '/oauth/token', { grant_type: 'refresh_token', refresh_token })).json())

  test('is refused: a form over 16 KiB, a query over 8,192 characters, a state over 2,048', async () => {
    const around = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: '' }).toString().length
    expect((await tokenOf('x'.repeat(16_384 - around))).error).toBe('invalid_grant')
    expect((await tokenOf('x'.repeat(16_385 - around))).error).toBe('invalid_request')
    const rest = agent.request({ pad: 'x' }).split('?')[1]?.length ?? 0
    expect((await agent.open(browser, { pad: 'x'.repeat(8_193 - rest) })).status).toBe(200)
    expect((await agent.open(browser, { pad: 'x'.repeat(8_194 - rest) })).status).toBe(400)
    expect((await agent.open(browser, { state: 'x'.repeat(2_048) })).status).toBe(200)
    const { parameters } = await returnOf(await agent.open(browser, { state: 'x'.repeat(2_049) }))
    expect(parameters.error).toBe('invalid_request')
  })
})

describe('guesses', () => {
  test('are refused after 600 in a minute, and good tokens never are', async () => {
    const { refresh_token } = await agent.signIn(browser)
    const guess = () => post(service, '/oauth/token', { grant_type: 'refresh_token', refresh_token: 'guess' })
    // The minute of an address begins with its first wrong call: it must not end before the last one.
    await service.clock.at(service.clock.now(), async () => {
      let refused: Response | undefined
      for (let sent = 0; sent < 660 && refused === undefined; sent += 20) {
        const answers = await Promise.all(Array.from({ length: 20 }, guess))
        refused = answers.find(({ status }) => status !== 400)
      }
      expect([refused?.status, Number(refused?.headers.get('retry-after')) > 0]).toEqual([429, true])
      expect((await agent.refresh(refresh_token)).status).toBe(200)
      expect((await fetch(`${service.baseUrl}/.well-known/oauth-authorization-server`)).status).toBe(200)
    })
  })
})
