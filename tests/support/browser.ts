import type { TestService } from './service.ts'

/** The headers that a browser sends with a call of the console's own page. */
const OWN_PAGE = { 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'application/json' }

/** A browser that may be signed in. It keeps its cookie, and sends the headers of a page. */
export class TestBrowser {
  /** Value of the Cookie header; empty when signed out. */
  cookie = ''

  constructor(readonly service: Pick<TestService, 'baseUrl'>) {}

  /** `POST /console/session` with a key or a link. */
  async signIn(credential: object, headers: Readonly<Record<string, string>> = OWN_PAGE): Promise<Response> {
    const response = await this.call('POST', '/console/session', credential, headers)
    const [cookie] = response.headers.getSetCookie()
    if (cookie !== undefined) this.cookie = cookie.split(';', 1)[0] ?? ''
    return response
  }

  /** Any call; the test sets the headers of its origin. */
  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = OWN_PAGE,
  ): Promise<Response> {
    return await fetch(this.service.baseUrl + path, {
      method,
      headers: { ...(this.cookie === '' ? {} : { Cookie: this.cookie }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: 'manual',
    })
  }

  /** A query of the typed surface; returns the status and the answer. */
  async query(name: string, input: object = {}, headers?: Readonly<Record<string, string>>) {
    const path = `/trpc/${name}?input=${encodeURIComponent(JSON.stringify(input))}`
    return await read(await this.call('GET', path, undefined, headers))
  }

  /** A mutation of the typed surface. */
  async mutate(name: string, input: object = {}, headers?: Readonly<Record<string, string>>) {
    return await read(await this.call('POST', `/trpc/${name}`, input, headers))
  }
}

async function read(response: Response) {
  const body = Object(await response.json())
  return {
    status: response.status,
    data: body.result?.data as unknown,
    code: body.error?.data?.problem?.code as unknown,
  }
}
