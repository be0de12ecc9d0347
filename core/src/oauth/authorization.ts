import type { Services, Urls } from '../api/services.ts'
import { type ClientDocuments, isRegistered, type OAuthClient, redirectTo } from './clientDocuments.ts'
import {
  type AgentScope,
  knownScopes,
  type OAuthError,
  onlyValue,
  repeatedName,
  resourceOf,
} from './words.ts'

const STATE_CHARACTERS_MAX = 2_048

/** The S256 challenge of RFC 7636: SHA-256 in base64url. */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/

export interface AuthorizationRequest {
  readonly client: OAuthClient
  /** Registered by the client. */
  readonly redirectUri: string
  readonly state: string | undefined
  readonly codeChallenge: string
  readonly resource: string
  /** The scopes that the user may choose from; at least one. */
  readonly scopes: readonly AgentScope[]
}

export type ReadAuthorization =
  | { readonly request: AuthorizationRequest }
  /** The client cannot be identified: the reason is for the user, and the browser is sent nowhere. */
  | { readonly problem: string }
  /**
   * The request of a known client has an error. The user may return to the client, by a URL that names the error. The
   * browser is not sent there by itself: any site can be a client, so the service would redirect to any site.
   */
  | { readonly error: OAuthError; readonly returnTo: string }

/**
 * Reads the parameters of a request for authorization. Client and redirect URI are checked first; until both are good,
 * no error is sent to the redirect URI.
 */
export async function readAuthorization(
  { urls }: Pick<Services, 'urls'>,
  documents: ClientDocuments,
  parameters: URLSearchParams,
): Promise<ReadAuthorization> {
  const clientId = onlyValue(parameters, 'client_id')
  if (clientId === undefined) return { problem: 'The request needs one client_id.' }
  const found = await documents.read(clientId)
  if ('problem' in found) return found
  const redirectUri = onlyValue(parameters, 'redirect_uri')
  if (redirectUri === undefined) return { problem: 'The request needs one redirect_uri.' }
  if (!isRegistered(redirectUri, found.client.redirectUris)) {
    return { problem: 'The redirect_uri is none that the client registered.' }
  }
  const target = { redirectUri, state: onlyValue(parameters, 'state') }
  const refused = refusalOf(urls, parameters)
  if (refused !== undefined) return { error: refused, returnTo: errorRedirect(urls, target, refused) }
  const codeChallenge = onlyValue(parameters, 'code_challenge') ?? ''
  return {
    request: {
      client: found.client,
      ...target,
      codeChallenge,
      resource: resourceOf(urls),
      scopes: knownScopes(onlyValue(parameters, 'scope')),
    },
  }
}

function refusalOf(urls: Urls, parameters: URLSearchParams): OAuthError | undefined {
  const repeated = repeatedName(parameters)
  if (repeated !== undefined) return invalid('A parameter is given more than once.')
  if (onlyValue(parameters, 'response_type') !== 'code') {
    return { error: 'unsupported_response_type', description: 'The response_type must be code.' }
  }
  if ((onlyValue(parameters, 'response_mode') ?? 'query') !== 'query') {
    return invalid('The response_mode must be query.')
  }
  if (onlyValue(parameters, 'code_challenge_method') !== 'S256') {
    return invalid('The code_challenge_method must be S256.')
  }
  if (!CHALLENGE.test(onlyValue(parameters, 'code_challenge') ?? '')) {
    return invalid('The code_challenge must be 43 characters of base64url.')
  }
  if ((onlyValue(parameters, 'state') ?? '').length > STATE_CHARACTERS_MAX) {
    return invalid('The state is too long.')
  }
  if (!isResource(urls, onlyValue(parameters, 'resource'))) return wrongResource(urls)
  if (knownScopes(onlyValue(parameters, 'scope')).length === 0) {
    return { error: 'invalid_scope', description: 'The scopes are read and write.' }
  }
  return undefined
}

const invalid = (description: string): OAuthError => ({ error: 'invalid_request', description })

/** Whether a `resource` is the one that tokens are for, in any spelling of its URL. */
export function isResource(urls: Urls, resource: string | undefined): boolean {
  const url = URL.parse(resource ?? '')
  return url !== null && url.href.replace(/\/$/, '') === new URL(resourceOf(urls)).href
}

/** The refusal of a `resource` that is another's, or absent. */
export function wrongResource(urls: Urls): OAuthError {
  return { error: 'invalid_target', description: `The resource must be ${resourceOf(urls)}.` }
}

/** URL of the client for an error. It names the issuer, so that the client can detect a mix-up. */
export function errorRedirect(
  { baseUrl }: Urls,
  { redirectUri, state }: Pick<AuthorizationRequest, 'redirectUri' | 'state'>,
  { error, description }: OAuthError,
): string {
  return redirectTo(redirectUri, { error, error_description: description, state, iss: baseUrl })
}

export function codeRedirect(
  { baseUrl }: Urls,
  { redirectUri, state }: Pick<AuthorizationRequest, 'redirectUri' | 'state'>,
  code: string,
): string {
  return redirectTo(redirectUri, { code, state, iss: baseUrl })
}
