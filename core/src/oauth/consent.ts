import type { Caller } from '../api/context.ts'
import { DomainError, notFound } from '../api/errors.ts'
import type { Services } from '../api/services.ts'
import { findEndpoint } from '../endpoints/index.ts'
import { addKey, deleteUnusedTokenKeys, requireRoomForKey } from '../keys/index.ts'
import type { AuthorizationRequest } from './authorization.ts'
import { insertGrant } from './queries.ts'
import { newCode } from './tokens.ts'
import { type AgentScope, CODE_SECONDS } from './words.ts'

/** Longest name of a key, in characters. */
const NAME_CHARACTERS_MAX = 100

/** The user's answer to a request for authorization. */
export interface Consent {
  readonly scope: AgentScope
  /** The only endpoint that the agent sees; null: all of the workspace. */
  readonly endpointId: string | null
}

/**
 * Checks whether a caller may let an agent in: as for keys, it needs the scope `admin`.
 *
 * @throws DomainError `forbidden`
 */
export function requireConsenter({ scope }: Pick<Caller, 'scope'>): void {
  if (scope === 'admin') return
  throw new DomainError(
    'forbidden',
    `You are signed in with a key of the scope \`${scope}\`. Letting an agent in needs \`admin\`, as keys do.`,
  )
}

/**
 * Records a consent: a key of the kind `oauth`, which ends after {@link CODE_SECONDS} unless its code is exchanged.
 *
 * @returns the code for the client, its only copy
 * @throws DomainError `forbidden`; `not_found` for an endpoint that the workspace does not have; `validation_failed`
 *   for a scope that the client did not ask for; `limit_reached` and `feature_not_in_plan` as for keys
 */
export async function recordConsent(
  services: Services,
  caller: Caller,
  { request, consent }: { readonly request: AuthorizationRequest; readonly consent: Consent },
): Promise<string> {
  requireConsenter(caller)
  const { workspace, plan } = caller
  const { client, redirectUri, codeChallenge, resource } = request
  if (!request.scopes.includes(consent.scope)) {
    throw new DomainError('validation_failed', 'The client did not ask for this scope.')
  }
  const { endpointId } = consent
  if (endpointId !== null && (await findEndpoint(services.db, workspace.id, endpointId)) === undefined) {
    throw notFound('endpoint')
  }
  const who = { ...services, actor: caller.actor }
  const now = services.clock.now()
  const codeExpiresAt = new Date(now.getTime() + CODE_SECONDS * 1000)
  const { code, sha256 } = newCode()
  await services.db.transaction().execute(async (trx) => {
    await requireRoomForKey(services, trx, { id: workspace.id, plan })
    await deleteUnusedTokenKeys(trx, workspace.id, now)
    const { id } = await addKey(who, trx, workspace.id, {
      name: client.host.slice(0, NAME_CHARACTERS_MAX),
      scope: consent.scope,
      endpointId: endpointId ?? undefined,
      expiresAt: codeExpiresAt,
      clientId: client.id,
    })
    await insertGrant(trx, {
      keyId: id,
      redirectUri,
      codeChallenge,
      resource,
      codeSha256: sha256,
      codeExpiresAt,
    })
  })
  return code
}
