import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { knownGrants } from '@creel/core/oauth'
import { z } from 'zod'
import { TestBrowser } from '../support/browser.ts'
import { startService, type TestService } from '../support/service.ts'
import { Agent, browserOf, callMcp, hiddenFields, post, redirectOf, submit } from './agent.ts'

/** Agents that sign in by OAuth, with the consent of a user of the console. */

let service: TestService
let agent: Agent
let browser: TestBrowser

beforeAll(async () => {
  service = await startService({
    limits: { apiRatePerMinute: 100_000, apiKeysMax: 100 },
    planLimits: { solo: { apiKeysMax: 2 } },
  })
  agent = await Agent.start(service)
  browser = await browserOf(service.alice)
})

afterAll(async () => {
  await agent[Symbol.asyncDispose]()
  await service.stop()
})

const Keys = z.object({
  items: z.array(
    z.looseObject({
      id: z.string(),
      kind: z.enum(['key', 'oauth']),
      clientId: z.string().nullable(),
      name: z.string(),
      scope: z.string(),
      endpointId: z.string().nullable(),
      prefix: z.string(),
      revokedAt: z.string().nullable(),
      expiresAt: z.string().nullable(),
    }),
  ),
})

const keysOfAgents = async () =>
  (await service.alice.expect(service.alice.get('/api/v1/keys'), Keys)).items.filter(
    ({ kind }) => kind === 'oauth',
  )

/** The key of an access token. */
async function keyOf(token: string) {
  return (await keysOfAgents()).find(({ prefix }) => token.startsWith(prefix))
}

const later = (seconds: number) => new Date(service.clock.now().getTime() + seconds * 1000)

describe('metadata', () => {
  test('leads a client from a refused call to both endpoints', async () => {
    const refused = await callMcp(service)
    expect(refused.status).toBe(401)
    const at = `${service.baseUrl}/.well-known/oauth-protected-resource/mcp`
    expect(refused.headers.get('www-authenticate')).toBe(`Bearer resource_metadata="${at}"`)
    const resource = await (await fetch(at)).json()
    expect(resource).toMatchObject({
      resource: `${service.baseUrl}/mcp`,
      authorization_servers: [service.baseUrl],
      scopes_supported: ['read', 'write'],
    })
    expect(await (await fetch(at.replace(/\/mcp$/, ''))).json()).toEqual(resource)
    const server = await fetch(`${service.baseUrl}/.well-known/oauth-authorization-server`)
    expect(await server.json()).toMatchObject({
      issuer: service.baseUrl,
      authorization_endpoint: `${service.baseUrl}/oauth/authorize`,
      token_endpoint: `${service.baseUrl}/oauth/token`,
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
    })
  })

  test('only calls of /mcp name it', async () => {
    const answer = await fetch(`${service.baseUrl}/api/v1/me`)
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
  })
})

describe('the consent page', () => {
  test('names the client by the host of its document, and offers every endpoint', async () => {
    const endpoint = await service.alice.endpoint({ name: 'Payments & <more>' })
    const response = await agent.open(browser)
    const page = await response.text()
    expect([response.status, page]).toEqual([200, expect.any(String)])
    expect(page).toContain(`<h1>Let ${new URL(agent.clientId).host} use Creel?</h1>`)
    expect(page).toContain('It calls itself “Test agent”.')
    expect(page).toContain(`<option value="${endpoint.id}">Payments &amp; &lt;more&gt;</option>`)
    expect(page).not.toContain('<script')
    expect(page).not.toContain('checked')
  })

  test('opens from another site, or without a session, only after a step on our own pages', async () => {
    const fromElsewhere = await browser.call('GET', agent.request(), undefined, {
      'Sec-Fetch-Site': 'cross-site',
    })
    const passage = await fromElsewhere.text()
    expect(passage).toContain('http-equiv="refresh"')
    expect(hiddenFields(passage).token).toBe('')
    const signedOut = await agent.open(new TestBrowser(service))
    expect(signedOut.status).toBe(401)
    expect(await signedOut.text()).toContain('/console/sign-in?to=%2Foauth%2Fauthorize')
  })

  test('is for those who may manage keys', async () => {
    const Made = z.looseObject({ key: z.string() })
    const made = await service.alice.expect(
      service.alice.post('/api/v1/keys', { name: 'w', scope: 'write' }),
      Made,
    )
    const writer = new TestBrowser(service)
    await writer.signIn({ key: made.key })
    const answer = await agent.open(writer)
    expect(answer.status).toBe(403)
    expect(hiddenFields(await answer.text()).token).toBe('')
  })

  test('a denial tells the client, with state and issuer', async () => {
    const { to, parameters } = redirectOf(
      await agent.consent(browser, { decision: 'deny', scope: undefined }),
    )
    expect(to).toBe(agent.redirectUri)
    expect(parameters).toMatchObject({ error: 'access_denied', state: 'the state', iss: service.baseUrl })
    expect(parameters.code).toBeUndefined()
  })

  test('without a choice of scope nothing is given', async () => {
    const before = (await keysOfAgents()).length
    expect((await agent.consent(browser, { scope: undefined })).status).toBe(400)
    expect((await keysOfAgents()).length).toBe(before)
  })

  test('offers no more than the client asked for', async () => {
    const page = await (await agent.open(browser, { scope: 'read offline_access' })).text()
    expect([page.includes('value="read"'), page.includes('value="write"')]).toEqual([true, false])
    const answer = await submit(browser, {
      ...hiddenFields(page),
      decision: 'allow',
      scope: 'write',
      endpoint: '',
    })
    expect(answer.status).toBe(400)
  })
})

