import type { Services } from '../api/services.ts'
import { findKey, findTokenKey, fingerprint, revokeKeyIn } from '../keys/index.ts'
import { findGrantOfFamily } from './queries.ts'
import { readRefreshToken } from './tokens.ts'

/**
 * Revokes the grant of an access token or a refresh token (RFC 7009). A grant has one of each, so both end. An old
 * refresh token of the grant counts, too.
 *
 * @param clientId the client that revokes; undefined if it does not say
 * @returns false for a token that is unknown, or of another client
 */
export async function revokeToken(
  services: Services,
  { token, clientId }: { readonly token: string; readonly clientId: string | undefined },
): Promise<boolean> {
  const refresh = readRefreshToken(token)
  const found =
    refresh === undefined
      ? await findTokenKey(services.db, fingerprint(token))
      : await findGrantOfFamily(services.db, refresh.familySha256)
  if (found === undefined || (clientId !== undefined && clientId !== found.clientId)) return false
  await services.db.transaction().execute(async (trx) => {
    const key = await findKey(trx, found.workspaceId, found.id)
    if (key === undefined) return
    const actor = { kind: 'key', id: key.id, name: key.name, address: null } as const
    await revokeKeyIn(trx, { ...services, actor }, key)
  })
  return true
}
