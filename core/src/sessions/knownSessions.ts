import type { Services } from '../api/services.ts'
import { findLiveTokens } from './queries.ts'
import { tokenFingerprint } from './token.ts'

/**
 * Filters presented tokens to those of live sessions, in one query, without taking anything from their budgets. The
 * counterpart of `knownKeys` for browsers.
 *
 * @param presented tokens from cookies
 */
export async function knownSessions(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  presented: ReadonlySet<string>,
): Promise<Set<string>> {
  const byFingerprint = new Map(
    [...presented].map((token) => [tokenFingerprint(token).toString('hex'), token]),
  )
  const live = await findLiveTokens(
    db,
    [...byFingerprint.keys()].map((hex) => Buffer.from(hex, 'hex')),
    clock.now(),
  )
  return new Set(live.flatMap((sha256) => byFingerprint.get(sha256.toString('hex')) ?? []))
}
