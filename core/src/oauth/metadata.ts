import type { Urls } from '../api/services.ts'
import { AGENT_SCOPES, resourceOf } from './words.ts'

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
