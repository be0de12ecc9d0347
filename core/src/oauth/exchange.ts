import { timingSafeEqual } from 'node:crypto'
import type { Services } from '../api/services.ts'
import { findKey, type KeyRow, newKey, replaceToken, revokeKeyIn } from '../keys/index.ts'
import type { Trx } from '../platform/db/index.ts'
import { DAY_MS } from '../platform/time/index.ts'
import { isResource, wrongResource } from './authorization.ts'
import { type Grant, lockGrant, updateGrant } from './queries.ts'
import { codeDigest, isVerifierOf, newRefreshToken, readRefreshToken } from './tokens.ts'
import {
  knownScopes,
  type OAuthError,
  onlyValue,
  REFRESH_DAYS,
  repeatedName,
  scopeList,
  TOKEN_SECONDS,
} from './words.ts'

/** A successful answer of the token endpoint (RFC 6749 §5.1), with the resource that the token is for. */
export interface IssuedToken {
  readonly access_token: string
  readonly token_type: 'Bearer'
  /** In seconds. */
  readonly expires_in: number
  readonly refresh_token: string
  readonly scope: string
  readonly resource: string
}

/**
 * Answers a request to the token endpoint: exchanges a code or a refresh token.
 *
 * @param parameters of the form that the client sent
 */
export async function issueToken(
  services: Services,
  parameters: URLSearchParams,
): Promise<IssuedToken | OAuthError> {
  if (repeatedName(parameters) !== undefined) {
    return { error: 'invalid_request', description: 'A parameter is given more than once.' }
  }
  const resource = onlyValue(parameters, 'resource')
  if (resource !== undefined && !isResource(services.urls, resource)) return wrongResource(services.urls)
  const exchange = EXCHANGES[onlyValue(parameters, 'grant_type') ?? '']
  if (exchange === undefined) {
    return {
      error: 'unsupported_grant_type',
      description: 'The grant_type must be authorization_code or refresh_token.',
    }
  }
  // A refusal is a result, so that what it changed is committed.
  return await services.db.transaction().execute((trx) => exchange(services, trx, parameters))
}

type Exchange = (
  services: Services,
  trx: Trx,
  parameters: URLSearchParams,
) => Promise<IssuedToken | OAuthError>

const EXCHANGES: Readonly<Record<string, Exchange | undefined>> = Object.assign(Object.create(null), {
  authorization_code: exchangeCode,
  refresh_token: refresh,
} satisfies Record<string, Exchange>)

/** A code is presented once. If that fails, or it is presented again, its grant is revoked. */
async function exchangeCode(
  services: Services,
  trx: Trx,
  parameters: URLSearchParams,
): Promise<IssuedToken | OAuthError> {
  const digest = codeDigest(onlyValue(parameters, 'code') ?? '')
  const grant = digest && (await lockGrant(trx, 'codeSha256', digest))
  const key = grant && (await findKey(trx, grant.workspaceId, grant.keyId))
  if (grant === undefined || key === undefined) return badGrant('The code is unknown or too old.')
  const now = services.clock.now()
  const isFirst = grant.codeUsedAt === null
  if (isFirst) await updateGrant(trx, grant.keyId, { codeUsedAt: now })
  const problem = isFirst ? problemOfCode(grant, key, { parameters, now }) : 'The code was used before.'
  if (problem !== undefined) {
    await endGrant(services, trx, key, problem)
    return badGrant(problem)
  }
  return await renew(services, trx, { grant, key })
}

function problemOfCode(
  grant: Grant,
  key: KeyRow,
  { parameters, now }: { readonly parameters: URLSearchParams; readonly now: Date },
): string | undefined {
  if (key.revokedAt !== null || grant.codeExpiresAt <= now) return 'The code is unknown or too old.'
  if (onlyValue(parameters, 'client_id') !== key.clientId) return 'The code is for another client.'
  // OAuth 2.1 no longer sends it; OAuth 2.0 does.
  const redirectUri = onlyValue(parameters, 'redirect_uri') ?? grant.redirectUri
  if (redirectUri !== grant.redirectUri) return 'The code was sent to another redirect_uri.'
  if (!isVerifierOf(grant.codeChallenge, onlyValue(parameters, 'code_verifier'))) {
    return 'The code_verifier does not match the code_challenge.'
  }
  return undefined
}

/** A refresh token works once. If it is presented again, one of its holders is not the client: the grant is revoked. */
async function refresh(
  services: Services,
  trx: Trx,
  parameters: URLSearchParams,
): Promise<IssuedToken | OAuthError> {
  const token = readRefreshToken(onlyValue(parameters, 'refresh_token') ?? '')
  const grant = token && (await lockGrant(trx, 'familySha256', token.familySha256))
  const key = grant && (await findKey(trx, grant.workspaceId, grant.keyId))
  if (
    token === undefined ||
    grant === undefined ||
    key === undefined ||
    hasEnded(key, services.clock.now())
  ) {
    return badGrant('The refresh token is unknown, or its grant has ended.')
  }
  if (grant.refreshSha256 === null || !timingSafeEqual(grant.refreshSha256, token.sha256)) {
    const problem = 'The refresh token was used before.'
    await endGrant(services, trx, key, problem)
    return badGrant(problem)
  }
  if (onlyValue(parameters, 'client_id') !== key.clientId)
    return badGrant('The refresh token is for another client.')
  const asked = onlyValue(parameters, 'scope')
  if (asked !== undefined && key.scope === 'read' && knownScopes(asked).includes('write')) {
    return { error: 'invalid_scope', description: 'The grant has the scope read only.' }
  }
  return await renew(services, trx, { grant, key, family: token.family })
}

const hasEnded = ({ revokedAt, expiresAt }: KeyRow, now: Date) =>
  revokedAt !== null || (expiresAt !== null && expiresAt <= now)

const badGrant = (description: string): OAuthError => ({ error: 'invalid_grant', description })

/** Gives the grant a new access token and a new refresh token. The former ones end. */
async function renew(
  services: Services,
  trx: Trx,
  { grant, key, family }: { readonly grant: Grant; readonly key: KeyRow; readonly family?: string },
): Promise<IssuedToken> {
  const nowMs = services.clock.now().getTime()
  const access = newKey('oauth')
  const next = newRefreshToken(family)
  await replaceToken(trx, key.id, {
    sha256: access.sha256,
    prefix: access.prefix,
    tokenExpiresAt: new Date(nowMs + TOKEN_SECONDS * 1000),
    expiresAt: new Date(nowMs + REFRESH_DAYS * DAY_MS),
  })
  await updateGrant(trx, key.id, { familySha256: next.familySha256, refreshSha256: next.sha256 })
  return {
    access_token: access.key,
    token_type: 'Bearer',
    expires_in: TOKEN_SECONDS,
    refresh_token: next.text,
    scope: scopeList(key.scope),
    resource: grant.resource,
  }
}

/** Revokes a grant because of something that its client would not do. */
async function endGrant(services: Services, trx: Trx, key: KeyRow, reason: string): Promise<void> {
  services.log.warn({ keyId: key.id, clientId: key.clientId, reason }, 'the grant of an agent was revoked')
  await revokeKeyIn(trx, services, key)
}
