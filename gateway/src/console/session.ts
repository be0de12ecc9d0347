import {
  DomainError,
  endSessionOfToken,
  SESSION_DAYS,
  type Services,
  startSession,
  type Urls,
} from '@creel/core'
import { z } from 'zod'
import { bytesOfBody, mediaTypeOf } from '../input.ts'
import { addressOf, traceIdOf } from '../requestIdentity.ts'
import { problemResponse } from '../rest.ts'

/**
 * The name of the cookie. Cookies ignore ports, so two services on one host need different names. `__Host-` binds the
 * cookie to this exact host and requires https.
 */
function cookieName({ baseUrl }: Urls): string {
  const { protocol, port } = new URL(baseUrl)
  return protocol === 'https:' ? '__Host-creel_session' : `creel_session_${port || '80'}`
}

/** `Set-Cookie`. Scripts cannot read the cookie, and pages of other sites cannot send it. */
function cookie(urls: Urls, token: string, maxAgeSeconds: number): string {
  const secure = urls.baseUrl.startsWith('https:') ? '; Secure' : ''
  return `${cookieName(urls)}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${secure}`
}

/** The token that the browser sent, or null. */
export function presentedSession(urls: Urls, request: Request): string | null {
  const name = cookieName(urls)
  for (const part of (request.headers.get('cookie') ?? '').split(';')) {
    const at = part.indexOf('=')
    if (part.slice(0, at).trim() === name) return part.slice(at + 1).trim() || null
  }
  return null
}

const SignIn = z.union([
  z.object({ key: z.string().min(1).max(200) }),
  z.object({ link: z.string().min(1).max(200) }),
])

const BODY_BYTES_MAX = 4_096

/** `POST /console/session` signs a browser in, with `{"key"}` or `{"link"}`; `DELETE` signs it out. Both answer 204. */
export async function answerSession(services: Services, request: Request): Promise<Response> {
  try {
    if (!isOwnPage(services.urls, request)) {
      throw new DomainError('unauthorized', 'Only the console itself may sign in and out.')
    }
    const former = presentedSession(services.urls, request)
    const address = addressOf(request)
    if (request.method === 'DELETE') {
      if (former !== null) await endSessionOfToken(services, { token: former, address })
      return done(cookie(services.urls, '', 0), { 'Clear-Site-Data': '"cache", "storage"' })
    }
    if (request.method !== 'POST') throw new DomainError('not_found', 'The route does not exist.')
    if (!isJson(request)) throw new DomainError('request_invalid', 'Send application/json.')
    const credential = await credentialIn(request.body)
    const userAgent = request.headers.get('user-agent')
    const token = await startSession(services, credential, { userAgent, former, address })
    return done(cookie(services.urls, token, SESSION_DAYS * 86_400))
  } catch (error) {
    return problemResponse(services, error, { traceId: traceIdOf(request) })
  }
}

/** The key or link that a request signs in with; null for every other request. The body can still be read afterwards. */
export async function signInOf(request: Request): Promise<z.output<typeof SignIn> | null> {
  if (request.method !== 'POST' || new URL(request.url).pathname !== '/console/session') return null
  try {
    return await credentialIn(request.clone().body)
  } catch {
    return null
  }
}

function done(cookie: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(null, {
    status: 204,
    headers: { 'Set-Cookie': cookie, 'Cache-Control': 'no-store', ...headers },
  })
}

async function credentialIn(body: AsyncIterable<Uint8Array> | null): Promise<z.output<typeof SignIn>> {
  const bytes = await bytesOfBody(body, BODY_BYTES_MAX, 'The body is too long.')
  const input = SignIn.safeParse(parsed(bytes.toString('utf8')))
  if (!input.success) throw new DomainError('request_invalid', 'Send {"key": …} or {"link": …}.')
  return input.data
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Whether our own page makes this call. A cookie counts for no other. SameSite ignores ports, so the page of another
 * program on this host would pass it; `Sec-Fetch-Site` tells them apart. Browsers do not send that header over plain
 * http from another machine. There, a call that changes something must have our origin; a GET only reads.
 */
export function isOwnPage({ baseUrl }: Urls, request: Request): boolean {
  const site = request.headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin'
  const origin = request.headers.get('origin')
  if (origin === null) return request.method === 'GET'
  if (origin === new URL(baseUrl).origin) return true
  // Another name of this machine, used by the page and the call alike. A page from elsewhere has no cookie for that
  // name.
  return URL.canParse(origin) && new URL(origin).host === request.headers.get('host')
}

/** Whether the body is JSON, which no form of another page can send. */
export function isJson(request: Request): boolean {
  return mediaTypeOf(request) === 'application/json'
}
