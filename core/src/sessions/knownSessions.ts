import type { Services } from '../api/services.ts'
import type { Db } from '../platform/db/index.ts'
import { findLiveLinks, findLiveTokens } from './queries.ts'
import { tokenFingerprint } from './token.ts'

/**
 * Filters presented tokens to those of live sessions, in one query, without taking anything from their budgets. The
 * counterpart of `knownKeys` for browsers.
 *
 * @param presented tokens from cookies
 */
export async function knownSessions(
  services: Pick<Services, 'db' | 'clock'>,
  presented: ReadonlySet<string>,
): Promise<Set<string>> {
  return await knownTokens(services, presented, findLiveTokens)
}

/** The same for tokens of sign-in links. */
export async function knownLinks(
  services: Pick<Services, 'db' | 'clock'>,
  presented: ReadonlySet<string>,
): Promise<Set<string>> {
  return await knownTokens(services, presented, findLiveLinks)
}

async function knownTokens(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  presented: ReadonlySet<string>,
  findLive: (db: Db, fingerprints: readonly Buffer[], now: Date) => Promise<readonly Buffer[]>,
): Promise<Set<string>> {
  if (presented.size === 0) return new Set()
  const byFingerprint = new Map(
    [...presented].map((token) => [tokenFingerprint(token).toString('hex'), token]),
  )
  const live = await findLive(
    db,
    [...byFingerprint.keys()].map((hex) => Buffer.from(hex, 'hex')),
    clock.now(),
  )
  return new Set(live.flatMap((sha256) => byFingerprint.get(sha256.toString('hex')) ?? []))
}
