import { DomainError, endSessionOfToken, type Services, startSession } from '@creel/core'
import { z } from 'zod'
import { addressOf, traceIdOf } from '../requestIdentity.ts'
import { problemResponse } from '../rest.ts'
import { expiredCookie, presentedSession, sessionCookie } from './cookie.ts'
import { isJson, isOwnPage } from './ownPage.ts'

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
    if (request.method === 'DELETE') {
      if (former !== null) await endSessionOfToken(services, former)
      return done(expiredCookie(services.urls), { 'Clear-Site-Data': '"cache", "storage"' })
    }
    if (request.method !== 'POST') throw new DomainError('not_found', 'The route does not exist.')
    const credential = await readCredential(request)
    const userAgent = request.headers.get('user-agent')
    const address = addressOf(request)
    const token = await startSession(services, credential, { userAgent, former, address })
    return done(sessionCookie(services.urls, token))
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

async function readCredential(request: Request): Promise<z.output<typeof SignIn>> {
  if (!isJson(request)) throw new DomainError('request_invalid', 'Send application/json.')
  return await credentialIn(request.body)
}

async function credentialIn(body: AsyncIterable<Uint8Array> | null): Promise<z.output<typeof SignIn>> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body ?? []) {
    length += chunk.length
    if (length > BODY_BYTES_MAX) throw new DomainError('request_invalid', 'The body is too long.')
    chunks.push(chunk)
  }
  const input = SignIn.safeParse(parsed(Buffer.concat(chunks).toString('utf8')))
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
