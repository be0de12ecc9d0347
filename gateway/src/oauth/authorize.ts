import { createHmac, timingSafeEqual } from 'node:crypto'
import {
  authenticateSession,
  type Caller,
  DomainError,
  refusalOf,
  type Services,
  toProblem,
} from '@creel/core'
import {
  type ClientDocuments,
  codeRedirect,
  errorRedirect,
  listChoices,
  readAuthorization,
  recordConsent,
  requireConsenter,
} from '@creel/core/oauth'
import { z } from 'zod'
import type { CallNotes } from '../callLog.ts'
import { isOwnPage, presentedSession } from '../console/index.ts'
import { addressOf, traceIdOf } from '../requestIdentity.ts'
import { problemResponse } from '../rest.ts'
import { consentPage, passagePage, problemPage, returnPage, signInPage } from './pages.ts'
import { readForm } from './tokens.ts'

/**
 * Proof that a consent was asked for in this session, for this request. Only the service and the browser's cookie know
 * the key.
 *
 * @param session the token of the session
 * @param query the request for authorization, as it was sent
 */
function consentToken(session: string, query: string): string {
  return createHmac('sha256', session).update(`oauth consent\n${query}`).digest('base64url')
}

/** Whether a form carries the proof. */
function isConsentToken(presented: string, session: string, query: string): boolean {
  const expected = Buffer.from(consentToken(session, query))
  const given = Buffer.from(presented)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** Longest query of a request for authorization, in characters. */
const QUERY_CHARACTERS_MAX = 8_192

const Form = z.object({
  request: z.string().max(QUERY_CHARACTERS_MAX),
  token: z.string(),
  decision: z.enum(['allow', 'deny']),
  scope: z.enum(['read', 'write']).optional(),
  /** Empty for all endpoints. */
  endpoint: z.union([z.guid().toLowerCase(), z.literal('')]),
})

/**
 * `/oauth/authorize`: `GET` shows the consent page to a browser that is signed in to the console, `POST` takes its
 * form. A client is looked up for a signed-in browser only, so that strangers cannot have the service fetch URLs.
 */
export function authorizeHandler(
  services: Services,
  documents: ClientDocuments,
): (request: Request, notes: CallNotes) => Promise<Response> {
  const answer = async (request: Request, notes: CallNotes): Promise<Response> => {
    if (request.method === 'GET') return await show(request, notes)
    if (request.method === 'POST') return await decide(request, notes)
    return problemPage(405, 'This page is opened with GET.', { Allow: 'GET, POST' })
  }

  const show = async (request: Request, notes: CallNotes): Promise<Response> => {
    const query = new URL(request.url).search.slice(1)
    if (query.length > QUERY_CHARACTERS_MAX) return problemPage(400, 'The request is too long.')
    if (!isOwnPage(services.urls, request)) return passagePage(query)
    const session = presentedSession(services.urls, request)
    const caller = session === null ? undefined : await callerOf(session, request)
    if (session === null || caller === undefined) return signInPage(query)
    notes.caller = caller
    requireConsenter(caller)
    const read = await readAuthorization(services, documents, new URLSearchParams(query))
    if ('problem' in read) return problemPage(400, read.problem)
    if ('error' in read) return returnPage(read.error.description, read.returnTo)
    const endpoints = await listChoices(services.db, caller.workspace.id)
    const token = consentToken(session, query)
    return consentPage({ caller, request: read.request, endpoints, query, token })
  }

  const decide = async (request: Request, notes: CallNotes): Promise<Response> => {
    const session = presentedSession(services.urls, request)
    if (session === null || !isOwnPage(services.urls, request)) {
      throw new DomainError('unauthorized', 'Only the page of Creel itself can let an agent in.')
    }
    const caller = await authenticateSession(services, { token: session, address: addressOf(request) })
    notes.caller = caller
    const fields = await readForm(request)
    const names = Object.keys(Form.shape)
    const form = Form.safeParse(Object.fromEntries(names.map((name) => [name, onlyField(fields, name)])))
    if (!form.success || !isConsentToken(form.data.token, session, form.data.request)) {
      throw new DomainError('forbidden', 'The form was not made for this session. Start the sign-in again.')
    }
    const { decision, scope, endpoint } = form.data
    const read = await readAuthorization(services, documents, new URLSearchParams(form.data.request))
    if ('problem' in read) return problemPage(400, read.problem)
    if ('error' in read) return returnPage(read.error.description, read.returnTo)
    if (decision === 'deny') {
      const denied = { error: 'access_denied', description: 'The user denied the request.' } as const
      return redirect(errorRedirect(services.urls, read.request, denied))
    }
    if (scope === undefined) throw new DomainError('request_invalid', 'Choose what the agent may do.')
    const code = await recordConsent(services, caller, {
      request: read.request,
      consent: { scope, endpointId: endpoint === '' ? null : endpoint },
    })
    return redirect(codeRedirect(services.urls, read.request, code))
  }

  /** The caller of a session; undefined if it has ended. */
  const callerOf = async (token: string, request: Request): Promise<Caller | undefined> => {
    try {
      return await authenticateSession(services, { token, address: addressOf(request) })
    } catch (error) {
      if (error instanceof DomainError && error.code === 'unauthorized') return undefined
      throw error
    }
  }

  return async (request, notes) => {
    try {
      return await answer(request, notes)
    } catch (error) {
      if (!(error instanceof DomainError)) {
        return problemResponse(services, error, { traceId: traceIdOf(request) })
      }
      const { status, detail } = toProblem(error, { traceId: traceIdOf(request) })
      const seconds = refusalOf(error)?.more.retryAfterSeconds
      return problemPage(status, detail, seconds === undefined ? {} : { 'Retry-After': String(seconds) })
    }
  }
}

/** A field that is given once; an empty one counts. */
function onlyField(fields: URLSearchParams, name: string): string | undefined {
  const values = fields.getAll(name)
  return values.length === 1 ? values[0] : undefined
}

function redirect(location: string): Response {
  return new Response(null, {
    status: 303,
    headers: { Location: location, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' },
  })
}
