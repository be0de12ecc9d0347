import { DomainError, type Services } from '@creel/core'
import { issueToken, type OAuthError, onlyValue, revokeToken } from '@creel/core/oauth'
import { bytesOfBody, mediaTypeOf } from '../input.ts'
import { markFailed, traceIdOf } from '../requestIdentity.ts'
import { problemResponse } from '../rest.ts'

export const TOKEN_PATH = '/oauth/token'

type Handler = (request: Request) => Promise<Response>

export const REVOKE_PATH = '/oauth/revoke'

/** `POST /oauth/token`: exchanges a code or a refresh token. Errors are those of RFC 6749 §5.2. */
export const tokenHandler = (services: Services): Handler =>
  formHandler(services, async (form, request) => {
    const answer = await issueToken(services, form)
    return 'error' in answer ? refused(request, answer) : json(200, answer)
  })

/** `POST /oauth/revoke` (RFC 7009): revokes the grant of a token. An unknown token is answered like a known one. */
export const revokeHandler = (services: Services): Handler =>
  formHandler(services, async (form, request) => {
    const token = onlyValue(form, 'token')
    if (token === undefined) return refused(request, invalid('Send one token.'))
    const isKnown = await revokeToken(services, { token, clientId: onlyValue(form, 'client_id') })
    if (!isKnown) markFailed(request)
    return json(200, {})
  })

function formHandler(
  services: Services,
  answer: (form: URLSearchParams, request: Request) => Promise<Response>,
): Handler {
  return async (request) => {
    try {
      if (request.method !== 'POST') {
        return refusal(405, invalid('Send a form with POST.'), { Allow: 'POST' })
      }
      return await answer(await readForm(request), request)
    } catch (error) {
      if (error instanceof DomainError && error.code === 'request_invalid') {
        return refused(request, invalid(error.detail))
      }
      return problemResponse(services, error, { traceId: traceIdOf(request) })
    }
  }
}

const invalid = (description: string): OAuthError => ({ error: 'invalid_request', description })

/** A refusal counts as a failed call of its address, so that codes and tokens cannot be guessed. */
function refused(request: Request, error: OAuthError): Response {
  markFailed(request)
  return refusal(400, error)
}

function refusal(
  status: number,
  { error, description }: OAuthError,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return json(status, { error, error_description: description }, headers)
}

function json(status: number, body: object, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json(body, {
    status,
    headers: { 'Cache-Control': 'no-store', Pragma: 'no-cache', ...headers },
  })
}

/**
 * The code or refresh token that a request wants to exchange; null for every other request. The body can still be read
 * afterwards.
 */
export async function exchangedTextOf(request: Request): Promise<string | null> {
  return await textIn(request, { path: TOKEN_PATH, names: ['refresh_token', 'code'] })
}

/** The token that a request wants to revoke; null for every other request. The body can still be read afterwards. */
export async function revokedTextOf(request: Request): Promise<string | null> {
  return await textIn(request, { path: REVOKE_PATH, names: ['token'] })
}

async function textIn(
  request: Request,
  { path, names }: { readonly path: string; readonly names: readonly string[] },
): Promise<string | null> {
  if (request.method !== 'POST' || new URL(request.url).pathname !== path) return null
  try {
    const form = await readForm({ headers: request.headers, body: request.clone().body })
    return names.map((name) => onlyValue(form, name)).find((value) => value !== undefined) ?? null
  } catch {
    return null
  }
}

const FORM_BYTES_MAX = 16_384

interface FormRequest {
  readonly headers: Headers
  readonly body: AsyncIterable<Uint8Array> | null
}

/**
 * Reads the form that a request carries.
 *
 * @throws DomainError `request_invalid` for another media type, or when it is too long
 */
export async function readForm(request: FormRequest): Promise<URLSearchParams> {
  if (mediaTypeOf(request) !== 'application/x-www-form-urlencoded') {
    throw new DomainError('request_invalid', 'Send application/x-www-form-urlencoded.')
  }
  const bytes = await bytesOfBody(request.body, FORM_BYTES_MAX, 'The form is over 16 KiB.')
  return new URLSearchParams(bytes.toString('utf8'))
}
