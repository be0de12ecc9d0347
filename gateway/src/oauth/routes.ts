import type { Services, Urls } from '@creel/core'
import { createClientDocuments, resourceMetadata, serverMetadata } from '@creel/core/oauth'
import type { AnyElysia } from 'elysia'
import { logged } from '../callLog.ts'
import { authorizeHandler } from './authorize.ts'
import { AUTHORIZE_PATH } from './pages.ts'
import { REVOKE_PATH, revokeHandler, TOKEN_PATH, tokenHandler } from './tokens.ts'

const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource'
const SERVER_METADATA_PATH = '/.well-known/oauth-authorization-server'

/** Value of `WWW-Authenticate` for a call of `/mcp` without a good key: it leads a client to the sign-in. */
export function mcpChallenge({ baseUrl }: Urls): string {
  return `Bearer resource_metadata="${baseUrl}${RESOURCE_METADATA_PATH}/mcp"`
}

/** Adds the authorization server for agents: its metadata, the consent page, and the endpoints for tokens. */
export function addOAuth(app: AnyElysia, services: Services): void {
  const resource = () => metadata(resourceMetadata(services.urls))
  app.get(RESOURCE_METADATA_PATH, resource)
  app.get(`${RESOURCE_METADATA_PATH}/mcp`, resource)
  app.get(SERVER_METADATA_PATH, () => metadata(serverMetadata(services.urls)))
  const authorize = authorizeHandler(services, createClientDocuments(services))
  app.all(
    AUTHORIZE_PATH,
    ({ request }) => logged(services, 'oauth.authorize', request, (notes) => authorize(request, notes)),
    { parse: 'none' },
  )
  const token = tokenHandler(services)
  app.all(TOKEN_PATH, ({ request }) => logged(services, 'oauth.token', request, () => token(request)), {
    parse: 'none',
  })
  const revoke = revokeHandler(services)
  app.all(REVOKE_PATH, ({ request }) => logged(services, 'oauth.revoke', request, () => revoke(request)), {
    parse: 'none',
  })
}

/** Public, and readable by pages of any origin. */
function metadata(document: object): Response {
  return Response.json(document, {
    headers: { 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'public, max-age=300' },
  })
}
