import { timingSafeEqual } from 'node:crypto'
import type { Services } from '../api/services.ts'
import { findKey, findLiveKey, type KeyRow, newKey, replaceToken, revokeKeyIn } from '../keys/index.ts'
import type { Trx } from '../platform/db/index.ts'
import { DAY_MS } from '../platform/time/index.ts'
import { isResource, wrongResource } from './authorization.ts'
import { type Grant, lockGrant, updateGrant } from './queries.ts'
import {
  codeDigest,
  isVerifierOf,
  newRefreshToken,
  openTokens,
  type RefreshToken,
  readRefreshToken,
  sealTokens,
  type TokenPair,
} from './tokens.ts'
import {
  knownScopes,
  type OAuthError,
  onlyValue,
  REFRESH_DAYS,
  RETRY_SECONDS,
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
  const grantType = onlyValue(parameters, 'grant_type')
  if (grantType === undefined) return missing('grant_type')
  const grant = GRANTS.get(grantType)
  if (grant === undefined) {
    return {
      error: 'unsupported_grant_type',
      description: 'The grant_type must be authorization_code or refresh_token.',
    }
  }
  if (onlyValue(parameters, grant.by) === undefined) return missing(grant.by)
  // A refusal is a result, so that what it changed is committed.
  return await services.db.transaction().execute((trx) => grant.exchange(services, trx, parameters))
}

const missing = (name: string): OAuthError => ({
  error: 'invalid_request',
  description: `The parameter ${name} is missing.`,
})

interface GrantType {
  /** The parameter that holds what is exchanged. */
  readonly by: 'code' | 'refresh_token'
  readonly exchange: (
    services: Services,
    trx: Trx,
    parameters: URLSearchParams,
  ) => Promise<IssuedToken | OAuthError>
}

const GRANTS: ReadonlyMap<string, GrantType> = new Map([
  ['authorization_code', { by: 'code', exchange: exchangeCode }],
  ['refresh_token', { by: 'refresh_token', exchange: refresh }],
])

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
  const isLive = (await findLiveKey(trx, { ...grant, id: grant.keyId, now })) !== undefined
  const problem = isFirst
    ? problemOfCode(grant, key, { parameters, now, isLive })
    : 'The code was used before.'
  if (problem !== undefined) {
    await endGrant(services, trx, key, problem)
    return badGrant(problem)
  }
  return await renew(services, trx, { grant, key })
}

function problemOfCode(
  grant: Grant,
  key: KeyRow,
  {
    parameters,
    now,
    isLive,
  }: { readonly parameters: URLSearchParams; readonly now: Date; readonly isLive: boolean },
): string | undefined {
  if (!isLive || grant.codeExpiresAt <= now) return 'The code is unknown or too old.'
  if (onlyValue(parameters, 'client_id') !== key.clientId) return 'The code is for another client.'
  // OAuth 2.1 no longer sends it; OAuth 2.0 does.
  const redirectUri = onlyValue(parameters, 'redirect_uri') ?? grant.redirectUri
  if (redirectUri !== grant.redirectUri) return 'The code was sent to another redirect_uri.'
  if (!isVerifierOf(grant.codeChallenge, onlyValue(parameters, 'code_verifier'))) {
    return 'The code_verifier does not match the code_challenge.'
  }
  return undefined
}

/**
 * A refresh token works once. If it is presented again after {@link RETRY_SECONDS}, one of its holders is not the
 * client: the grant is revoked.
 */
async function refresh(
  services: Services,
  trx: Trx,
  parameters: URLSearchParams,
): Promise<IssuedToken | OAuthError> {
  const now = services.clock.now()
  const token = readRefreshToken(onlyValue(parameters, 'refresh_token') ?? '')
  const grant = token && (await lockGrant(trx, 'familySha256', token.familySha256))
  const key = grant && (await findLiveKey(trx, { ...grant, id: grant.keyId, now }))
  if (token === undefined || grant === undefined || key === undefined) {
    return badGrant('The refresh token is unknown, or its grant has ended.')
  }
  const recent = recentTokens(grant, token, now)
  const isPresent = grant.refreshSha256 !== null && timingSafeEqual(grant.refreshSha256, token.sha256)
  if (recent === undefined && !isPresent) {
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
  return recent === undefined
    ? await renew(services, trx, { grant, key, former: token })
    : issued(grant, key, recent)
}

/** The tokens of the last renewal, if it was just now, by this refresh token or the one that it gave. */
function recentTokens(
  { renewedAt, recentAnswer, refreshSha256, formerSha256 }: Grant,
  { sha256, family }: RefreshToken,
  now: Date,
): RecentTokens | undefined {
  if (renewedAt === null || recentAnswer === null) return undefined
  const seconds = Math.ceil((now.getTime() - renewedAt.getTime()) / 1000)
  // A clock that was set back does not lengthen that time.
  const isRecent = Math.abs(seconds) <= RETRY_SECONDS
  // A code is exchanged once: tokens that it gave are no answer to repeat.
  if (formerSha256 === null) return undefined
  const isOfIt = [refreshSha256, formerSha256].some((one) => one !== null && timingSafeEqual(one, sha256))
  if (!isRecent || !isOfIt) return undefined
  return { ...openTokens(family, recentAnswer), secondsLeft: TOKEN_SECONDS - Math.max(0, seconds) }
}

const badGrant = (description: string): OAuthError => ({ error: 'invalid_grant', description })

/** Gives the grant a new access token and a new refresh token. The former ones end. */
async function renew(
  services: Services,
  trx: Trx,
  { grant, key, former }: { readonly grant: Grant; readonly key: KeyRow; readonly former?: RefreshToken },
): Promise<IssuedToken> {
  const now = services.clock.now()
  const access = newKey('oauth', services.cell)
  const next = newRefreshToken(former?.family)
  const tokens = { access: access.key, refresh: next.text }
  await replaceToken(trx, key.id, {
    sha256: access.sha256,
    prefix: access.prefix,
    tokenExpiresAt: new Date(now.getTime() + TOKEN_SECONDS * 1000),
    expiresAt: new Date(now.getTime() + REFRESH_DAYS * DAY_MS),
  })
  await updateGrant(trx, key.id, {
    familySha256: next.familySha256,
    refreshSha256: next.sha256,
    formerSha256: former?.sha256 ?? null,
    renewedAt: now,
    recentAnswer: sealTokens(next.family, tokens),
  })
  return issued(grant, key, { ...tokens, secondsLeft: TOKEN_SECONDS })
}

interface RecentTokens extends TokenPair {
  /** Until the access token ends. */
  readonly secondsLeft: number
}

function issued({ resource }: Grant, { scope }: KeyRow, tokens: RecentTokens): IssuedToken {
  return {
    access_token: tokens.access,
    token_type: 'Bearer',
    expires_in: tokens.secondsLeft,
    refresh_token: tokens.refresh,
    scope: scopeList(scope),
    resource,
  }
}

/** Revokes a grant because of something that its client would not do. */
async function endGrant(services: Services, trx: Trx, key: KeyRow, reason: string): Promise<void> {
  services.log.warn({ keyId: key.id, clientId: key.clientId, reason }, 'the grant of an agent was revoked')
  await revokeKeyIn(trx, services, key)
}