describe('tokens', () => {
  test('are made by a consent, work at /mcp, and stand in the list of keys', async () => {
    const { to, parameters } = redirectOf(await agent.consent(browser))
    expect(to).toBe(agent.redirectUri)
    expect(parameters).toMatchObject({ state: 'the state', iss: service.baseUrl })
    const { status, body } = await agent.exchange(parameters.code ?? '')
    expect(status).toBe(200)
    expect(body).toMatchObject({ scope: 'read write', resource: `${service.baseUrl}/mcp` })
    const answer = await callMcp(service, body.access_token)
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain('create_endpoint')
    expect(await keyOf(body.access_token)).toMatchObject({
      clientId: agent.clientId,
      name: new URL(agent.clientId).host,
      scope: 'write',
      endpointId: null,
    })
  })

  test('have the scope and the endpoint of the consent', async () => {
    const [seen, unseen] = [await service.alice.endpoint(), await service.alice.endpoint()]
    const tokens = await agent.signIn(browser, { scope: 'read', endpoint: seen.id })
    expect(tokens.scope).toBe('read')
    const answer = await (await callMcp(service, tokens.access_token)).text()
    expect(answer).toContain('list_endpoints')
    expect(answer).not.toContain('create_endpoint')
    const listed = await fetch(`${service.baseUrl}/mcp`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${tokens.access_token}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'list_endpoints', arguments: {} },
      }),
    })
    const text = await listed.text()
    expect([text.includes(seen.id), text.includes(unseen.id)]).toEqual([true, false])
  })

  test('last an hour, and are replaced by a refresh, which ends the former ones', async () => {
    const first = await agent.signIn(browser)
    await service.clock.at(later(3_601), async () => {
      expect((await callMcp(service, first.access_token)).status).toBe(401)
      const { status, body: second } = await agent.refresh(first.refresh_token)
      expect(status).toBe(200)
      expect(second.access_token).not.toBe(first.access_token)
      expect((await callMcp(service, second.access_token)).status).toBe(200)
      await service.clock.at(later(31), async () => {
        expect((await agent.refresh(second.refresh_token)).status).toBe(200)
        expect((await callMcp(service, second.access_token)).status).toBe(401)
      })
    })
  })

  test('are replaced by a refresh right after their code, too', async () => {
    const first = await agent.signIn(browser)
    const { body: second } = await agent.refresh(first.refresh_token)
    expect(second.refresh_token).not.toBe(first.refresh_token)
    expect((await callMcp(service, first.access_token)).status).toBe(401)
    expect((await callMcp(service, second.access_token)).status).toBe(200)
  })

  test('are the same for a client that refreshes several times within 30 seconds', async () => {
    const first = await agent.signIn(browser)
    await service.clock.at(later(60), async () => {
      const answers = await Promise.all([1, 2, 3, 4].map(() => agent.refresh(first.refresh_token)))
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
      expect(new Set(answers.map(({ body }) => `${body.access_token} ${body.refresh_token}`)).size).toBe(1)
      // So an address over the limit of guesses may present it, too.
      const presented = new Set([first.refresh_token])
      expect(await knownGrants(service, presented)).toEqual(presented)
      await service.clock.at(later(30), async () => {
        const { body: again } = await agent.refresh(first.refresh_token)
        expect([again.refresh_token, again.expires_in]).toEqual([answers[0]?.body.refresh_token ?? '', 3_570])
        const { body: bySecond } = await agent.refresh(again.refresh_token)
        expect(bySecond).toEqual(again)
        expect((await callMcp(service, again.access_token)).status).toBe(200)
      })
    })
  })

  test('can be refreshed for 30 days after the last time', async () => {
    const { refresh_token } = await agent.signIn(browser)
    await service.clock.at(later(29 * 86_400), async () => {
      const { body } = await agent.refresh(refresh_token)
      await service.clock.at(later(31 * 86_400), async () => {
        expect((await agent.refresh(body.refresh_token)).body.error).toBe('invalid_grant')
      })
    })
  })

  test('end when their key is revoked, or one of them is', async () => {
    const byOwner = await agent.signIn(browser)
    await service.alice.delete(`/api/v1/keys/${(await keyOf(byOwner.access_token))?.id}`)
    expect((await callMcp(service, byOwner.access_token)).status).toBe(401)
    expect((await agent.refresh(byOwner.refresh_token)).body.error).toBe('invalid_grant')
    for (const which of ['access_token', 'refresh_token'] as const) {
      const tokens = await agent.signIn(browser)
      const answer = await post(service, '/oauth/revoke', { token: tokens[which], client_id: agent.clientId })
      expect(answer.status).toBe(200)
      expect((await callMcp(service, tokens.access_token)).status).toBe(401)
      expect((await agent.refresh(tokens.refresh_token)).body.error).toBe('invalid_grant')
    }
    expect((await post(service, '/oauth/revoke', { token: 'unknown' })).status).toBe(200)
  })

  test('end with their endpoint, and so does a code that was not used yet', async () => {
    const endpoint = await service.alice.endpoint()
    const tokens = await agent.signIn(browser, { endpoint: endpoint.id })
    const code = await agent.code(browser, { endpoint: endpoint.id })
    await service.alice.delete(endpoint.at(''))
    expect((await agent.refresh(tokens.refresh_token)).body.error).toBe('invalid_grant')
    expect((await agent.exchange(code)).body.error).toBe('invalid_grant')
  })

  test('a consent that was not used in a minute is gone with the next one', async () => {
    const client = await service.newClient()
    const other = await browserOf(client)
    const keys = async () => (await client.expect(client.get('/api/v1/keys'), Keys)).items.map(({ id }) => id)
    const code = await agent.code(other)
    const [unused = ''] = await keys()
    await service.clock.at(later(61), async () => {
      expect((await agent.exchange(code)).body.error).toBe('invalid_grant')
      await agent.code(other)
      expect(await keys()).toHaveLength(2)
      expect(await keys()).not.toContain(unused)
    })
  })

  test('their keys can be bound to networks, but neither rotated nor given another expiry', async () => {
    const tokens = await agent.signIn(browser)
    const path = `/api/v1/keys/${(await keyOf(tokens.access_token))?.id}`
    expect((await service.alice.post(`${path}/rotate`, {})).status).toBe(404)
    expect((await service.alice.patch(path, { expiresAt: '2099-01-01T00:00:00Z' })).status).toBe(400)
    expect((await service.alice.patch(path, { allowedNetworks: ['203.0.113.0/24'] })).status).toBe(200)
    expect((await callMcp(service, tokens.access_token)).status).toBe(403)
  })
})

