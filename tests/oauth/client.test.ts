import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  Client,
  type OAuthClientProvider,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { startService, type TestService } from '../support/service.ts'
import { Agent, browserOf, hiddenFields, redirectOf, submit } from './agent.ts'

/** The official client finds the sign-in by itself, and refreshes its token. */

let service: TestService
let agent: Agent

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000 } })
  agent = await Agent.start(service)
})

afterAll(async () => {
  await agent[Symbol.asyncDispose]()
  await service.stop()
})

/** Keeps what a client keeps between its starts, in memory. */
class Kept implements OAuthClientProvider {
  authorizationUrl: URL | undefined
  kept: StoredOAuthTokens | undefined
  private verifier = ''

  get redirectUrl() {
    return agent.redirectUri
  }
  get clientMetadata() {
    return { redirect_uris: [agent.redirectUri] }
  }
  state() {
    return 'state of the client'
  }
  clientInformation() {
    return { client_id: agent.clientId }
  }
  tokens() {
    return this.kept
  }
  saveTokens(tokens: StoredOAuthTokens) {
    this.kept = tokens
  }
  redirectToAuthorization(url: URL) {
    this.authorizationUrl = url
  }
  saveCodeVerifier(verifier: string) {
    this.verifier = verifier
  }
  codeVerifier() {
    return this.verifier
  }
}

test('the official client signs in, calls tools, and refreshes its token after an hour', async () => {
  const authProvider = new Kept()
  const transport = () =>
    new StreamableHTTPClientTransport(new URL(`${service.baseUrl}/mcp`), { authProvider })
  const newClient = () => new Client({ name: 'test', version: '1' })
  const first = transport()
  expect(
    await newClient()
      .connect(first)
      .catch((error: unknown) => error),
  ).toBeInstanceOf(UnauthorizedError)
  const { pathname, search, searchParams } = authProvider.authorizationUrl ?? new URL(service.baseUrl)
  expect([pathname, searchParams.get('resource')]).toEqual(['/oauth/authorize', `${service.baseUrl}/mcp`])

  const browser = await browserOf(service.alice)
  const page = await browser.call('GET', pathname + search, undefined, { 'Sec-Fetch-Site': 'same-origin' })
  const form = { ...hiddenFields(await page.text()), decision: 'allow', scope: 'write', endpoint: '' }
  const { parameters } = redirectOf(await submit(browser, form))
  expect(parameters.state).toBe('state of the client')
  await first.finishAuth(new URLSearchParams(parameters))

  const client = newClient()
  await client.connect(transport())
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toContain('search_requests')

  const former = authProvider.kept?.access_token
  await service.clock.at(new Date(service.clock.now().getTime() + 3_601_000), async () => {
    const endpoint = await service.alice.endpoint()
    const call = () => client.callTool({ name: 'list_endpoints', arguments: {} })
    // Each of them is refused, and refreshes.
    const answers = await Promise.all([call(), call(), call(), call()])
    for (const { content } of answers) expect(JSON.stringify(content)).toContain(endpoint.id)
  })
  expect(authProvider.kept?.access_token).not.toBe(former)
  await client.close()
})
