import { createHash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { TestBrowser } from '../support/browser.ts'
import type { Client } from '../support/client.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import type { TestService } from '../support/service.ts'

/** Names and values of parameters; undefined leaves one out. */
export type Changes = Readonly<Record<string, string | undefined>>

/** A successful answer of the token endpoint. */
export const Tokens = z.strictObject({
  access_token: z.string().startsWith('creel_oauth_'),
  token_type: z.literal('Bearer'),
  expires_in: z.int().min(3_570).max(3_600),
  refresh_token: z.string().startsWith('creel_refresh_'),
  scope: z.enum(['read', 'read write']),
  resource: z.string(),
})

/** An answer of the token endpoint, read. */
export interface TokenAnswer {
  readonly status: number
  readonly body: z.output<typeof Tokens> & { readonly error?: string }
}

/** Headers of a browser that opens a page from another page of the service. */
const FROM_OUR_PAGE = { 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Mode': 'navigate' }

/** A public client of OAuth with a site of its own, which serves its metadata document. */
export class Agent implements AsyncDisposable {
  readonly verifier = randomBytes(32).toString('base64url')
  readonly redirectUri = 'https://agent.example.test/callback'
  /** The metadata document; a test may change it. */
  document: Readonly<Record<string, unknown>>

  private constructor(
    readonly service: Pick<TestService, 'baseUrl'>,
    readonly site: Receiver,
  ) {
    this.document = {
      client_id: this.clientId,
      client_name: 'Test agent',
      redirect_uris: [this.redirectUri, 'http://127.0.0.1/done', 'http://[::1]/done'],
    }
    site.answer = (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' })
      response.end(JSON.stringify(this.document))
    }
  }

  static async start(service: Pick<TestService, 'baseUrl'>): Promise<Agent> {
    return new Agent(service, await startReceiver())
  }

  /** A new id for each path, so that no document is cached. */
  path = `/${randomBytes(4).toString('hex')}.json`

  get clientId(): string {
    return new URL(this.path, this.site.url).href
  }

  get challenge(): string {
    return createHash('sha256').update(this.verifier).digest('base64url')
  }

  /** Path and query of a request for authorization. */
  request(changes: Changes = {}): string {
    return `/oauth/authorize?${formOf({
      response_type: 'code',
      client_id: this.clientId,
      redirect_uri: this.redirectUri,
      state: 'the state',
      code_challenge: this.challenge,
      code_challenge_method: 'S256',
      resource: `${this.service.baseUrl}/mcp`,
      ...changes,
    })}`
  }

  /** Opens the consent page in a browser. */
  open(browser: TestBrowser, changes: Changes = {}): Promise<Response> {
    return browser.call('GET', this.request(changes), undefined, FROM_OUR_PAGE)
  }

  /** Opens the consent page and sends its form; with `fields` in place of those that a user would send. */
  async consent(browser: TestBrowser, fields: Changes = {}, changes: Changes = {}): Promise<Response> {
    const page = await (await this.open(browser, changes)).text()
    return await submit(browser, {
      ...hiddenFields(page),
      decision: 'allow',
      scope: 'write',
      endpoint: '',
      ...fields,
    })
  }

  /** The code of a consent. */
  async code(browser: TestBrowser, fields: Changes = {}, changes: Changes = {}): Promise<string> {
    const { parameters } = redirectOf(await this.consent(browser, fields, changes))
    return z.string().startsWith('creel_code_').parse(parameters.code)
  }

  /** Exchanges a code. */
  exchange(code: string, changes: Changes = {}): Promise<TokenAnswer> {
    return this.token({
      grant_type: 'authorization_code',
      code,
      redirect_uri: this.redirectUri,
      client_id: this.clientId,
      code_verifier: this.verifier,
      resource: `${this.service.baseUrl}/mcp`,
      ...changes,
    })
  }

  /** Exchanges a refresh token. */
  refresh(token: string, changes: Changes = {}): Promise<TokenAnswer> {
    return this.token({
      grant_type: 'refresh_token',
      refresh_token: token,
      client_id: this.clientId,
      ...changes,
    })
  }

  /** The tokens of a consent of this browser. */
  async signIn(browser: TestBrowser, fields: Changes = {}): Promise<z.output<typeof Tokens>> {
    return Tokens.parse((await this.exchange(await this.code(browser, fields))).body)
  }

  private async token(form: Changes): Promise<TokenAnswer> {
    const answer = await post(this.service, '/oauth/token', form)
    return { status: answer.status, body: Object(await answer.json()) }
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.site[Symbol.asyncDispose]()
  }
}

/** Sends a form without a session. */
export function post(service: Pick<TestService, 'baseUrl'>, path: string, form: Changes): Promise<Response> {
  return fetch(service.baseUrl + path, { method: 'POST', body: new URLSearchParams(formOf(form)) })
}

/** Sends the form of the consent page. */
export function submit(
  browser: TestBrowser,
  form: Changes,
  headers: Readonly<Record<string, string>> = FROM_OUR_PAGE,
): Promise<Response> {
  return fetch(`${browser.service.baseUrl}/oauth/authorize`, {
    method: 'POST',
    headers: { Cookie: browser.cookie, ...headers },
    body: new URLSearchParams(formOf(form)),
    redirect: 'manual',
  })
}

function formOf(members: Changes): string {
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(members)) if (value !== undefined) form.set(name, value)
  return form.toString()
}

/** The hidden fields of the consent page. */
export function hiddenFields(page: string): { readonly request: string; readonly token: string } {
  const fieldOf = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? ''
  return { request: fieldOf('request').replaceAll('&amp;', '&'), token: fieldOf('token') }
}

/** The address and the parameters that the browser is sent to. */
export function redirectOf(response: Response): {
  readonly to: string
  readonly parameters: Readonly<Record<string, string>>
} {
  const location = response.headers.get('location')
  if (response.status !== 303 || location === null)
    throw new Error(`The answer is ${response.status}, no redirect.`)
  const url = new URL(location)
  return { to: url.origin + url.pathname, parameters: Object.fromEntries(url.searchParams) }
}

/** The address and the parameters of the link back to the client, on the page of an error. */
export async function returnOf(response: Response): Promise<ReturnType<typeof redirectOf>> {
  const href = /<a class="button" rel="noreferrer" href="([^"]*)"/.exec(await response.text())?.[1]
  if (response.status !== 400 || href === undefined || response.headers.has('location')) {
    throw new Error(`The answer is ${response.status}, no page of an error.`)
  }
  const url = new URL(href.replaceAll('&amp;', '&'))
  return { to: url.origin + url.pathname, parameters: Object.fromEntries(url.searchParams) }
}

/** A browser that is signed in to a client's workspace. */
export async function browserOf(client: Client): Promise<TestBrowser> {
  const browser = new TestBrowser(client)
  await browser.signIn({ key: client.key })
  return browser
}

/** Lists the tools of `/mcp` with a token, or with none. */
export function callMcp(service: Pick<TestService, 'baseUrl'>, token?: string): Promise<Response> {
  return fetch(`${service.baseUrl}/mcp`, {
    method: 'POST',
    headers: {
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
  })
}