describe('a consent', () => {
  test('counts against the keys of the plan', async () => {
    const full = await browserOf(await service.newClient('solo'))
    expect((await agent.consent(full)).status).toBe(303)
    const refused = await agent.consent(full)
    expect([refused.status, await refused.text()]).toEqual([
      409,
      expect.stringContaining('room for 2 API keys'),
    ])
  })

  test('is in the audit log under the session that gave it', async () => {
    await agent.signIn(browser)
    const { body } = await service.alice.get('/api/v1/audit?action=keys.create&actorKind=session&pageSize=1')
    expect(body).toMatchObject({
      items: [{ actor: { kind: 'session' }, after: { kind: 'oauth', clientId: agent.clientId } }],
    })
  })
})

describe('without OAuth', () => {
  test.each([
    ['switched off', { hasOAuth: false }],
    ['without a console', { hasConsole: false }],
  ])('%s, nothing of it is there', async (_, options) => {
    const without = await startService({
      ...options,
      database: service.database,
      clock: service.clock,
      secretKey: service.secretKey,
    })
    for (const path of [
      '/.well-known/oauth-protected-resource',
      '/.well-known/oauth-protected-resource/mcp',
      '/.well-known/oauth-authorization-server',
      '/oauth/authorize',
    ]) {
      expect((await fetch(without.baseUrl + path)).status).toBe(404)
    }
    expect((await post(without, '/oauth/token', {})).status).toBe(404)
    expect((await callMcp(without)).headers.get('www-authenticate')).toBe('Bearer')
    await without.stop()
  })
})
