import type { Urls } from '../api/services.ts'
import type { KeyScope } from '../engine/words/index.ts'

/** Scopes that an agent can be given. `admin` is not one: an agent manages no keys. */
const AGENT_SCOPES = ['read', 'write'] as const satisfies readonly KeyScope[]

export type AgentScope = (typeof AGENT_SCOPES)[number]

/** Lifetime of a code, in seconds. It works once. */
export const CODE_SECONDS = 60

/** Lifetime of an access token, in seconds. */
export const TOKEN_SECONDS = 3_600

/** Lifetime of a refresh token, in days. Each use replaces it, and ends it. */
export const REFRESH_DAYS = 30

/**
 * Time after a renewal in which a client gets the same tokens again, in seconds: by the refresh token that it has just
 * used, or by the new one. Clients that make several calls at once refresh several times when a token ends, and a client
 * whose answer was lost repeats its request. After this time a used refresh token revokes its grant.
 */
export const RETRY_SECONDS = 30

/** The only resource that tokens are for: the address of `/mcp`. */
export const resourceOf = ({ baseUrl }: Urls): string => `${baseUrl}/mcp`

/** The error codes of RFC 6749 §4.1.2.1 and §5.2 and RFC 8707 §2 that this server answers. */
export type OAuthErrorCode =
  | 'access_denied'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_request'
  | 'invalid_scope'
  | 'invalid_target'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'

export interface OAuthError {
  readonly error: OAuthErrorCode
  /** English, for developers; without quotes and backslashes, which the protocol forbids. */
  readonly description: string
}

/** @returns the value of a parameter that is given once and is not empty; undefined otherwise */
export function onlyValue(parameters: URLSearchParams, name: string): string | undefined {
  const values = parameters.getAll(name)
  return values.length === 1 && values[0] !== '' ? values[0] : undefined
}

/** The first parameter that is given more than once, which the protocol forbids; undefined when there is none. */
export function repeatedName(parameters: URLSearchParams): string | undefined {
  const seen = new Set<string>()
  for (const name of parameters.keys()) {
    if (seen.has(name)) return name
    seen.add(name)
  }
  return undefined
}

/**
 * The scopes among those of a space-separated list that an agent can be given. Others, such as `offline_access`, are
 * left out. Without a list all of them.
 */
export function knownScopes(list: string | undefined): readonly AgentScope[] {
  if (list === undefined) return AGENT_SCOPES
  const named = list.split(' ')
  return AGENT_SCOPES.filter((scope) => named.includes(scope))
}

/** The scopes of a key as a space-separated list: `write` includes `read`. */
export const scopeList = (scope: KeyScope): string => (scope === 'read' ? 'read' : 'read write')

/** Metadata of the protected resource `/mcp` (RFC 9728). */
export function resourceMetadata(urls: Urls) {
  return {
    resource: resourceOf(urls),
    authorization_servers: [urls.baseUrl],
    scopes_supported: AGENT_SCOPES,
    bearer_methods_supported: ['header'],
    resource_name: 'Creel',
    resource_documentation: `${urls.baseUrl}/docs/agents.md`,
  }
}

/** Metadata of the authorization server (RFC 8414): public clients, known by their metadata documents, with PKCE. */
export function serverMetadata({ baseUrl }: Urls) {
  return {
    issuer: baseUrl,
    authorization_endpoint: `${baseUrl}/oauth/authorize`,
    token_endpoint: `${baseUrl}/oauth/token`,
    revocation_endpoint: `${baseUrl}/oauth/revoke`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    scopes_supported: AGENT_SCOPES,
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    service_documentation: `${baseUrl}/docs/agents.md`,
  }
}
