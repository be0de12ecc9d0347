import { randomUUID } from 'node:crypto'
import { DomainError } from '../api/errors.ts'
import type { Actor, Services } from '../api/services.ts'
import { recordChange } from '../audit/index.ts'
import { authenticate } from '../keys/index.ts'
import type { Trx } from '../platform/db/index.ts'
import { sha256Of } from '../platform/secrets/index.ts'
import { DAY_MS } from '../platform/time/index.ts'
import { newToken } from './authenticate.ts'
import {
  deleteSessionOfToken,
  insertLink,
  insertSession,
  LINK_MINUTES,
  SESSION_DAYS,
  type SignedIn,
  takeLink,
} from './queries.ts'

const MINUTE_MS = 60_000
const USER_AGENT_MAX = 200

export type Credential = { readonly key: string } | { readonly link: string }

/**
 * Signs a browser in: with a key, which gives the key's rights, or with a link, which works once and gives the rights
 * of its identity.
 *
 * @param former the token of the browser's previous session, which ends
 * @returns the token for its cookie; only its SHA-256 is stored
 * @throws DomainError `unauthorized`; with a key also `forbidden`, `api_access_disabled` and `rate_limited`
 */
export async function startSession(
  services: Services,
  credential: Credential,
  { userAgent, former, address }: { userAgent: string | null; former: string | null; address: string | null },
): Promise<string> {
  const caller =
    'key' in credential ? await authenticate(services, { key: credential.key.trim(), address }) : undefined
  return await services.db.transaction().execute(async (trx) => {
    const owner =
      'link' in credential
        ? await useLink(services, trx, credential.link)
        : caller && { workspaceId: caller.workspace.id, apiKeyId: caller.key?.id ?? null }
    if (owner === undefined) {
      throw new DomainError('unauthorized', 'The sign-in link was used already, or is older than 15 minutes.')
    }
    if (former !== null) await endSessionIn(trx, services, { token: former, address, isFormer: true })
    const { token, sha256 } = newToken()
    const createdAt = services.clock.now()
    const id = randomUUID()
    await insertSession(trx, {
      id,
      ...owner,
      sha256,
      userAgent: userAgent?.slice(0, USER_AGENT_MAX) ?? null,
      createdAt,
      expiresAt: new Date(createdAt.getTime() + SESSION_DAYS * DAY_MS),
    })
    const actor: Actor = caller?.actor ?? { kind: 'session', id, name: 'sign-in link', address }
    await recordChange(
      trx,
      { clock: services.clock, actor },
      {
        action: 'sessions.start',
        workspaceId: owner.workspaceId,
        subject: { type: 'session', id },
        before: null,
        after: { apiKeyId: owner.apiKeyId, userAgent },
      },
    )
    return token
  })
}

function useLink({ clock }: Services, trx: Trx, token: string): Promise<SignedIn | undefined> {
  return takeLink(trx, sha256Of(token), clock.now())
}

/** A link that signs a browser in, once. */
export interface SignInLink {
  /** The token follows a `#`, which no log, referrer or link scanner contains. */
  readonly url: string
  readonly expiresAt: Date
}

/** Creates a sign-in link: with the rights of a key while it is valid, or of the workspace's owner (null). */
export async function makeSignInLink(services: Services, who: SignedIn): Promise<SignInLink> {
  const { token, sha256 } = newToken()
  const now = services.clock.now()
  const expiresAt = new Date(now.getTime() + LINK_MINUTES * MINUTE_MS)
  await services.db.transaction().execute(async (trx) => {
    await insertLink(trx, { ...who, sha256, expiresAt }, now)
    await recordChange(trx, services, {
      action: 'sessions.link',
      workspaceId: who.workspaceId,
      subject: { type: 'signInLink', id: who.apiKeyId ?? who.workspaceId },
      before: null,
      after: { of: who.apiKeyId === null ? 'owner' : 'key', apiKeyId: who.apiKeyId, expiresAt },
    })
  })
  return { url: `${services.urls.baseUrl}/console/sign-in#${token}`, expiresAt }
}

/** A session that its browser ends. */
interface SignOut {
  readonly token: string
  /** Address of the call; null when unknown. */
  readonly address: string | null
  /** Whether another session begins, which a seal of this one's workspace must not prevent. */
  readonly isFormer?: boolean
}

/**
 * Ends the session with this token, if there is one.
 *
 * @throws DomainError `unavailable` while its workspace is about to be in another cell, which may have the session
 */
export async function endSessionOfToken(services: Services, signOut: SignOut): Promise<void> {
  await services.db.transaction().execute((trx) => endSessionIn(trx, services, signOut))
}

/** {@link endSessionOfToken} as a part of a transaction. */
async function endSessionIn(
  trx: Trx,
  { clock }: Services,
  { token, address, isFormer = false }: SignOut,
): Promise<void> {
  const ended = await deleteSessionOfToken(trx, sha256Of(token))
  if (ended === undefined || (isFormer && ended.isSealed)) return
  const { id, keyName, workspaceId } = ended
  // Not in the name of who signs in: that may be a key of another workspace.
  const actor: Actor = { kind: 'session', id, name: keyName ?? 'owner', address }
  await recordChange(
    trx,
    { clock, actor },
    { action: 'sessions.end', workspaceId, subject: { type: 'session', id }, before: {}, after: null },
  )
}
